"""Checks files in several processes: sends them batches of files and receives the outcomes.

Processes are forked where that is safe and spawned elsewhere. If a process dies, only the file that it was checking is lost, which
is reported as an error. Values that cannot be sent to or from a process are processed in this one.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import connection, get_context
from typing import Any

from kcheck.check.file import FileChecker, Outcome, Task
from kcheck.check.input_kinds import InputKind
from kcheck.check.memory_limit import watch_memory
from kcheck.check.session import Session
from kcheck.check.time_limit import use_signals
from kcheck.text.shared_change import SharedChange
from kcheck.text.source import Source
from kcheck.workers.transport import Inherited, Receiver, Sender

_BATCH_CHARS = 64_000
"""Characters per batch: large enough to keep the overhead low, small enough that all processes finish at the same time."""

_LARGE_FILE_CHARS = 500_000
"""Characters of a file that would delay the end of the run if it were checked last."""

_MAX_DEATHS = 20
"""Consecutive deaths of processes without any result after which no more processes are started."""

_KINDS, _TASKS, _FAILED = b"k", b"t", b""
"""The first byte of a message to a process, and the answer if it could not process the message or pickle the outcomes."""


@dataclass
class _Worker:
    """A process, this end of its pipe, and the files that it is checking."""

    process: Any
    pipe: connection.Connection
    tasks: list[Task] = field(default_factory=list)
    receiver: Receiver = field(default_factory=Receiver)


class ProcessPool:
    """A pool of processes that check files."""

    def __init__(self, session: Session, jobs: int, sources: Mapping[int, Source]) -> None:
        self._session = session
        self._forks = _can_fork()
        self._inherited = Inherited(sources if self._forks else {})
        # A process started with -E and without -P imports from the current folder and ignores the variable that prevents it.
        unsafe = sys.flags.ignore_environment and not sys.flags.safe_path
        if not self._forks and (session.factory is None or unsafe):
            jobs = 0
        self._context: Any = get_context("fork" if self._forks else "spawn")
        self._kinds: list[InputKind] = []
        self._workers: list[_Worker] = []
        self._deaths = 0
        self._local: FileChecker | None = None
        try:
            # If the system cannot start all processes, use as many as possible.
            with suppress(OSError):
                for _ in range(jobs):
                    self._workers.append(self._start_worker())
        except BaseException:
            self.close()
            raise

    def _start_worker(self) -> _Worker:
        own_end, worker_end = self._context.Pipe()
        # A forked process inherits this end of all pipes. It closes them, otherwise the other processes would not notice when this
        # one exits.
        other_pipes = [worker.pipe for worker in self._workers] + [own_end] if self._forks else []
        start: Any = self._session if self._forks else self._session.factory
        process = self._context.Process(target=_run_worker, args=(start, worker_end, other_pipes, self._inherited), daemon=True)
        with nullcontext() if self._forks else _safe_path():
            process.start()
        worker_end.close()
        worker = _Worker(process, own_end)
        if self._kinds:
            self._send(worker, _KINDS, self._kinds)
        return worker

    def add_kinds(self, kinds: list[InputKind]) -> None:
        """Send kinds to all processes, which are idle at this point."""
        self._kinds += kinds
        if self._local is not None:
            self._local.add_kinds(kinds)
        for worker in list(self._workers):
            if not self._send(worker, _KINDS, kinds):
                self._replace(worker)

    def check_files(self, tasks: list[Task], final: bool) -> Iterator[tuple[Task, Outcome]]:
        """Check files and yield their outcomes in any order."""
        waiting = deque(batches(tasks))
        while True:
            for number, worker in enumerate(list(self._workers)):
                if not worker.tasks and waiting:
                    # From both ends, so that two processes rarely need the same definitions.
                    batch = waiting.pop() if number % 2 else waiting.popleft()
                    if self._send(worker, _TASKS, (final, batch)):
                        worker.tasks = batch
                    else:
                        waiting.appendleft(batch)
                        self._replace(worker)
            busy = {worker.pipe: worker for worker in self._workers if worker.tasks}
            if not busy and not waiting:
                return
            if not self._workers:
                for batch in waiting:
                    yield from self._check_without_workers(batch, final)
                return
            for pipe in connection.wait(list(busy), timeout=None if busy else 0):
                worker = busy[pipe]  # type: ignore[index]
                batch, worker.tasks = worker.tasks, []
                try:
                    answer = worker.pipe.recv_bytes()
                except (EOFError, OSError):
                    self._replace(worker)
                    if len(batch) > 1:
                        # Each file is checked alone, to identify the one that caused it.
                        waiting.extend([task] for task in batch)
                    else:
                        yield batch[0], _died_outcome(batch[0], worker, self._session)
                    continue
                self._deaths = 0
                if answer == _FAILED:
                    yield from self._local_checker().check_files(batch, final)
                else:
                    outcomes: list[Outcome] = worker.receiver.unpack(answer)
                    yield from zip(batch, outcomes, strict=True)

    def _send(self, worker: _Worker, kind: bytes, message: object) -> bool:
        """Send a message to an idle process. Returns whether that succeeded."""
        try:
            worker.pipe.send_bytes(kind + self._inherited.pack(message))
        except OSError:
            return False
        return True

    def _check_without_workers(self, batch: list[Task], final: bool) -> Iterator[tuple[Task, Outcome]]:
        """Check files without processes, or report them if too many processes died: they would probably end this one, too."""
        if self._deaths <= _MAX_DEATHS:
            yield from self._local_checker().check_files(batch, final)
            return
        for task in batch:
            message = f"not checked: {self._deaths} processes in a row ended unexpectedly; try --jobs 1"
            yield task, task.failed_outcome(message, self._session)

    def _local_checker(self) -> FileChecker:
        """Return a checker in this process."""
        if self._local is None:
            self._local = FileChecker(self._session)
            self._local.add_kinds(self._kinds)
        return self._local

    def _replace(self, worker: _Worker) -> None:
        """Replace a process that has died, unless too many have."""
        worker.pipe.close()
        worker.process.join(timeout=5)
        place = self._workers.index(worker)
        self._deaths += 1
        try:
            self._workers[place : place + 1] = [self._start_worker()] if self._deaths <= _MAX_DEATHS else []
        except OSError:
            del self._workers[place]

    def close(self) -> None:
        """Terminate all processes without waiting for them.

        Freeing their memory takes the system a while. multiprocessing waits for them when this process ends or starts another one.
        """
        for worker in self._workers:
            worker.pipe.close()
            with suppress(OSError, ValueError):
                worker.process.terminate()
        self._workers = []


def _set_safe_path() -> Callable[[], object]:
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    return partial(os.environ.pop, "PYTHONSAFEPATH") if before is None else partial(os.environ.update, PYTHONSAFEPATH=before)


_safe_path = SharedChange(_set_safe_path).made
"""Prevents processes started in its block from importing from the current folder, which often is the folder to check.

They are started as `python -c`, which searches the current folder first, and so is the resource tracker of `multiprocessing`.
"""


def _can_fork() -> bool:
    """Whether forking is safe: in a copy of this process, a lock held by another thread would never be released."""
    return sys.platform.startswith("linux") and threading.active_count() == 1


def batches(tasks: list[Task]) -> Iterator[list[Task]]:
    """Yield batches: very large files first, in decreasing order of size, then neighboring files together.

    Neighboring files tend to need the same definitions and have the same strings.
    """
    yield from ([task] for task in sorted(tasks, key=_size, reverse=True) if _size(task) >= _LARGE_FILE_CHARS)
    batch: list[Task] = []
    size = 0
    for task in tasks:
        if _size(task) >= _LARGE_FILE_CHARS:
            continue
        batch.append(task)
        size += _size(task)
        if size >= _BATCH_CHARS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _size(task: Task) -> int:
    return len(task.source.text)


def _died_outcome(task: Task, worker: _Worker, session: Session) -> Outcome:
    code = worker.process.exitcode
    how = f"signal {-code}" if code is not None and code < 0 else f"exit status {code}"
    return task.failed_outcome(f"the process that checked this file ended unexpectedly ({how})", session)


def _run_worker(
    start: Session | Callable[[], Session], pipe: connection.Connection, other_pipes: Sequence[connection.Connection], inherited: Inherited
) -> None:
    """The main function of a process: process messages until the pipe is closed."""
    # Ctrl-C reaches all processes at once; the main process handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in other_pipes:
        other.close()
    gc.disable()
    use_signals()
    watch_memory()
    checker: FileChecker | None = None
    sender = Sender()
    try:
        session = start if isinstance(start, Session) else start()
        gc.freeze()
        checker = FileChecker(session)
    except Exception:
        # Answer each batch with a failure, so that the main process checks it.
        checker = None
    with suppress(EOFError, OSError):
        while True:
            data = pipe.recv_bytes()
            answer = _FAILED
            try:
                message = inherited.unpack(memoryview(data)[1:])
                if data[:1] == _TASKS and checker is not None:
                    final, batch = message
                    answer = sender.pack([checker.check_file(task, final) for task in batch])
                elif checker is not None:
                    checker.add_kinds(message)
            except Exception:
                # Without these kinds, further outcomes would be wrong.
                checker = checker if data[:1] == _TASKS else None
            if data[:1] == _TASKS:
                pipe.send_bytes(answer)
    # Do not run exit handlers inherited from the main process.
    os._exit(0)

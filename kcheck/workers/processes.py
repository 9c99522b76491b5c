"""The file stage in several processes: files are handed out in batches, and what comes back says whose it is.

Processes are forked where that is safe and started anew elsewhere. One that dies takes nothing with it but the file that it was
checking, which is told as an error. What a process cannot be told, or cannot tell, this one does itself.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from multiprocessing import connection, get_context
from typing import Any

from kcheck.check.file import FileChecker, Outcome, Task
from kcheck.check.input_kinds import InputKind
from kcheck.check.session import Session
from kcheck.text.source import Source
from kcheck.workers.transport import Inherited, Receiver, Sender

_BATCH = 64_000
"""Characters of files that are handed out together: enough to make handing out cheap, few enough that all end at the same time."""

_LARGE = 500_000
"""Characters of a file on which one process would still be when all others are done, if it came last."""

_MOST_DEATHS = 20
"""Processes that may die one after another, with nothing checked in between, until no more are started."""

_KINDS, _TASKS, _UNABLE = b"k", b"t", b""
"""What a message to a process begins with; and the answer of one that does not understand it, or whose findings do not pickle."""


@dataclass
class _Worker:
    """A process at work, our end of its pipe, and what it is checking."""

    process: Any
    pipe: connection.Connection
    at_work: list[Task] = field(default_factory=list)
    receiver: Receiver = field(default_factory=Receiver)


class ProcessPool:
    """Processes that check files."""

    def __init__(self, session: Session, jobs: int, sources: Mapping[int, Source]) -> None:
        self._session = session
        self._forks = _can_fork()
        self._inherited = Inherited(sources if self._forks else {})
        # A process started with -E and without -P would import from the current folder, and ignore the variable that prevents it.
        unsafe = sys.flags.ignore_environment and not sys.flags.safe_path
        if not self._forks and (session.recipe is None or unsafe):
            jobs = 0
        self._context: Any = get_context("fork" if self._forks else "spawn")
        self._kinds: list[InputKind] = []
        self._hands: list[_Worker] = []
        self._deaths = 0
        self._itself: FileChecker | None = None
        try:
            # A system without room for so many processes may have some for fewer.
            with suppress(OSError):
                for _ in range(jobs):
                    self._hands.append(self._hire())
        except BaseException:
            self.close()
            raise

    def _hire(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        # A forked process holds our ends of all pipes: while any is open, no other process learns that we are gone.
        others = [hand.pipe for hand in self._hands] + [ours] if self._forks else []
        start: Any = self._session if self._forks else self._session.recipe
        process = self._context.Process(target=_work, args=(start, theirs, others, self._inherited), daemon=True)
        with nullcontext() if self._forks else _safe_path():
            process.start()
        theirs.close()
        hand = _Worker(process, ours)
        if self._kinds:
            self._send(hand, _KINDS, self._kinds)
        return hand

    def learn(self, kinds: list[InputKind]) -> None:
        """Make kinds known to all; nobody is at work then."""
        self._kinds += kinds
        if self._itself is not None:
            self._itself.learn(kinds)
        for hand in list(self._hands):
            if not self._send(hand, _KINDS, kinds):
                self._replace(hand)

    def check(self, tasks: list[Task], final: bool) -> Iterator[tuple[Task, Outcome]]:
        """Check files; they come back in any order."""
        waiting = deque(batches(tasks))
        while True:
            for number, hand in enumerate(list(self._hands)):
                if not hand.at_work and waiting:
                    # From both ends, so that two of them seldom need the same definitions.
                    batch = waiting.pop() if number % 2 else waiting.popleft()
                    if self._send(hand, _TASKS, (final, batch)):
                        hand.at_work = batch
                    else:
                        waiting.appendleft(batch)
                        self._replace(hand)
            busy = {hand.pipe: hand for hand in self._hands if hand.at_work}
            if not busy and not waiting:
                return
            if not self._hands:
                for batch in waiting:
                    yield from self._left(batch, final)
                return
            for pipe in connection.wait(list(busy), timeout=None if busy else 0):
                hand = busy[pipe]  # type: ignore[index]
                batch, hand.at_work = hand.at_work, []
                try:
                    answer = hand.pipe.recv_bytes()
                except (EOFError, OSError):
                    self._replace(hand)
                    if len(batch) > 1:
                        # Who of them is to blame shows when each is checked alone.
                        waiting.extend([task] for task in batch)
                    else:
                        yield batch[0], _died(batch[0], hand, self._session)
                    continue
                self._deaths = 0
                if answer == _UNABLE:
                    yield from self._alone().check(batch, final)
                else:
                    outcomes: list[Outcome] = hand.receiver.unpack(answer)
                    yield from zip(batch, outcomes, strict=True)

    def _send(self, hand: _Worker, kind: bytes, message: object) -> bool:
        """Whether a process that waits for work has got it."""
        try:
            hand.pipe.send_bytes(kind + self._inherited.pack(message))
        except OSError:
            return False
        return True

    def _left(self, batch: list[Task], final: bool) -> Iterator[tuple[Task, Outcome]]:
        """What becomes of files that no process is there for: what has killed so many would kill this one, too."""
        if self._deaths <= _MOST_DEATHS:
            yield from self._alone().check(batch, final)
            return
        for task in batch:
            message = f"not checked: {self._deaths} processes in a row have ended before they had checked anything: try --jobs 1"
            yield task, task.failed(message, self._session)

    def _alone(self) -> FileChecker:
        """This process as one that checks files."""
        if self._itself is None:
            self._itself = FileChecker(self._session)
            self._itself.learn(self._kinds)
        return self._itself

    def _replace(self, hand: _Worker) -> None:
        """Another process for one that has died, as long as there is hope."""
        hand.pipe.close()
        hand.process.join(timeout=5)
        place = self._hands.index(hand)
        self._deaths += 1
        try:
            self._hands[place : place + 1] = [self._hire()] if self._deaths <= _MOST_DEATHS else []
        except OSError:
            del self._hands[place]

    def close(self) -> None:
        """Send everybody home, whatever they are doing. Nobody waits for them here: to take back their memory takes the system a while,
        and multiprocessing waits for them when this process ends, or when it starts the next one looks who has gone.
        """
        for hand in self._hands:
            hand.pipe.close()
            with suppress(OSError, ValueError):
                hand.process.terminate()
        self._hands = []


@contextmanager
def _safe_path() -> Iterator[None]:
    """Processes started here do not import from the current folder, which is often the one that is checked.

    They are started as `python -c`, which would look there first, and so is the resource tracker of `multiprocessing`.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def _can_fork() -> bool:
    """Whether a copy of this process is sure to work: another thread may hold a lock that nobody would ever give back."""
    return sys.platform.startswith("linux") and threading.active_count() == 1


def batches(tasks: list[Task]) -> Iterator[list[Task]]:
    """Files that are handed out together: very large ones first, the largest before the others, then neighbours with one another, which
    need the same definitions and say the same things.
    """
    yield from ([task] for task in sorted(tasks, key=_size, reverse=True) if _size(task) >= _LARGE)
    batch: list[Task] = []
    size = 0
    for task in tasks:
        if _size(task) >= _LARGE:
            continue
        batch.append(task)
        size += _size(task)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _size(task: Task) -> int:
    return len(task.source.text)


def _died(task: Task, hand: _Worker, session: Session) -> Outcome:
    code = hand.process.exitcode
    how = f"signal {-code}" if code is not None and code < 0 else f"exit status {code}"
    return task.failed(f"the process that checked this file ended early ({how}): nothing is known of it", session)


def _work(
    start: Session | Callable[[], Session], pipe: connection.Connection, others: Sequence[connection.Connection], inherited: Inherited
) -> None:
    """What a process does until nobody wants anything of it."""
    # Ctrl-C reaches all processes at once; it is for the first one to say what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in others:
        other.close()
    gc.disable()
    checker: FileChecker | None = None
    sender = Sender()
    try:
        session = start if isinstance(start, Session) else start()
        gc.freeze()
        checker = FileChecker(session)
    except Exception:
        # Every answer will be that this process is unable to check, and the first process does the work.
        checker = None
    with suppress(EOFError, OSError):
        while True:
            data = pipe.recv_bytes()
            answer = _UNABLE
            try:
                message = inherited.unpack(memoryview(data)[1:])
                if data[:1] == _TASKS and checker is not None:
                    final, batch = message
                    answer = sender.pack([checker.one(task, final) for task in batch])
                elif checker is not None:
                    checker.learn(message)
            except Exception:
                # Who has not learnt a kind must not judge any more.
                checker = checker if data[:1] == _TASKS else None
            if data[:1] == _TASKS:
                pipe.send_bytes(answer)
    # Whatever the first process had meant to do at its end is not ours to do.
    os._exit(0)

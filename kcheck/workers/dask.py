"""Checks files on a Dask cluster, whose workers have kcheck installed but no access to the input files.

The workers receive the content of the files and return their outcomes.
"""

from __future__ import annotations

import queue
import tempfile
import threading
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from kcheck.check.collector import collector_paused
from kcheck.check.file import FileChecker, Outcome, Task
from kcheck.check.fingerprint import file_contents
from kcheck.check.input_kinds import InputKind
from kcheck.check.session import Session
from kcheck.check.session_spec import IncompatibleSpec, SessionSpec, create_session, session_spec_of
from kcheck.rule.registry import Registry
from kcheck.schema.external.catalog import read_schemas
from kcheck.schema.store import Store
from kcheck.workers.processes import batches
from kcheck.workers.workers import NoWorkers

TIMEOUT_SECONDS = 30
"""Seconds to wait for a worker before the cluster is considered lost."""

_BATCHES_PER_THREAD = 4
"""Batches submitted per thread of the cluster; the others wait in this process."""


class WorkerSetup(NamedTuple):
    """The values that workers need before they can check files: session, additional schemas, and kinds that the input defines."""

    spec: SessionSpec
    schemas: tuple[tuple[tuple[str, bytes], ...], ...]
    kinds: tuple[InputKind, ...]


class SetupMismatch(NamedTuple):
    """The answer of a worker that cannot create the session."""

    worker: str
    reason: str


class _NoAnswer(NamedTuple):
    """The reason that a batch has no result. `died`: the worker died."""

    reason: str
    died: bool


class Cluster:
    """The workers of a Dask scheduler. Raises NoWorkers if Dask is not installed or no scheduler or worker responds."""

    def __init__(self, session: Session, address: str) -> None:
        self._session = session
        self._address = address
        self._kinds: list[InputKind] = []
        self._client: Any = None
        self._setup: Any = None
        self._spec: SessionSpec | None = None
        self._incompatible: dict[str, str] = {}
        self._threads: dict[str, int] = {}

    def add_kinds(self, kinds: list[InputKind]) -> None:
        self._kinds += kinds
        self._spec = None

    def check_files(self, tasks: list[Task], final: bool) -> Iterator[tuple[Task, Outcome]]:
        if not tasks:
            return
        client = self._connect()
        unchecked = {task.number: task for task in tasks}
        try:
            self._prepare(client, tasks)
            for task, outcome in self._distribute(client, tasks, final):
                del unchecked[task.number]
                yield task, outcome
        except _connection_errors() as error:
            yield from ((task, self._failed_outcome(task, f"{type(error).__name__}: {error}")) for task in unchecked.values())

    def _distribute(self, client: Any, tasks: list[Task], final: bool) -> Iterator[tuple[Task, Outcome]]:
        """Submit the tasks in batches and yield their outcomes. Raises an error if the connection to the scheduler is lost."""
        waiting = deque(batches(tasks))
        running: dict[Any, list[Task]] = {}
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        # Files that were on a worker when it died: each is tried again on its own, to identify the file that caused it.
        suspects: deque[list[Task]] = deque()
        suspected: set[int] = set()
        while waiting or running or suspects:
            if not waiting and not running:
                waiting.append(suspects.popleft())
            room = _BATCHES_PER_THREAD * max(1, sum(self._current_threads(client).values())) - len(running) if waiting else 0
            for _ in range(min(room, len(waiting))):
                batch = waiting.popleft()
                future = self._submit(client, batch, final)
                if future is None:
                    yield from ((task, self._failed_outcome(task, self._incompatibilities())) for task in batch)
                    continue
                running[future] = batch
                future.add_done_callback(done.put)
            if not running:
                continue
            try:
                future = done.get(timeout=TIMEOUT_SECONDS)
            except queue.Empty:
                if not self._alive(client):
                    lost = [task for batch in (*running.values(), *waiting, *suspects) for task in batch]
                    yield from ((task, self._failed_outcome(task, "the cluster has lost all workers")) for task in lost)
                    return
                continue
            batch = running.pop(future)
            answer = _result_of(future)
            if isinstance(answer, list):
                yield from zip(batch, answer, strict=True)
            elif isinstance(answer, SetupMismatch):
                self._incompatible[answer.worker] = answer.reason
                waiting.append(batch)
            elif len(batch) > 1:
                waiting.extend([task] for task in batch)
            elif answer.died and batch[0].number not in suspected:
                suspected.add(batch[0].number)
                suspects.append(batch)
            else:
                yield batch[0], self._failed_outcome(batch[0], answer.reason)

    def close(self) -> None:
        if self._client is not None:
            # All results have arrived. Disconnecting fails if the scheduler is gone.
            with suppress(*_connection_errors()):
                self._client.close()

    def _connect(self) -> Any:
        if self._client is None:
            try:
                from distributed import Client
            except ImportError:
                raise NoWorkers("--scheduler needs Dask: pip install 'kcheck[dask]'") from None
            try:
                self._client = Client(self._address, timeout=TIMEOUT_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
                self._client.wait_for_workers(1, timeout=TIMEOUT_SECONDS)
            except (OSError, ValueError) as error:
                problem = "has no workers" if self._client is not None else "cannot be reached"
                raise NoWorkers(f"--scheduler: {self._address} {problem}: {error}") from None
        return self._client

    def _prepare(self, client: Any, tasks: list[Task]) -> None:
        spec = session_spec_of(self._session, [task.source.path for task in tasks])
        if spec != self._spec:
            plugin_schemas = set(self._session.registry.schemas)
            schemas = tuple(tuple(_files(path)) for path in self._session.schemas if path not in plugin_schemas)
            with warnings.catch_warnings():
                # A task instead of scattered data: if the worker with its result is lost, another worker computes it again.
                warnings.filterwarnings("ignore", "Sending large graph")
                self._setup = client.submit(WorkerSetup, spec, schemas, tuple(self._kinds), pure=False)
            self._spec = spec

    def _submit(self, client: Any, batch: list[Task], final: bool) -> Any:
        """Submit a batch and return its future, or None if all workers are incompatible."""
        threads = self._current_threads(client) if self._incompatible else {}
        workers = [address for address in threads if address not in self._incompatible] if self._incompatible else None
        if workers == []:
            return None
        return client.submit(check_batch, self._setup, batch, final, workers=workers, pure=False)

    def _current_threads(self, client: Any) -> dict[str, int]:
        """Return the threads of each worker. If the scheduler is too busy to answer, this is its previous answer."""
        with suppress(OSError):
            self._threads = client.nthreads()
        return self._threads

    def _alive(self, client: Any) -> bool:
        try:
            return client.status == "running" and bool(client.nthreads())
        except (OSError, RuntimeError):
            return False

    def _incompatibilities(self) -> str:
        return f"its workers are not compatible: {'; '.join(sorted(set(self._incompatible.values())))}"

    def _failed_outcome(self, task: Task, reason: str) -> Outcome:
        return task.failed_outcome(f"the cluster did not check this file: {reason}", self._session)


def _connection_errors() -> tuple[type[BaseException], ...]:
    """Return the errors of a client whose scheduler is gone or does not answer in time. TimeoutError is an OSError."""
    from distributed import CancelledError
    from distributed.client import ClosedClientError

    return OSError, RuntimeError, CancelledError, ClosedClientError


def _result_of(future: Any) -> list[Outcome] | SetupMismatch | _NoAnswer:
    """Return the result of a future, or the reason that there is none."""
    from distributed import CancelledError, KilledWorker

    try:
        answer: list[Outcome] | SetupMismatch = future.result()
    except (Exception, CancelledError) as error:
        return _NoAnswer(f"{type(error).__name__}: {error}".partition("\n")[0], isinstance(error, KilledWorker))
    return answer


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    for name, data in zip(*[iter(file_contents(path))] * 2, strict=True):
        yield name.decode("utf-8", "surrogateescape"), data


class _WorkerState:
    """The session and checker that a worker creates from its setup."""

    def __init__(self, setup: WorkerSetup) -> None:
        registry = Registry.load()
        self.setup = setup
        self.folder = tempfile.TemporaryDirectory(prefix="kcheck-")
        paths = [*registry.schemas, *self.write_schemas()]

        def add(stores: Iterable[Store]) -> None:
            for found in map(read_schemas, paths):
                for store in stores:
                    found.add_to(store)

        self.checker = FileChecker(create_session(setup.spec, registry, add))
        self.checker.add_kinds(list(setup.kinds))

    def write_schemas(self) -> Iterator[Path]:
        """Write the additional schemas to files with their original names, which determine the kind that a JSON Schema describes."""
        for number, files in enumerate(self.setup.schemas):
            for name, data in files:
                path = Path(self.folder.name, str(number), name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            yield Path(self.folder.name, str(number))


_lock = threading.Lock()
_states: dict[int, _WorkerState] = {}


def check_batch(setup: WorkerSetup, batch: list[Task], final: bool) -> list[Outcome] | SetupMismatch:
    """Check files on a worker. Its threads take turns, because parallel threads would not be faster."""
    with _lock, collector_paused():
        state = _states.get(id(setup))
        if state is None:
            try:
                state = _WorkerState(setup)
            except IncompatibleSpec as error:
                from distributed import get_worker

                return SetupMismatch(str(get_worker().address), str(error))
            _states.clear()
            _states[id(setup)] = state
        return [state.checker.check_file(task, final) for task in batch]

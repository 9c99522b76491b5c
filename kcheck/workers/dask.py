"""The file stage on a Dask cluster: texts go to its workers, outcomes come back. They have kcheck installed, and none of our files."""

from __future__ import annotations

import queue
import tempfile
import threading
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from kcheck.check.collector import collector_paused
from kcheck.check.file import FileChecker, Outcome, Task
from kcheck.check.fingerprint import contents
from kcheck.check.input_kinds import InputKind
from kcheck.check.session import Session
from kcheck.check.session_spec import IncompatibleSpec, SessionSpec, session_of, session_spec_of
from kcheck.rule.registry import Registry
from kcheck.schema.external.catalog import read_schemas
from kcheck.schema.store import Store
from kcheck.text.record import NamedTuple
from kcheck.workers.processes import batches
from kcheck.workers.workers import NoWorkers

PATIENCE = 30
"""Seconds that a cluster may be without any worker."""

_AHEAD = 4
"""Batches that each thread of the cluster has before it: what is further off stays here."""


class WorkerSetup(NamedTuple):
    """What workers must know before they check: the terms of the session, the schemas that were given, the kinds of the input."""

    terms: SessionSpec
    schemas: tuple[tuple[tuple[str, bytes], ...], ...]
    kinds: tuple[InputKind, ...]


class SetupMismatch(NamedTuple):
    """The answer of a worker that cannot do the work, and why."""

    worker: str
    why: str


class _NoAnswer(NamedTuple):
    """Why there is no answer. `died`: whoever was to give it did."""

    why: str
    died: bool


class Cluster:
    """The workers of a Dask scheduler. Raises NoWorkers where there is no Dask, no scheduler or no worker."""

    def __init__(self, session: Session, address: str) -> None:
        self._session = session
        self._address = address
        self._kinds: list[InputKind] = []
        self._client: Any = None
        self._brief: Any = None
        self._terms: SessionSpec | None = None
        self._refused: dict[str, str] = {}

    def learn(self, kinds: list[InputKind]) -> None:
        self._kinds += kinds
        self._terms = None

    def check(self, tasks: list[Task], final: bool) -> Iterator[tuple[Task, Outcome]]:
        if not tasks:
            return
        client = self._connected()
        self._prepare(client, tasks)
        waiting = deque(batches(tasks))
        going: dict[Any, list[Task]] = {}
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        # Files in whose company a worker died: each is tried once more when nothing else is, so that the right one is blamed.
        suspects: deque[list[Task]] = deque()
        suspected: set[int] = set()
        while waiting or going or suspects:
            if not waiting and not going:
                waiting.append(suspects.popleft())
            room = _AHEAD * max(1, sum(client.nthreads().values())) - len(going) if waiting else 0
            for _ in range(min(room, len(waiting))):
                batch = waiting.popleft()
                future = self._submit(client, batch, final)
                if future is None:
                    yield from ((task, self._failed(task, self._refusals())) for task in batch)
                    continue
                going[future] = batch
                future.add_done_callback(done.put)
            if not going:
                continue
            try:
                future = done.get(timeout=PATIENCE)
            except queue.Empty:
                if not self._alive(client):
                    lost = [task for batch in (*going.values(), *waiting, *suspects) for task in batch]
                    yield from ((task, self._failed(task, "the cluster has no workers any more")) for task in lost)
                    return
                continue
            batch = going.pop(future)
            answer = _answer(future)
            if isinstance(answer, list):
                yield from zip(batch, answer, strict=True)
            elif isinstance(answer, SetupMismatch):
                self._refused[answer.worker] = answer.why
                waiting.append(batch)
            elif len(batch) > 1:
                waiting.extend([task] for task in batch)
            elif answer.died and batch[0].number not in suspected:
                suspected.add(batch[0].number)
                suspects.append(batch)
            else:
                yield batch[0], self._failed(batch[0], answer.why)

    def close(self) -> None:
        if self._client is not None:
            # The answers are all there, and a scheduler that is gone cannot be left properly.
            with suppress(OSError, RuntimeError, TimeoutError):
                self._client.close()

    def _connected(self) -> Any:
        if self._client is None:
            try:
                from distributed import Client
            except ImportError:
                raise NoWorkers("--scheduler needs Dask: pip install 'kcheck[dask]'") from None
            try:
                self._client = Client(self._address, timeout=PATIENCE, set_as_default=False)  # type: ignore[no-untyped-call]
                self._client.wait_for_workers(1, timeout=PATIENCE)
            except (OSError, ValueError) as error:
                what = "has no workers" if self._client is not None else "cannot be reached"
                raise NoWorkers(f"--scheduler: {self._address} {what}: {error}") from None
        return self._client

    def _prepare(self, client: Any, tasks: list[Task]) -> None:
        terms = session_spec_of(self._session, [task.source.path for task in tasks])
        if terms != self._terms:
            own = set(self._session.registry.schemas)
            schemas = tuple(tuple(_files(path)) for path in self._session.schemas if path not in own)
            with warnings.catch_warnings():
                # A task and no mere data: where the worker that holds its result is lost, another one makes it again.
                warnings.filterwarnings("ignore", "Sending large graph")
                self._brief = client.submit(WorkerSetup, terms, schemas, tuple(self._kinds), pure=False)
            self._terms = terms

    def _submit(self, client: Any, batch: list[Task], final: bool) -> Any:
        """The batch on its way; None where every worker has refused."""
        where = [address for address in client.nthreads() if address not in self._refused] if self._refused else None
        if where == []:
            return None
        return client.submit(check_batch, self._brief, batch, final, workers=where, pure=False)

    def _alive(self, client: Any) -> bool:
        try:
            return client.status == "running" and bool(client.nthreads())
        except (OSError, RuntimeError, TimeoutError):
            return False

    def _refusals(self) -> str:
        return "; ".join(f"its workers were {why}" for why in sorted(set(self._refused.values())))

    def _failed(self, task: Task, why: str) -> Outcome:
        return task.failed(f"the cluster did not check this file: {why}", self._session)


def _answer(future: Any) -> list[Outcome] | SetupMismatch | _NoAnswer:
    """What a worker says, or why it says nothing."""
    from distributed import CancelledError, KilledWorker

    try:
        answer: list[Outcome] | SetupMismatch = future.result()
    except (Exception, CancelledError) as error:
        return _NoAnswer(f"{type(error).__name__}: {error}".partition("\n")[0], isinstance(error, KilledWorker))
    return answer


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    for name, data in zip(*[iter(contents(path))] * 2, strict=True):
        yield name.decode("utf-8", "surrogateescape"), data


class _Post:
    """What a worker has made of a brief."""

    def __init__(self, brief: WorkerSetup) -> None:
        registry = Registry.load()
        self.brief = brief
        self.folder = tempfile.TemporaryDirectory(prefix="kcheck-")
        paths = [*registry.schemas, *self.unpacked()]

        def add(stores: Iterable[Store]) -> None:
            for found in map(read_schemas, paths):
                for store in stores:
                    found.add_to(store)

        self.checker = FileChecker(session_of(brief.terms, registry, add))
        self.checker.learn(list(brief.kinds))

    def unpacked(self) -> Iterator[Path]:
        """The schemas given, under their names: these say what a JSON Schema describes."""
        for number, files in enumerate(self.brief.schemas):
            for name, data in files:
                path = Path(self.folder.name, str(number), name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            yield Path(self.folder.name, str(number))


_lock = threading.Lock()
_posts: dict[int, _Post] = {}


def check_batch(brief: WorkerSetup, batch: list[Task], final: bool) -> list[Outcome] | SetupMismatch:
    """Check files on a worker. Its threads take turns: more than one of them at a time would not be faster."""
    with _lock, collector_paused():
        post = _posts.get(id(brief))
        if post is None:
            try:
                post = _Post(brief)
            except IncompatibleSpec as error:
                from distributed import get_worker

                return SetupMismatch(str(get_worker().address), f"asked for work {error}")
            _posts.clear()
            _posts[id(brief)] = post
        return [post.checker.one(task, final) for task in batch]

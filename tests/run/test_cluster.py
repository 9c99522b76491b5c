"""Files checked by the workers of a real Dask cluster, on this machine, give the report that this process gives."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kcheck.check.file import Task
from kcheck.check.fingerprint import program_digest
from kcheck.check.session import Session
from kcheck.check.session_spec import session_spec_of
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store
from kcheck.text.source import Source
from kcheck.workers import dask, processes
from tests.run.test_parallel import CRD, MANY, POD, THING, TYPO

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


WORKERS = 2


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster of two processes, which gives a task up when two workers have died of it."""
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(n_workers=WORKERS, threads_per_worker=2, processes=True, dashboard_address=None) as local,
    ):
        yield local
    # Its last thread: while there are several, no test after these has processes that are copies of this one.
    distributed.utils._offload_executor.shutdown()


@pytest.fixture
def address(cluster: Any) -> str:
    """The scheduler. Workers that died in another test are there again, which takes longer than kcheck waits on a busy machine."""
    cluster.wait_for_workers(WORKERS, timeout=300)
    return str(cluster.scheduler_address)


def kcheck(folder: Path, *arguments: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """The program, after some preparation: in a process of its own, for Dask leaves threads behind that others would not expect."""
    program = f"{before}\nfrom kcheck.cli.main import main\nmain()\n"
    command = [sys.executable, "-c", program, "check", "--no-cache", "--format", "json", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def findings(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.stdout, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return found


def new_session(*select: str) -> Session:
    registry = Registry.load()
    return Session(registry, choose(registry, select), [Store(load("1.36"))])


def test_the_report_is_that_of_one_machine(address: str, tmp_path: Path) -> None:
    for name, text in MANY.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "schemas" / "example.org").mkdir(parents=True)
    (tmp_path / "schemas" / "example.org" / "widget_v1.json").write_text('{"properties": {"spec": {"type": "integer"}}}')
    (tmp_path / "widget.yaml").write_text("apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: a}\nspec: no\n")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "pod.yaml").write_text(TYPO)
    (tmp_path / ".kcheck.yaml").write_text(
        "kubernetes: 1.30-1.31\nschemas: [schemas]\nexclude: [schemas]\noverrides: [{files: [old/**], rules: {unknown-field: off}}]\n"
    )
    alone = kcheck(tmp_path, ".")
    together = kcheck(tmp_path, ".", "--scheduler", address)
    assert (together.returncode, together.stdout, together.stderr) == (alone.returncode, alone.stdout, alone.stderr)
    found = {(f["rule"], f["file"]) for f in findings(alone)}
    assert {("wrong-type", "thing.yaml"), ("unknown-field", "typo.yaml")} <= found
    assert ("unknown-field", "old/pod.yaml") not in found
    assert any(file == "widget.yaml" and rule != "missing-schema" for rule, file in found)


def test_shards_may_use_a_cluster(address: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kcheck", "check", "--no-cache", "--isolated", "--shard", "1/1", str(EXAMPLES), "--quiet"]
    for name, more in (("alone", ()), ("together", ("--scheduler", address))):
        subprocess.run([*command, "--output", str(tmp_path / name), *more], timeout=300, check=True)
    assert (tmp_path / "alone").read_bytes() == (tmp_path / "together").read_bytes()


DEADLY = """
from kcheck.workers import dask
from kcheck.workers import processes
processes._BATCH_CHARS = 300

def deadly(brief, batch, final):
    import os
    from kcheck.workers import dask
    if any("deadly" in task.source.text for task in batch):
        os._exit(7)
    return dask.check_batch(brief, batch, final)

dask.check_batch = deadly
"""


def test_a_worker_that_dies_costs_one_file(address: str, tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"{number}.yaml").write_text(TYPO)
    (tmp_path / "deadly.yaml").write_text(POD.replace("name: a", "name: deadly"))
    (tmp_path / "crd.yaml").write_text(CRD)
    (tmp_path / "thing.yaml").write_text(THING)
    whole = findings(kcheck(tmp_path, "."))
    done = kcheck(tmp_path, ".", "--scheduler", address, before=DEADLY)
    lost = [f for f in findings(done) if f["file"] == "deadly.yaml"]
    assert (done.returncode, [f["rule"] for f in lost]) == (2, ["internal-error"])
    assert "KilledWorker" in lost[0]["message"]
    assert [f for f in findings(done) if f["file"] != "deadly.yaml"] == [f for f in whole if f["file"] != "deadly.yaml"]


def test_another_kcheck_on_the_workers_is_reported(address: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(POD)
    (tmp_path / "b.yaml").write_text(POD)
    done = kcheck(tmp_path, ".", "--scheduler", address, before="from kcheck.check import session_spec as terms; terms.__version__ = '9.9'")
    assert done.returncode == 2
    assert [(f["rule"], f["file"]) for f in findings(done)] == [("internal-error", "a.yaml"), ("internal-error", "b.yaml")]
    assert "its workers are not compatible: created with kcheck 9.9, but this is kcheck" in findings(done)[0]["message"]


def test_a_worker_makes_the_same_session() -> None:
    session = new_session("security")
    brief = dask.WorkerSetup(session_spec_of(session, ["a.yaml"]), (), ())
    task = Task(0, Source("a.yaml", POD), True)
    expected = dask.FileChecker(session).check_file(task, True)
    assert dask.check_batch(brief, [task], True) == [expected]
    assert brief.spec.program == program_digest(session.registry)


class LocalFuture:
    """The future of a client without a cluster: the result is computed when it is submitted."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        callback(self)

    def result(self) -> Any:
        return self.value


class LocalClient:
    """A client that computes in this process. `answers`: what the scheduler answers when it is asked for its threads."""

    status = "running"

    def __init__(self, answers: list[dict[str, int] | Exception]) -> None:
        self.answers = answers

    def nthreads(self) -> dict[str, int]:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def submit(self, function: Callable[..., Any], *arguments: Any, **_options: Any) -> LocalFuture:
        if not self.answers:
            raise distributed.client.ClosedClientError("Client is closed. Can't send update-graph message.")
        return LocalFuture(function(*(each.value if isinstance(each, LocalFuture) else each for each in arguments)))


def check_locally(answers: list[dict[str, int] | Exception], monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """The rules of the findings of four files, with a scheduler that gives these answers."""
    monkeypatch.setattr(processes, "_BATCH_CHARS", 1)
    cluster = dask.Cluster(new_session("spec"), "tcp://127.0.0.1:9")
    cluster._client = LocalClient(answers)
    tasks = [Task(number, Source(f"{number}.yaml", TYPO), True) for number in range(4)]
    return {task.source.path: [finding.rule for finding in outcome.findings] for task, outcome in cluster.check_files(tasks, True)}


def test_a_scheduler_that_does_not_answer_in_time_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = OSError("Timed out trying to connect to tcp://127.0.0.1:9 after 30 s")
    monkeypatch.setattr(dask, "_BATCHES_PER_THREAD", 1)
    answers: list[dict[str, int] | Exception] = [TimeoutError(), {"tcp://127.0.0.1:1": 1}, busy, busy, {}]
    assert check_locally(answers, monkeypatch) == {f"{number}.yaml": ["unknown-field"] for number in range(4)}


def test_files_of_a_lost_connection_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "_BATCHES_PER_THREAD", 1)
    threads: dict[str, int] | Exception = {"tcp://127.0.0.1:1": 1}
    assert sorted(check_locally([threads] * 3, monkeypatch).values()) == [["internal-error"]] * 2 + [["unknown-field"]] * 2


def test_without_a_scheduler(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(POD)
    done = kcheck(tmp_path, "a.yaml", "--scheduler", "tcp://127.0.0.1:9", before="import kcheck.workers.dask as c; c.TIMEOUT_SECONDS = 1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "kcheck: --scheduler: tcp://127.0.0.1:9 cannot be reached" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_dask(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(POD)
    done = kcheck(tmp_path, "a.yaml", "--scheduler", "tcp://127.0.0.1:1", before="import sys; sys.modules['distributed'] = None")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--scheduler needs Dask: pip install 'kcheck[dask]'" in done.stderr

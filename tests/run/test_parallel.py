"""Several processes find what one finds, and survive each other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from kcheck.api import Problem, Resource, rule
from kcheck.check import file
from kcheck.check.file import FileChecker
from kcheck.check.session import Session
from kcheck.discovery.discover import discover
from kcheck.finding.report import Report
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.run.run import run_pipeline
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store
from kcheck.workers import processes, workers
from kcheck.workers.processes import _can_fork
from tests.run.texts import CRD, POD, THING, TYPO

DEADLY = POD.replace("name: a}", "name: deadly}")


@rule("deadly", "ends the process")
def deadly(resource: Resource) -> Iterator[Problem]:
    if resource.name == "deadly":
        os._exit(7)
    yield from ()


def make_session() -> Session:
    registry = Registry.load()
    module = ModuleType(__name__)
    module.deadly = deadly  # type: ignore[attr-defined]
    registry.add(module)
    return Session(registry, choose(registry), [Store(load("1.36"))], factory=make_session)


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workers, "_MIN_CHARS_PER_PROCESS", 1)
    monkeypatch.setattr(processes, "_BATCH_CHARS", 1000)

    def go(files: dict[str, str], processes: int = 2) -> Report:
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        return run_pipeline(discover(["."]), make_session(), jobs=processes)

    return go


MANY = {
    **{f"pod-{i}.yaml": POD.replace("name: a}", f"name: a{i}}}") for i in range(30)},
    "typo.yaml": TYPO,
    "broken.yaml": "a: b: c\n---\n" + POD,
    "thing.yaml": THING,
    "z-crd.yaml": CRD,
    "ignored.yaml": "# kcheck: ignore[unknown-field] wanted\n" + TYPO,
    "values.txt": "no",
    "other.yaml": "some: thing\n",
}


def test_the_report_is_the_same_for_any_number_of_processes(check) -> None:  # type: ignore[no-untyped-def]
    reports = [check(MANY, processes) for processes in (1, 2, 5)]
    assert reports[0] == reports[1] == reports[2]
    assert ("wrong-type", "thing.yaml") in {(f.rule, f.file) for f in reports[0].findings}
    assert reports[0].suppressed >= 1


def test_a_process_that_dies_costs_one_file(check, capfd: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    whole = check(MANY, 1)
    report = check({**MANY, "deadly.yaml": DEADLY})
    lost = [f for f in report.findings if f.file == "deadly.yaml"]
    assert [f.rule for f in lost] == ["internal-error"]
    assert "exit status 7" in lost[0].concise
    assert [f for f in report.findings if f.file != "deadly.yaml"] == whole.findings
    assert capfd.readouterr().err == ""


def test_each_file_that_kills_a_process_is_reported(check) -> None:  # type: ignore[no-untyped-def]
    report = check({f"{i}.yaml": DEADLY for i in range(5)})
    assert [f.rule for f in report.findings] == ["internal-error"] * 5


linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are no copies of the first one here")


@linux
def test_processes_that_all_die_are_soon_no_longer_started(  # type: ignore[no-untyped-def]
    check, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    parent = os.getpid()
    started = []
    hire = processes.ProcessPool._start_worker
    one = FileChecker.check_file

    def counted(crew: processes.ProcessPool) -> processes._Worker:
        started.append(1)
        return hire(crew)

    # What is changed here only copies of this process know.
    monkeypatch.setattr(processes, "_can_fork", lambda: True)
    monkeypatch.setattr(processes.ProcessPool, "_start_worker", counted)
    monkeypatch.setattr(FileChecker, "check_file", lambda self, *rest: one(self, *rest) if os.getpid() == parent else os._exit(9))
    report = check({f"{i}.yaml": POD for i in range(100)})
    assert len(started) <= 2 + processes._MAX_DEATHS
    lost = [f for f in report.findings if f.rule == "internal-error"]
    assert {f.file for f in lost} == {f"{i}.yaml" for i in range(100)}
    assert any("in a row" in f.concise for f in lost)
    assert capfd.readouterr().err == ""


@linux
def test_processes_that_cannot_begin_leave_the_work_to_the_first(  # type: ignore[no-untyped-def]
    check, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    whole = check(MANY, 1)
    parent = os.getpid()
    make = processes.FileChecker

    def only_here(session: Session) -> FileChecker:
        assert os.getpid() == parent
        return make(session)

    monkeypatch.setattr(processes, "_can_fork", lambda: True)
    monkeypatch.setattr(processes, "FileChecker", only_here)
    assert check(MANY) == whole
    assert capfd.readouterr().err == ""


def test_a_system_without_room_for_processes_is_not_an_error(check, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    whole = check(MANY, 1)

    def no_room(_: processes.ProcessPool) -> processes._Worker:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(processes.ProcessPool, "_start_worker", no_room)
    assert check(MANY) == whole


@linux
def test_findings_that_do_not_pickle_are_made_where_they_are_needed(check, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    class Secretive(str):
        def __reduce_ex__(self, _: object) -> str:
            raise TypeError("not mine to give")

    @rule("secretive", "says what no process can send")
    def secretive(resource: Resource) -> Iterator[Problem]:
        yield Problem(resource.node, Secretive("found"))

    monkeypatch.setattr(processes, "_can_fork", lambda: True)
    monkeypatch.setitem(globals(), "deadly", secretive)
    report = check(MANY)
    assert {f.concise for f in report.findings if f.rule == "secretive"} == {"found"}
    assert "internal-error" not in {f.rule for f in report.findings}


def test_spawned_processes_find_the_same(check, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    forked = check(MANY)
    monkeypatch.setattr(processes, "_can_fork", lambda: False)
    assert check(MANY) == forked


def test_small_inputs_need_one_process() -> None:
    assert workers.jobs_for(10_000, 8) == 1
    assert workers.jobs_for(100_000_000, 8) == 8


def test_a_crash_of_the_engine_is_reported_and_other_files_are_checked(check, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    def fail(*_: object) -> None:
        raise RuntimeError("no luck")

    monkeypatch.setattr(file, "read_ignores", fail)
    # A process that is no copy of this one has the engine as it is.
    for count in (1, 2) if _can_fork() else (1,):
        report = check({"a.yaml": POD, "b.yaml": POD}, count)
        assert [(f.rule, f.file) for f in report.findings] == [("internal-error", "a.yaml"), ("internal-error", "b.yaml")]


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """The program in the middle of much work, in a process group of its own."""
    for number in range(40):
        (tmp_path / f"{number}.yaml").write_text(f"---\n{TYPO}" * 1500)
    program = [sys.executable, "-m", "kcheck", "check", "--isolated", "--no-cache", "--jobs", "3", "."]
    process = subprocess.Popen(program, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 120
    while members(process.pid) < 4 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.1)
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def members(group: int) -> int:
    """Processes of a group that still run."""
    found = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            found += int(fields[2]) == group and fields[0] != "Z"
    return found


def gone(group: int) -> bool:
    deadline = time.monotonic() + 120
    while members(group) and time.monotonic() < deadline:
        time.sleep(0.05)
    return members(group) == 0


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_an_interrupt_ends_all_of_them_quietly(busy: subprocess.Popen[str]) -> None:
    assert busy.poll() is None
    os.killpg(busy.pid, signal.SIGINT)
    _, errors = busy.communicate(timeout=300)
    assert busy.returncode == 130
    assert errors.strip() == ""
    assert gone(busy.pid)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_none_outlives_the_first(busy: subprocess.Popen[str], end: signal.Signals) -> None:
    assert busy.poll() is None
    os.kill(busy.pid, end)
    busy.communicate(timeout=300)
    assert gone(busy.pid)

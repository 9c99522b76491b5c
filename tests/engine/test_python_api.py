"""kcheck as a library: the same results as the program, in any thread, without effects on the process."""

from __future__ import annotations

import ast
import gc
import inspect
import json
import resource
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.check import time_limit
from kcheck.engine.check import CheckSettings
from kcheck.finding.report import Report
from tests.cli.conftest import Program
from tests.cli.conftest import program as program
from tests.conftest import ROOT

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: web, image: "example.com/web:1", ports: [{containerPort: 99999}]}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(time_limit._signals, "allowed", False)
    return tmp_path


def rules(report: Report) -> list[str]:
    return [finding.rule for finding in report.findings]


def test_a_text_is_checked() -> None:
    report = kcheck.check_text(POD, name="pod.yaml", select="spec")
    (finding,) = report.findings
    assert (finding.rule, finding.severity, finding.file, finding.range.start) == (
        "invalid-port-number",
        kcheck.Severity.ERROR,
        "pod.yaml",
        (6, 69),
    )
    assert finding.message == "containerPort 99999 is out of range (1-65535)"
    assert (report.files, report.documents) == (1, 1)
    assert kcheck.check_text(POD.encode(), select=["spec"]).findings[0].file == "<text>"


def test_files_are_checked_as_by_the_program(program: Program) -> None:
    for name in ("bad", "good"):
        found = kcheck.check(ROOT / "examples" / name, config={})
        shown = json.loads(program("check", str(ROOT / "examples" / name), "--isolated", "--format", "json").out)
        assert [(f.file, f.rule, f.message) for f in found.findings] == [(f["file"], f["rule"], f["message"]) for f in shown["findings"]]
    assert found.files == 6


def test_settings_override_the_config(folder: Path) -> None:
    Path("pod.yaml").write_text(POD)
    Path(".kcheck.yaml").write_text("rules: {all: off, latest-tag: on}\n")
    assert rules(kcheck.check("pod.yaml")) == []
    assert "invalid-port-number" in rules(kcheck.check(["pod.yaml"], config={}))
    assert rules(kcheck.check(folder, config={"rules": {"all": "off", "invalid-port-number": "info"}})) == ["invalid-port-number"]
    assert rules(kcheck.check(folder, config={"rules": {"all": "off", "invalid-port-number": "info"}}, severity="error")) == []
    Path("other.yaml").write_text("rules: {all: off, invalid-port-number: on}\n")
    assert rules(kcheck.check("pod.yaml", config=Path("other.yaml"))) == ["invalid-port-number"]
    assert kcheck.check("pod.yaml", kubernetes="1.30-1.31").kubernetes == "1.30-1.31"
    overrides = {"overrides": [{"files": ["old/"], "kubernetes": "1.29"}]}
    assert kcheck.check_text(POD, name="old/pod.yaml", config=overrides).kubernetes == "1.29"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"select": "latest-tags"}, "unknown rule or group"),
        ({"kubernetes": "1.99"}, "unknown Kubernetes version"),
        ({"preset": "pedantic"}, "preset must be one of minimal"),
        ({"severity": "fatal"}, "severity must be one of"),
        ({"schemas": "gone"}, "schemas: no such file"),
        ({"config": "gone.yaml"}, "gone.yaml:1:1: cannot be read"),
        ({"config": {"fail-on": "never", "rule": {}}}, r"<config>:2:14: fail-on must be(.|\n)*<config>:3:3: unknown key"),
        ({"config": {"plugins": ["./rules.py"]}}, "pass --allow-local-rules"),
    ],
)
def test_invalid_settings_raise(settings: dict[str, Any], message: str) -> None:
    Path("rules.py").write_text("")
    with pytest.raises(kcheck.Error, match=message):
        kcheck.check_text(POD, **settings)


def test_other_errors_raise() -> None:
    with pytest.raises(kcheck.Error, match="no such file or folder: gone"):
        kcheck.check("gone")
    with pytest.raises(TypeError, match="unknown settings: selects"):
        kcheck.check_text(POD, selects="spec")  # type: ignore[call-arg]


@pytest.mark.slow
def test_threads_get_the_results_of_a_single_one(monkeypatch: pytest.MonkeyPatch) -> None:
    files = sorted((ROOT / "examples").rglob("*.yaml"))
    texts = [path.read_text(encoding="utf-8") for path in files]
    settings: list[CheckSettings] = [{}, {"select": "spec"}, {"kubernetes": "1.29"}, {"preset": "strict"}]
    work = [(text, each) for text in texts for each in settings]

    def check(text: str, each: CheckSettings) -> list[tuple[str, str, object]]:
        return [(f.rule, f.message, f.range) for f in kcheck.check_text(text, config={}, **each).findings]

    expected = [check(*each) for each in work]
    before = sys.getswitchinterval()
    # Threads take turns as often as possible.
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            for _ in range(2):
                assert list(pool.map(lambda each: check(*each), work)) == expected
    finally:
        sys.setswitchinterval(before)
    assert gc.isenabled()


@pytest.mark.slow
def test_threads_may_check_folders_with_processes(folder: Path) -> None:
    for number in range(3):
        (folder / f"{number}.yaml").write_text(f"# {'x' * 100}\n" * 3500 + POD)
    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(lambda jobs: kcheck.check(folder, config={}, jobs=jobs, select="invalid-port-number"), (2, 1)))
    assert [len(report.findings) for report in reports] == [3, 3]


def test_the_process_is_left_as_it_was() -> None:
    def state() -> object:
        handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGVTALRM, signal.SIGPROF)]
        timers = [signal.getitimer(timer) for timer in (signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)]
        limits = resource.getrlimit(resource.RLIMIT_DATA)
        return handlers, timers, limits, gc.isenabled(), sys.getrecursionlimit(), threading.active_count()

    before = state()
    kcheck.check(ROOT / "examples", config={})
    assert state() == before


def test_a_text_that_takes_too_long_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_arguments: object) -> None:
        while True:
            pass

    monkeypatch.setattr(time_limit, "BASE", 0.1)
    from kcheck.check import file

    monkeypatch.setattr(file, "read_ignores", endless)
    assert rules(kcheck.check_text(POD, config={})) == ["internal-error"]


def test_the_stub_names_what_the_module_has() -> None:
    tree = ast.parse((ROOT / "kcheck/__init__.pyi").read_text(encoding="utf-8"))
    names = {alias.asname: (node.module, alias.name) for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert {*names, "__version__"} == set(kcheck.__all__)
    for name, (module, attribute) in names.items():
        assert getattr(kcheck, str(name)) is getattr(sys.modules[str(module)], attribute)
    # The package kcheck.check does not replace the function.
    __import__("kcheck.check.file")

    assert inspect.isfunction(kcheck.check)
    with pytest.raises(AttributeError, match="has no attribute 'lint'"):
        kcheck.lint  # type: ignore[attr-defined]  # noqa: B018

"""The rule internal-error: a rule that fails is reported, and the others go on. So do plug-ins that fail as a whole."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kcheck.api import Problem, Resource, rule
from kcheck.reporters import Reporter
from tests.cli.conftest import BAD_POD, Program

Install = Callable[..., None]


@rule("acme/clumsy", "a rule that fails")
def clumsy(resource: Resource) -> Iterator[Problem]:
    yield Problem(resource["kind"], "seen")
    raise ZeroDivisionError("of all things")


@pytest.fixture(autouse=True)
def file(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(BAD_POD)


def _install_clumsy(plug_in: Install) -> None:
    # A rule belongs to the module that defines it.
    plug_in(__name__, clumsy=clumsy)


def test_a_failing_rule_is_named_and_the_rest_is_reported(program: Program, plug_in: Install) -> None:
    _install_clumsy(plug_in)
    found = program("check", "bad.yaml", "--select", "acme/clumsy,invalid-port-number", "--format", "json", "--severity", "error")
    assert found.code == 2
    findings = {f["rule"]: f["message"] for f in json.loads(found.out)["findings"]}
    assert findings.keys() == {"internal-error", "invalid-port-number"}
    assert findings["internal-error"] == 'rule acme/clumsy failed on Pod "web": ZeroDivisionError: of all things'


def test_it_cannot_be_ignored_but_the_rule_can(program: Program, plug_in: Install) -> None:
    _install_clumsy(plug_in)
    assert program("check", "bad.yaml", "--select", "acme/clumsy", "--ignore", "internal-error", "--fail-on", "error").code == 2
    assert program("check", "bad.yaml", "--select", "acme/clumsy", "--ignore", "acme/clumsy").code == 0


def test_a_plug_in_that_does_not_load_is_named(program: Program, plug_in: Install) -> None:
    def load() -> object:
        raise ImportError("no module named acme")

    plug_in("acme", load)
    found = program("check", "bad.yaml", "--select", "invalid-port-number", "--format", "concise")
    assert found.code == 2
    assert "invalid-port-number" in found.out
    assert found.err == "kcheck: plug-in acme could not be loaded: ImportError: no module named acme\n"
    listed = program("rules", "--select", "invalid-port-number")
    assert (listed.code, listed.out.count("invalid-port-number")) == (2, 1)
    assert "acme" in listed.err


def test_a_plug_in_with_an_unknown_group_adds_nothing_and_is_named_in_every_run(
    program: Program, plug_in: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @rule("acme/first", "a rule that is valid")
    def first(resource: Resource) -> Iterator[Problem]:
        yield Problem(resource["kind"], "seen")

    @rule("acme/second", "a rule of an unknown group", groups=("imagez",))
    def second(resource: Resource) -> Iterator[Problem]:
        yield Problem(resource["kind"], "seen")

    monkeypatch.setenv("KCHECK_NO_CACHE", "")
    monkeypatch.setenv("KCHECK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("kcheck.run.run.CACHE_MIN_CHARS", 1)
    plug_in(__name__, first=first, second=second)
    runs = [program("check", "bad.yaml", "--format", "concise") for _ in range(3)]
    assert {run.code for run in runs} == {2}
    assert {run.out for run in runs} == {runs[0].out}
    assert "acme/first" not in runs[0].out
    message = (
        f"kcheck: plug-in {__name__} could not be loaded: ValueError: rule acme/second: unknown group 'imagez'; did you mean \"images\"?\n"
    )
    assert [run.err for run in runs] == [message] * 3


def test_a_reporter_that_fails_is_named(program: Program, plug_in: Install) -> None:
    def write(report: object, out: object, style: object) -> None:
        raise KeyError("column")

    plug_in("acme", reporters=[Reporter("acme-csv", write)])
    found = program("check", "bad.yaml", "--format", "acme-csv")
    assert (found.code, found.out) == (2, "")
    assert "reporter acme-csv failed: KeyError: 'column'" in found.err


def test_our_own_mistakes_end_with_2(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> object:
        raise RuntimeError("broken")

    monkeypatch.setattr("kcheck.cli.input.run_pipeline", broken)
    found = program("check", "bad.yaml")
    assert found.code == 2
    assert "RuntimeError: broken" in found.err
    assert "this is a bug in kcheck" in found.err

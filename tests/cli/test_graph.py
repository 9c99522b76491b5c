"""`kcheck graph`"""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import BAD_POD, POD, Program
from tests.relations.world import service, workload


def test_the_graph_of_a_file(program: Program) -> None:
    Path("a.yaml").write_text(service() + workload())
    done = program("graph", "a.yaml", "--select", "spec")
    assert done.code == 0
    assert done.out.splitlines()[:4] == ["no namespace", "", "Service/web  a.yaml:3", "└─ selects  Deployment/web"]
    assert "\x1b" not in done.out
    assert "\x1b[1m" in program("graph", "a.yaml", "--color", "always").out


def test_findings_are_shown_and_change_nothing(program: Program) -> None:
    Path("a.yaml").write_text(BAD_POD)
    done = program("graph", "a.yaml", "--select", "spec")
    assert done.code == 0
    assert "Pod/web  a.yaml:4  1 error" in done.out
    assert "1 error" not in program("graph", "a.yaml", "--ignore", "spec").out


def test_standard_input(program: Program) -> None:
    done = program("graph", "-", "--format", "json", stdin=POD.encode())
    assert [n["id"] for n in json.loads(done.out)["nodes"]] == ["Pod/web"]


def test_output(program: Program) -> None:
    Path("a.yaml").write_text(POD)
    assert program("graph", "a.yaml", "--format", "html", "--output", "graph.html").out == ""
    assert Path("graph.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    done = program("graph", "a.yaml", "--output", "nowhere/graph.html")
    assert (done.code, 'folder "nowhere" does not exist' in done.err) == (2, True)


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        (["--kind", "Service"], ["Service/web"]),
        (["--kind", "service", "--kind", "Deployment"], ["Service/web", "Deployment.apps/web", "Deployment.apps/shop/other"]),
        (["-n", "shop"], ["Deployment.apps/shop/other"]),
        (["--focus", "Service/web"], ["Service/web", "Deployment.apps/web"]),
        (["--focus", "Service/web", "--depth", "0"], ["Service/web"]),
    ],
)
def test_parts(program: Program, flags: list[str], names: list[str]) -> None:
    Path("a.yaml").write_text(service() + workload() + workload("other", "app: other", metadata=", namespace: shop"))
    done = program("graph", "a.yaml", "--format", "json", *flags)
    assert [n["id"] for n in json.loads(done.out)["nodes"]] == names


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--kind", "Servce"], 'unknown kind "Servce"; did you mean "Service"?'),
        (["--focus", "Service/wb"], 'unknown object "Service/wb"; did you mean "Service/web"?'),
        (["--namespace", "x"], 'unknown namespace "x"; the input has no namespace'),
        (["--format", "svg"], "'svg' is not one of"),
        (["--select", "nothing"], "unknown rule or group"),
    ],
)
def test_what_there_is_not(program: Program, flags: list[str], message: str) -> None:
    Path("a.yaml").write_text(service() + workload())
    done = program("graph", "a.yaml", *flags)
    assert done.code == 2
    assert message in done.err


def test_what_could_not_be_read(program: Program) -> None:
    Path("a.yaml").write_text(POD)
    Path("b.yaml").write_bytes(b"\xff\xfe\x00\xd8")
    assert program("graph", "a.yaml", "b.yaml").code == 2

"""tools/new_rule.py writes what the page tests refuse until it is filled in."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from kcheck.rule.rule import Rule
from kcheck.testing import check, pages
from tests.conftest import load_tool

MODULE = '''\
"""Probes."""

from __future__ import annotations

from collections.abc import Iterable

from kcheck.api import ERROR, Node, names


def old(nodes: Iterable[Node]) -> str:
    return f"{ERROR}{names}{nodes}"
'''


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return load_tool("new_rule")


@pytest.mark.parametrize(
    ("arguments", "subject", "selected"),
    [
        (["--type", "core/v1 Container"], "Container", ("core/v1 Container", "core/v1 EphemeralContainer")),
        (["--type", "core/v1 Probe", "core/v1 Lifecycle"], "Node", ("core/v1 Probe", "core/v1 Lifecycle")),
        (["--kind", "apps Deployment", "--group", "workloads"], "Resource", {"apps Deployment"}),
        (["--facts", "references"], "Facts", ("references",)),
    ],
)
@pytest.mark.parametrize("before", ["", MODULE])
def test_the_skeleton_is_a_rule_that_fails(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], subject: str, selected: object, before: str
) -> None:
    folder = tmp_path / "acme_new"
    folder.mkdir()
    if before:
        (folder / "probes.py").write_text(before, encoding="utf-8")
    assert tool.main(["acme_new/probes", "new-thing", "A new thing", *arguments], tmp_path) == 0
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("acme_new", "acme_new.probes"):
        sys.modules.pop(name, None)
    made = import_module("acme_new.probes")
    assert isinstance(made.new_thing, Rule)
    assert made.new_thing.subject.__name__ == subject
    assert selected in (made.new_thing.types, made.new_thing.kinds, made.new_thing.facts)
    lint = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E,F,I", "--line-length", "140", str(folder)]
    ignored = ["--ignore", "F401"] if before else []
    assert subprocess.run([*lint, *ignored], capture_output=True, check=False).returncode == 0
    with pytest.raises(NotImplementedError):
        list(made.new_thing.function(*[None] * (2 if subject == "Facts" else 1)))


def test_the_page_has_the_fixed_headings_and_does_not_pass(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "acme_page").mkdir()
    assert tool.main(["acme_page/probes", "new-page", "A new thing", "--type", "core/v1 Container"], tmp_path) == 0
    page = (tmp_path / "acme_page" / "pages" / "new-page.md").read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if line.startswith("#")] == ["# new-page", *(f"## {each}" for each in tool.HEADINGS)]
    module = tmp_path / "acme_page" / "probes.py"
    module.write_text(module.read_text(encoding="utf-8").replace('"new-page"', '"acme/new-page"'), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    cases = pages(import_module("acme_page.probes"))
    assert cases
    for case in cases:
        if case.example is None:
            with pytest.raises(AssertionError):
                check(case)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["naked-pod", "--kind", "core Pod"], "exists"),
        (["New_Thing", "--kind", "core Pod"], "not a valid id"),
        (["new-thing", "--kind", "core Pdo"], 'did you mean "Pod"'),
        (["new-thing", "--type", "core/v1 Contaner"], 'did you mean "core/v1 Container"'),
        (["new-thing", "--facts", "pod"], 'did you mean "pods"'),
        (["new-thing", "--kind", "core Pod", "--group", "probs"], 'did you mean "probes"'),
    ],
)
def test_what_is_refused(tool: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert tool.main(["probes", arguments[0], "A new thing", *arguments[1:]], tmp_path) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []

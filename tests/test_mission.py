"""MISSION.md against the rules that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kcheck.rule.page import read_page
from kcheck.rule.registry import Registry

ROOT = Path(__file__).resolve().parents[1]
STATEMENTS = ROOT.parent / "shared" / "mission.md"
_ROW = re.compile(r"^\| ([LCEA]\d+) \| (.*?) \| (.*?) \|$", re.MULTILINE)
_ID = re.compile(r"`([a-z0-9-]+)`")


def rows() -> dict[str, tuple[str, list[str]]]:
    return {line: (statement, _ID.findall(rules)) for line, statement, rules in _ROW.findall((ROOT / "MISSION.md").read_text())}


def test_every_line_names_rules_with_pages() -> None:
    registry = Registry.load()
    assert rows()
    for line, (_, ids) in rows().items():
        assert ids, line
        for id in ids:
            assert id in registry.rules, f"{line}: there is no rule {id}"
            # tests/test_pages.py sees that each page has an example that fires.
            assert registry.page(registry.rules[id]) is not None, f"{line}: {id} has no page"


def test_lines_that_the_server_refuses_have_spec_rules() -> None:
    registry = Registry.load()
    for line, (statement, ids) in rows().items():
        if statement.startswith("[spec]"):
            assert any(registry.rules[id].family == "spec" for id in ids), line


def test_every_line_has_an_example_that_fires() -> None:
    registry = Registry.load()
    for line, (_, ids) in rows().items():
        shown = [page for id in ids if (page := registry.page(registry.rules[id])) is not None and _draws(page)]
        assert shown, f"{line}: no page of {', '.join(ids)} shows a finding"


def _draws(page: Path) -> bool:
    return any(example.drawings for example in read_page(page.read_text(encoding="utf-8")).examples)


def test_no_line_is_left_out() -> None:
    """The source documents have these lines; of L13 nothing can be checked."""
    lines = {*_numbered("L", 14), *_numbered("C", 26), *_numbered("E", 7), *_numbered("A", 13)} - {"L13"}
    assert rows().keys() == lines


def _numbered(letter: str, last: int) -> set[str]:
    return {f"{letter}{number}" for number in range(1, last + 1)}


@pytest.mark.skipif(not STATEMENTS.is_file(), reason="the source statements are not beside this checkout")
def test_the_lines_are_those_of_the_source() -> None:
    statements = dict(re.findall(r"^- ([LCEA]\d+) (\[spec\])?", STATEMENTS.read_text(encoding="utf-8"), re.MULTILINE))
    assert rows().keys() == statements.keys()
    assert {line for line, spec in statements.items() if spec} <= {line for line, (text, _) in rows().items() if text.startswith("[spec]")}

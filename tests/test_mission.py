"""MISSION.md against the rules that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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


@pytest.mark.skipif(not STATEMENTS.is_file(), reason="the source statements are not beside this checkout")
def test_no_refused_statement_is_left_out() -> None:
    refused = set(re.findall(r"^- ([LCEA]\d+) \[spec\]", STATEMENTS.read_text(encoding="utf-8"), re.MULTILINE))
    assert refused - rows().keys() == set()

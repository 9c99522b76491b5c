"""Which rules replace a check of another tool.

`equivalents.json` has the checks that are known, by "tool/check": the ids of our rules, and the numbers of the ideas in
`tools/coverage.yaml` that the check belongs to. A check without rules is known and has no counterpart.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TypedDict

from kcheck.rule.rule import Rule

FILE = Path(__file__).with_name("equivalents.json")


class EquivalentsEntry(TypedDict):
    """What the file says of a check."""

    rules: list[str]
    ideas: list[int]


@cache
def entries() -> dict[str, EquivalentsEntry]:
    """The file's checks, in its order."""
    found: dict[str, EquivalentsEntry] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def equivalents(rules: Iterable[Rule]) -> dict[str, tuple[str, ...]]:
    """By check of another tool, sorted: the ids of those of these rules that replace it, sorted. Rules of plug-ins name their checks."""
    rules = list(rules)
    ids = {rule.id for rule in rules}
    found = {check: {id for id in entry["rules"] if id in ids} for check, entry in entries().items()}
    for rule in rules:
        for check in rule.equivalents:
            found.setdefault(check, set()).add(rule.id)
    return {check: tuple(sorted(of)) for check, of in sorted(found.items()) if of}


def equivalents_of(rule: Rule) -> tuple[str, ...]:
    """The checks of other tools that a rule replaces, sorted."""
    return tuple(equivalents([rule]))

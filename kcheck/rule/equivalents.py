"""Checks of other tools and the rules that replace them.

`equivalents.json` lists the known checks by "tool/check". Each entry has the ids of the kcheck rules that replace the check and the
numbers of the ideas in `tools/coverage.yaml` that it belongs to. A check without rules is known but has no counterpart.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NotRequired, TypedDict

from kcheck.rule.rule import Rule

FILE = Path(__file__).with_name("equivalents.json")


class EquivalentsEntry(TypedDict):
    """One entry of the file. `default`: whether the other tool runs the check by default; recorded for the tools of the presets."""

    default: NotRequired[bool]
    rules: list[str]
    ideas: list[int]


@cache
def entries() -> dict[str, EquivalentsEntry]:
    """Return the entries of `equivalents.json` in file order."""
    found: dict[str, EquivalentsEntry] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def equivalents(rules: Iterable[Rule]) -> dict[str, tuple[str, ...]]:
    """Return, by check of another tool (sorted), the sorted ids of the given rules that replace it.

    Checks declared by plug-in rules are included.
    """
    rules = list(rules)
    ids = {rule.id for rule in rules}
    found = {check: {id for id in entry["rules"] if id in ids} for check, entry in entries().items()}
    for rule in rules:
        for check in rule.equivalents:
            found.setdefault(check, set()).add(rule.id)
    return {check: tuple(sorted(of)) for check, of in sorted(found.items()) if of}


def equivalents_of(rule: Rule) -> tuple[str, ...]:
    """Return the checks of other tools that a rule replaces, sorted."""
    return tuple(equivalents([rule]))


def rules_of_default_checks(tools: Iterable[str]) -> set[str]:
    """Return the ids of the rules that replace the checks which the given tools run by default."""
    tools = set(tools)
    return {id for check, entry in entries().items() if entry.get("default") and check.split("/")[0] in tools for id in entry["rules"]}

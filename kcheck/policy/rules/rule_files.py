"""The short rules of a run: their files, and the errors in them."""

from __future__ import annotations

from collections.abc import Iterable

from kcheck.policy.rules.definitions import InvalidRules, ShortRule
from kcheck.policy.rules.rule_reader import read_rules
from kcheck.schema.store import Store
from kcheck.text.mistake import Mistake
from kcheck.text.source import Source
from kcheck.yaml.parse import parse


def rules_in(files: Iterable[tuple[str, str]]) -> list[ShortRule]:
    """Return the rules in files (paths and contents), which `check_rule_files` has checked."""
    return [rule for path, text in files for rule in read_rules(Source(path, text), parse)[0]]


def check_rule_files(files: Iterable[tuple[str, str]], store: Store) -> list[ShortRule]:
    """Return the rules in files (paths and contents). Raises InvalidRules with all errors in them.

    `store`: the kinds of the newest Kubernetes version, which the expressions are checked against.
    """
    from kcheck.policy.rules.programs import check_rule

    rules: list[ShortRule] = []
    mistakes: list[Mistake] = []
    places: dict[str, str] = {}
    for path, text in files:
        found, faults = read_rules(Source(path, text), parse)
        mistakes += faults
        for rule in found:
            line, column = rule.source.position(rule.node["id"].start)
            if rule.id in places:
                mistakes.append(Mistake(path, line, column, f'id "{rule.name}" is used before, in {places[rule.id]}'))
            places.setdefault(rule.id, f"{path}:{line}")
            mistakes += check_rule(rule, store)
        rules += found
    if mistakes:
        raise InvalidRules(mistakes)
    return rules

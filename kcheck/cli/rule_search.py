"""Search for rules by id, title, API field, and by equivalent checks of other tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import click

from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.rule.equivalents import equivalents
from kcheck.rule.registry import Registry
from kcheck.rule.rule import Rule
from kcheck.text.pattern import pattern

_DIGITS = pattern(r"\d")
_WORD_BREAKS = pattern(r"[\s_./-]+")


def rules_matching(word: str, among: Iterable[Rule], registry: Registry) -> list[Rule]:
    """Returns the rules that contain a text in their id, title, groups, options, API types or fields, or in an equivalent check of another
    tool.

    The search ignores case, spaces, hyphens and underscores: "read only" finds readOnlyRootFilesystem.
    """
    rules = list(among)
    wanted = _folded(word)
    aliases = checks_by_rule(rules)
    fields = _fields_by_rule(registry)
    return [rule for rule in rules if any(wanted in _folded(text) for text in _texts_of(rule, aliases, fields))]


def _texts_of(rule: Rule, aliases: Mapping[str, Iterable[str]], fields: Mapping[str, Iterable[str]]) -> list[str]:
    return [rule.id, rule.title, *rule.groups, *rule.options, *rule.types, *aliases.get(rule.id, ()), *fields.get(rule.id, ())]


def _folded(text: str) -> str:
    return _WORD_BREAKS.sub("", text).lower()


def _fields_by_rule(registry: Registry) -> dict[str, set[str]]:
    """Returns the API fields and types that the declaration of each rule names, by rule id."""
    found: dict[str, set[str]] = {}
    for rule in registry.rules.values():
        named = rule.fields
        names = [each for several in named.values() for each in several] if isinstance(named, Mapping) else list(named)
        found[rule.id] = {*names, *rule.kinds, *rule.references}
    for validator in registry.validators:
        found.setdefault(validator.rule.id, set()).update([*validator.types, *validator.fields])
    for table in registry.tables:
        for field, constraints in table.load().fields.items():
            for constraint in constraints:
                found.setdefault(constraint.rule.id, set()).update([field, *table.types])
    return found


def checks_by_rule(rules: Iterable[Rule]) -> dict[str, list[str]]:
    """Returns the checks of other tools that each rule replaces, by rule id."""
    table: dict[str, list[str]] = {}
    for check, ids in equivalents(rules).items():
        for id in ids:
            table.setdefault(id, []).append(check)
    return table


def rules_like(name: str, among: Iterable[Rule]) -> dict[str, list[Rule]]:
    """Returns the rules that replace the checks of a tool ("kube-linter") or one check ("kube-linter/latest-tag"), by check.

    Raises UsageError for an unknown tool or check.
    """
    rules = {rule.id: rule for rule in among}
    known = {check: [rules[id] for id in ids] for check, ids in equivalents(rules.values()).items()}
    if name in known:
        return {name: known[name]}
    tool, slash, _ = name.partition("/")
    of_tool = {check: known[check] for check in known if check.startswith(f"{tool}/")}
    if of_tool and not slash:
        return of_tool
    what, candidates = ("check", list(of_tool)) if of_tool else ("tool", sorted({check.partition("/")[0] for check in known}))
    # CKV_K8S_14 and CKV_K8S_15 are different checks: a different number is not a typo.
    near = nearest(name if of_tool else tool, [each for each in candidates if _DIGITS.findall(each) == _DIGITS.findall(name)])
    see = f"see kcheck rules --like {tool}" if of_tool else f"use one of {', '.join(candidates)}"
    hint = did_you_mean(near, see)
    raise click.UsageError(f'--like: unknown {what} "{name}"; {hint}')


def rules_of_check(name: str, registry: Registry) -> dict[str, list[Rule]]:
    """Returns the rules that replace a check of another tool, by "tool/check". `name` may omit the tool ("CKV_K8S_16"); case is ignored."""
    wanted = name.lower()
    return {
        check: [registry.rules[id] for id in ids]
        for check, ids in equivalents(registry.rules.values()).items()
        if wanted in (check.lower(), check.lower().partition("/")[2])
    }

"""Finding rules: by a word of their id, title, aliases and API fields, and by the checks of other tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import click

from kcheck.kube.suggestions import nearest
from kcheck.rule.equivalents import equivalents
from kcheck.rule.registry import Registry
from kcheck.rule.rule import Rule
from kcheck.text.pattern import pattern

_DIGITS = pattern(r"\d")
_WORD_BREAKS = pattern(r"[\s_./-]+")


def rules_matching(word: str, among: Iterable[Rule], registry: Registry) -> list[Rule]:
    """The rules that have a word in their id, title, groups, aliases (checks of other tools), options, API types or fields, in any case.

    Spaces, hyphens and underscores are equal: "read only" finds readOnlyRootFilesystem.
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
    """The API fields and types that each rule reads, as far as its declaration names them."""
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
    """Ids of rules with the checks of other tools that they replace."""
    table: dict[str, list[str]] = {}
    for check, ids in equivalents(rules).items():
        for id in ids:
            table.setdefault(id, []).append(check)
    return table


def rules_like(name: str, among: Iterable[Rule]) -> dict[str, list[Rule]]:
    """The rules that replace each check of a tool ("kube-linter"), or one of its checks ("kube-linter/latest-tag").

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
    # A check with another number is another check, not a typo.
    near = nearest(name if of_tool else tool, [each for each in candidates if _DIGITS.findall(each) == _DIGITS.findall(name)])
    see = f"see kcheck rules --like {tool}" if of_tool else f"use one of {', '.join(candidates)}"
    raise click.UsageError(f"--like: unknown {what} {name!r}: {f'did you mean {near}?' if near else see}")


def rules_of_check(name: str, registry: Registry) -> dict[str, list[Rule]]:
    """The rules that replace a check of another tool, by "tool/check"; its tool may be left out ("CKV_K8S_16"), case does not matter."""
    wanted = name.lower()
    return {
        check: [registry.rules[id] for id in ids]
        for check, ids in equivalents(registry.rules.values()).items()
        if wanted in (check.lower(), check.lower().partition("/")[2])
    }

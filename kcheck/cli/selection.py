"""Rules and groups as the command line names them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import click

from kcheck.kube.suggestion import nearest
from kcheck.reporters import REPORTERS
from kcheck.rule.registry import Registry
from kcheck.rule.rule import Rule


def tell_failures(registry: Registry) -> None:
    """Name the plug-ins that could not be loaded; the exit status of a check is 2 then, for their rules did not run."""
    for failure in registry.failures:
        click.echo(f"kcheck: the plug-in {failure.name} could not be loaded: {failure.reason}", err=True)


def read_names(words: Iterable[str], registry: Registry, flag: str) -> tuple[str, ...]:
    """The ids and groups of a repeatable flag that takes lists, too. Raises UsageError for one that there is not."""
    names = [name for word in words for part in word.split(",") if (name := part.strip())]
    for name in names:
        if name not in registry.rules and name not in registry.groups:
            raise click.UsageError(f"{flag}: {unknown_name(name, registry)}")
    return tuple(names)


def find_rule(name: str, registry: Registry) -> Rule:
    """The rule of an id. Raises UsageError."""
    rule = registry.rules.get(name)
    if rule is not None:
        return rule
    if name in registry.groups:
        raise click.UsageError(f"{name} is a group of rules: see kcheck rules --select {name}")
    raise click.UsageError(unknown_name(name, registry, groups=False))


def unknown_name(name: str, registry: Registry, groups: bool = True) -> str:
    """What to say of a name that is no rule (and no group)."""
    what = "rule or group" if groups else "rule"
    near = nearest(name, [*registry.rules, *(registry.groups if groups else ())])
    if near:
        return f"no {what} {name!r}: did you mean {near}?"
    if "/" in name:
        return f"no {what} {name!r}: is the plug-in installed that brings it?"
    return f"no {what} {name!r}: see kcheck rules"


def types_of(rule: Rule, registry: Registry) -> list[str]:
    """The API types that a rule looks at, by itself or through the tables and checks under its id."""
    types = set(rule.types)
    types.update(t for validator in registry.validators if validator.rule.id == rule.id for t in validator.types)
    for table in registry.tables:
        if any(constraint.rule.id == rule.id for constraints in table.load().fields.values() for constraint in constraints):
            types.update(table.types)
    return sorted(types)


def complete_rules(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Completions of a rule's id."""
    rules = Registry.load().rules
    return _completions({id: rule.title for id, rule in sorted(rules.items()) if id.startswith(incomplete)})


def complete_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Completions of ids and groups, the last of a list."""
    before, comma, word = incomplete.rpartition(",")
    registry = Registry.load()
    titles = dict.fromkeys(registry.groups, "group") | {id: rule.title for id, rule in registry.rules.items()}
    return _completions({f"{before}{comma}{name}": title for name, title in sorted(titles.items()) if name.startswith(word)})


def complete_formats(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Completions of a report's format."""
    return _completions({name: None for name in (*REPORTERS, *sorted(Registry.load().reporters)) if name.startswith(incomplete)})


def _completions(words: Mapping[str, str | None]) -> list[Any]:
    """Words with what they mean, as click's CompletionItems."""
    # A run completes nothing.
    from click.shell_completion import CompletionItem

    return [CompletionItem(word, help=meaning) for word, meaning in words.items()]

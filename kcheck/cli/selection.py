"""Rules and groups as the command line names them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import click

from kcheck.kube.suggestions import nearest
from kcheck.reporters import reporters
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
    raise click.UsageError(unknown_name(name, registry))


def unknown_name(name: str, registry: Registry) -> str:
    """What to say of a name that is neither a rule nor a group."""
    near = nearest(name, [*registry.rules, *registry.groups])
    if near:
        return f"no rule or group {name!r}: did you mean {near}?"
    if "/" in name:
        return f"no rule or group {name!r}: is the plug-in installed that brings it?"
    return f"no rule or group {name!r}: see kcheck rules"


def types_of(rule: Rule, registry: Registry) -> list[str]:
    """The API types that a rule looks at, by itself or through the tables and checks under its id."""
    types = set(rule.types)
    types.update(t for validator in registry.validators if validator.rule.id == rule.id for t in validator.types)
    for table in registry.tables:
        if any(constraint.rule.id == rule.id for constraints in table.load().fields.values() for constraint in constraints):
            types.update(table.types)
    return sorted(types)


def complete_rules(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Completions of a rule's id or a group."""
    return _completions({name: title for name, title in _titles(Registry.load()).items() if name.startswith(incomplete)})


def complete_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Completions of ids and groups, the last of a list."""
    before, comma, word = incomplete.rpartition(",")
    titles = _titles(Registry.load())
    return _completions({f"{before}{comma}{name}": title for name, title in titles.items() if name.startswith(word)})


def _titles(registry: Registry) -> dict[str, str]:
    """What rules and groups are about, by name."""
    groups = {name: f"group: {registry.describe_group(name)}" for name in registry.groups}
    return dict(sorted((groups | {id: rule.title for id, rule in registry.rules.items()}).items()))


def complete_formats(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Completions of a report's format."""
    known = reporters(Registry.load().reporters)
    return _completions({name: each.help for name, each in known.items() if name.startswith(incomplete)})


def _completions(words: Mapping[str, str | None]) -> list[Any]:
    """Words with what they mean, as click's CompletionItems."""
    # A run completes nothing.
    from click.shell_completion import CompletionItem

    return [CompletionItem(word, help=meaning) for word, meaning in words.items()]

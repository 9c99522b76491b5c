"""Rule and group names on the command line: validation and completion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import click

from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.reporters import reporters
from kcheck.rule.registry import Registry
from kcheck.rule.rule import Rule


def report_plugin_failures(registry: Registry) -> None:
    """Prints the plug-ins that could not be loaded. The exit status of a check is then 2, because their rules did not run."""
    for failure in registry.failures:
        click.echo(f"kcheck: plug-in {failure.name} could not be loaded: {failure.reason}", err=True)


def read_names(words: Iterable[str], registry: Registry, flag: str) -> tuple[str, ...]:
    """Returns the rule ids and groups of an option that accepts lists and may be repeated. Raises UsageError for unknown names."""
    names = [name for word in words for part in word.split(",") if (name := part.strip())]
    for name in names:
        if name not in registry.rules and name not in registry.groups:
            raise click.UsageError(f"{flag}: {unknown_name(name, registry)}")
    return tuple(names)


def find_rule(name: str, registry: Registry) -> Rule:
    """Returns a rule by its id. Raises UsageError for an unknown id."""
    rule = registry.rules.get(name)
    if rule is not None:
        return rule
    raise click.UsageError(unknown_name(name, registry))


def unknown_name(name: str, registry: Registry) -> str:
    """Returns the message for a name that is neither a rule nor a group."""
    near = nearest(name, [*registry.rules, *registry.groups])
    if near:
        return f'unknown rule or group "{name}"; {did_you_mean(near)}'
    if "/" in name:
        return f'unknown rule or group "{name}"; check that its plug-in is installed'
    return f'unknown rule or group "{name}"; see kcheck rules'


def types_of(rule: Rule, registry: Registry) -> list[str]:
    """Returns the API types that a rule applies to, by its declaration, validators and field tables."""
    types = set(rule.types)
    types.update(t for validator in registry.validators if validator.rule.id == rule.id for t in validator.types)
    for table in registry.tables:
        if any(constraint.rule.id == rule.id for constraints in table.load().fields.values() for constraint in constraints):
            types.update(table.types)
    return sorted(types)


def complete_rules(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Completes a rule id or group."""
    return _completions({name: title for name, title in _titles(Registry.load()).items() if name.startswith(incomplete)})


def complete_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Completes the last item of a comma-separated list of rule ids and groups."""
    before, comma, word = incomplete.rpartition(",")
    titles = _titles(Registry.load())
    return _completions({f"{before}{comma}{name}": title for name, title in titles.items() if name.startswith(word)})


def _titles(registry: Registry) -> dict[str, str]:
    """Returns the titles of rules and descriptions of groups, by name."""
    groups = {name: f"group: {registry.describe_group(name)}" for name in registry.groups}
    return dict(sorted((groups | {id: rule.title for id, rule in registry.rules.items()}).items()))


def complete_formats(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Completes the format of a report."""
    known = reporters(Registry.load().reporters)
    return _completions({name: each.help for name, each in known.items() if name.startswith(incomplete)})


def _completions(words: Mapping[str, str | None]) -> list[Any]:
    """Returns click's CompletionItems for words and their descriptions."""
    # Imported late: only needed for completion.
    from click.shell_completion import CompletionItem

    return [CompletionItem(word, help=meaning) for word, meaning in words.items()]

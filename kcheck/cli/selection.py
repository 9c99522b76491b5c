"""Rule and group names on the command line: validation and completion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import click

from kcheck.cli.settings import report_failures, reported_errors
from kcheck.engine.settings import known_names, unknown_name
from kcheck.reporters import reporters
from kcheck.rule.registry import Registry
from kcheck.rule.rule import Rule


def report_plugin_failures(registry: Registry) -> None:
    """Prints the plug-ins that could not be loaded. The exit status of a check is then 2, because their rules did not run."""
    report_failures(registry.failures)


def read_names(words: Iterable[str], registry: Registry, flag: str) -> tuple[str, ...]:
    """Returns the rule ids and groups of an option that accepts lists and may be repeated. Raises UsageError for unknown names."""
    with reported_errors():
        return known_names(words, registry, flag)


def find_rule(name: str, registry: Registry) -> Rule:
    """Returns a rule by its id. Raises UsageError for an unknown id."""
    rule = registry.rules.get(name)
    if rule is not None:
        return rule
    raise click.UsageError(unknown_name(name, registry))


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

"""`kcheck rules`"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence

import click
from click.shell_completion import CompletionItem

from kcheck.cli.output import wants_colour
from kcheck.cli.selection import complete_names, read_names, tell_failures, types_of
from kcheck.kube.suggestions import nearest
from kcheck.reporters.style import SEVERITY_COLOURS, Style
from kcheck.rule.equivalents import equivalents
from kcheck.rule.registry import Registry
from kcheck.rule.rule import Rule
from kcheck.text.pattern import pattern

_DIGITS = pattern(r"\d")


def complete_checks(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completions of a tool, and of its checks where the tool is complete."""
    checks = list(equivalents(Registry.load().rules.values()))
    names = checks if "/" in incomplete else sorted({check.partition("/")[0] for check in checks})
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@click.command(short_help="List the rules.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="[default: text]")
@click.option("--select", multiple=True, metavar="NAMES", shell_complete=complete_names, help="Only these rules or groups.")
@click.option(
    "--like", metavar="TOOL[/CHECK]", shell_complete=complete_checks, help="Those like the checks of another tool, such as kube-linter."
)
@click.option("--groups", is_flag=True, help="List the groups of rules.")
@click.option("--color", "colour", type=click.Choice(["auto", "always", "never"]), default="auto", help="Paint the text. [default: auto]")
def rules(format_: str, select: tuple[str, ...], like: str | None, groups: bool, colour: str) -> None:
    """List the rules, those of plug-ins among them."""
    registry = Registry.load()
    tell_failures(registry)
    names = read_names(select, registry, "--select")
    chosen = [
        registry.rules[id] for id in sorted(registry.rules) if not names or any(id == n or id in registry.groups.get(n, ()) for n in names)
    ]
    style = Style(colour=wants_colour(colour, sys.stdout))
    if groups and like is not None:
        raise click.UsageError("--groups and --like cannot be combined")
    if groups:
        data: list[dict[str, object]] = _groups(chosen, registry)
        lines = _group_table(data, style)
    elif like is not None:
        found = rules_like(like, chosen)
        data = [{"check": check, "rules": [rule.id for rule in of]} for check, of in found.items()]
        lines = _like_table(found, style)
    else:
        checks = _checks_by_rule(chosen) if format_ == "json" else {}
        data = [_data(rule, registry, checks.get(rule.id, ())) for rule in chosen] if format_ == "json" else []
        lines = rule_table(chosen, style)
    if format_ == "json":
        click.echo(json.dumps(data, indent=1))
    else:
        for line in lines:
            click.echo(line, color=True)
    sys.exit(2 if registry.failures else 0)


def rules_like(name: str, among: Iterable[Rule]) -> dict[str, list[Rule]]:
    """The rules that stand for each check of a tool ("kube-linter"), or for one of its checks ("kube-linter/latest-tag").

    Raises UsageError for a tool or check that no rule is like.
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
    # Another number is another check, not a slip.
    near = nearest(name if of_tool else tool, [each for each in candidates if _DIGITS.findall(each) == _DIGITS.findall(name)])
    see = f"see kcheck rules --like {tool}" if of_tool else f"write one of {', '.join(candidates)}"
    raise click.UsageError(f"--like: no {what} {name!r}: {f'did you mean {near}?' if near else see}")


def _like_table(found: dict[str, list[Rule]], style: Style) -> list[str]:
    """One row a rule; a check that several stand for is named once."""
    rows = [
        ("" if number else check, rule.id, "on" if rule.default else "off", rule.title)
        for check, of in found.items()
        for number, rule in enumerate(of)
    ]
    head = ("check", "rule", "default", "title")
    widths = [max(map(len, column)) for column in list(zip(head, *rows, strict=True))[:-1]]
    lines = ["  ".join([*(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in (head, *rows)]
    return [style.paint(lines[0], "1"), *lines[1:]]


def _groups(rules: Sequence[Rule], registry: Registry) -> list[dict[str, object]]:
    """The groups that have some of these rules."""
    ids = {rule.id for rule in rules}
    return [
        {"group": name, "description": registry.describe_group(name), "rules": sorted(members & ids)}
        for name, members in registry.groups.items()
        if members & ids
    ]


def _group_table(groups: Sequence[dict[str, object]], style: Style) -> list[str]:
    rows = [(str(each["group"]), str(len(each["rules"])), str(each["description"])) for each in groups]  # type: ignore[arg-type]
    head = ("group", "rules", "description")
    name, number = (max(len(row[column]) for row in (head, *rows)) for column in (0, 1))
    lines = [f"{row[0]:<{name}}  {row[1]:>{number}}  {row[2]}" for row in (head, *rows)]
    return [style.paint(lines[0], "1"), *lines[1:]]


def rule_table(rules: Sequence[Rule], style: Style) -> list[str]:
    head = ("rule", "severity", "family", "default", "title")
    rows = [(r.id, r.severity.word, r.family, "on" if r.default else "off", r.title) for r in rules]
    widths = [max(map(len, column)) for column in list(zip(head, *rows, strict=True))[:-1]]
    lines = []
    for cells, colour in [(head, "1"), *zip(rows, (SEVERITY_COLOURS[r.severity] for r in rules), strict=True)]:
        padded = [f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=False)]
        if cells is head:
            lines.append(style.paint("  ".join([*padded, cells[-1]]), colour))
        else:
            padded[1] = style.paint(padded[1], colour)
            lines.append("  ".join([*padded, cells[-1]]))
    return lines


def _checks_by_rule(rules: Sequence[Rule]) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for check, ids in equivalents(rules).items():
        for id in ids:
            table.setdefault(id, []).append(check)
    return table


def _data(rule: Rule, registry: Registry, checks: Sequence[str]) -> dict[str, object]:
    page = registry.page(rule)
    return {
        "id": rule.id,
        "title": rule.title,
        "severity": rule.severity.word,
        "family": rule.family,
        "groups": sorted(rule.groups),
        "default": rule.default,
        "scope": rule.scope,
        "types": types_of(rule, registry),
        "fixable": rule.fixable,
        "like": list(checks),
        "options": [
            {
                "name": o.name.replace("_", "-"),
                "type": o.type_word,
                "default": list(o.default) if isinstance(o.default, tuple) else o.default,
                "help": o.help,
            }
            for o in rule.options.values()
        ],
        "page": page.as_uri() if page is not None else None,
    }

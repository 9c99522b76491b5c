"""`kcheck rules`"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import click

from kcheck.cli.output import wants_colour
from kcheck.cli.selection import complete_names, read_names, tell_failures, types_of
from kcheck.reporters.style import SEVERITY_COLOURS, Style
from kcheck.rule.registry import Registry
from kcheck.rule.rule import Rule


@click.command(short_help="List the rules.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="[default: text]")
@click.option("--select", multiple=True, metavar="NAMES", shell_complete=complete_names, help="Only these rules or groups.")
@click.option("--color", "colour", type=click.Choice(["auto", "always", "never"]), default="auto", help="Paint the text. [default: auto]")
def rules(format_: str, select: tuple[str, ...], colour: str) -> None:
    """List the rules, those of plug-ins among them."""
    registry = Registry.load()
    tell_failures(registry)
    names = read_names(select, registry, "--select")
    chosen = [
        registry.rules[id] for id in sorted(registry.rules) if not names or any(id == n or id in registry.groups.get(n, ()) for n in names)
    ]
    if format_ == "json":
        click.echo(json.dumps([_data(rule, registry) for rule in chosen], indent=1))
    else:
        for line in _table(chosen, Style(colour=wants_colour(colour, sys.stdout))):
            click.echo(line, color=True)
    sys.exit(2 if registry.failures else 0)


def _table(rules: Sequence[Rule], style: Style) -> list[str]:
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


def _data(rule: Rule, registry: Registry) -> dict[str, object]:
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
        "like": list(rule.like),
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

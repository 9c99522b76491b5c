"""`kcheck rules`"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from typing import TextIO

import click
from click.shell_completion import CompletionItem

from kcheck.cli.options import local_rules_option
from kcheck.cli.output import wants_colour
from kcheck.cli.rule_search import checks_by_rule, rules_like, rules_matching
from kcheck.cli.selection import complete_names, read_names, types_of
from kcheck.cli.settings import load_registry
from kcheck.reporters.style import SEVERITY_COLOURS, Style
from kcheck.rule.equivalents import equivalents
from kcheck.rule.presets import PRESETS
from kcheck.rule.registry import Registry
from kcheck.rule.rule import Rule


def complete_checks(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completes the name of a tool, and of its checks after the slash."""
    checks = list(equivalents(Registry.load().rules.values()))
    names = checks if "/" in incomplete else sorted({check.partition("/")[0] for check in checks})
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@click.command(short_help="List or search the rules.")
@click.argument("pattern", required=False, default="")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="Output format. [default: text]")
@click.option("--select", multiple=True, metavar="NAMES", shell_complete=complete_names, help="List only these rules or groups.")
@click.option("--preset", type=click.Choice(list(PRESETS)), help="List only the rules of this preset.")
@click.option(
    "--like",
    metavar="TOOL[/CHECK]",
    shell_complete=complete_checks,
    help="List the rules that replace the checks of another tool, such as kube-linter.",
)
@click.option("--groups", is_flag=True, help="List the rule groups.")
@click.option(
    "--color", "colour", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to color the output. [default: auto]"
)
@local_rules_option
def rules(
    pattern: str,
    local_rules: bool | None,
    format_: str,
    select: tuple[str, ...],
    preset: str | None,
    like: str | None,
    groups: bool,
    colour: str,
) -> None:  # fmt: skip
    """List the rules by area, including the rules of plug-ins.

    With PATTERN, list only the rules that contain this text in their id, title, groups, options, API types or fields, or that replace a
    check of another tool whose name contains it.
    """
    registry = load_registry(local_rules)
    names = read_names(select, registry, "--select")
    chosen = [
        registry.rules[id] for id in sorted(registry.rules) if not names or any(id == n or id in registry.groups.get(n, ()) for n in names)
    ]
    if preset is not None:
        members = PRESETS[preset].rules(registry)
        chosen = [rule for rule in chosen if rule.id in members]
    if pattern:
        chosen = rules_matching(pattern, chosen, registry)
        if not chosen and not groups:
            raise click.UsageError(f'no rule matches "{pattern}"; see kcheck rules --groups')
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
        checks = checks_by_rule(chosen) if format_ == "json" else {}
        data = [_data(rule, registry, checks.get(rule.id, ())) for rule in chosen] if format_ == "json" else []
        lines = rule_table(chosen, style, columns_of(sys.stdout))
        lines += ["", _counts(chosen)]
    if format_ == "json":
        click.echo(json.dumps(data, indent=1))
    else:
        for line in lines:
            click.echo(line, color=True)
    sys.exit(2 if registry.failures else 0)


def _counts(rules: Sequence[Rule]) -> str:
    on, fixable = sum(rule.default for rule in rules), sum(rule.fixable for rule in rules)
    return f"{len(rules)} rule{'s' if len(rules) != 1 else ''}: {on} on by default, {fixable} fixable. Run kcheck explain RULE for details."


def columns_of(out: TextIO) -> int:
    """Returns the width of the terminal that a stream writes to; 0 if it is not a terminal."""
    return shutil.get_terminal_size().columns if out.isatty() else 0


def _like_table(found: dict[str, list[Rule]], style: Style) -> list[str]:
    """Returns a table with one row per rule. A check that several rules replace is shown in the first row only."""
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
    """Returns the groups that contain any of these rules."""
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


_AREA_TITLES = {
    "control_plane": "Control plane",
    "rbac": "RBAC",
    "crd": "CustomResourceDefinitions",
    "component_config": "Component configuration",
    "versions": "Versions and deprecations",
    "objects": "Objects and YAML",
}
_MIN_TITLE_WIDTH = 40
"""Minimum columns for the title; with fewer, it is printed on a separate line."""


def area_of(rule: Rule) -> str:
    """Returns the heading of a rule in the list: the folder of its module and its family; for rules of plug-ins the name of the package."""
    package, *folders = rule.module.split(".")
    if package not in ("kcheck_spec", "kcheck_practice") or len(folders) < 2:
        return package or "other"
    area = _AREA_TITLES.get(folders[0], folders[0].capitalize())
    return f"{area} ({rule.family})"


def rule_table(rules: Sequence[Rule], style: Style, width: int = 0) -> list[str]:
    """Returns a table of rules by area, with severity, family, whether they are on by default and fixable, and title.

    `width`: columns of the terminal, 0 for no limit. A title that does not fit in a row is printed on a separate line.
    """
    by_area: dict[str, list[Rule]] = {}
    for rule in rules:
        by_area.setdefault(area_of(rule), []).append(rule)
    longest = max((len(rule.id) for rule in rules), default=0)
    lines: list[str] = []
    for area, members in sorted(by_area.items()):
        lines += ["", style.paint(area, "1")] if lines else [style.paint(area, "1")]
        for rule in members:
            marks = f"{rule.family:<8}  {'on' if rule.default else 'off':<3}  {'fix' if rule.fixable else '':<3}"
            severity = style.paint(f"{rule.severity.word:<7}", SEVERITY_COLOURS[rule.severity])
            start = longest + len(marks) + 15
            if not width or width - start >= max(_MIN_TITLE_WIDTH, len(rule.title)):
                lines.append(f"  {rule.id:<{longest}}  {severity}  {marks}  {rule.title}")
            else:
                lines += [f"  {rule.id:<{longest}}  {severity}  {marks}".rstrip(), f"      {rule.title}"]
    return lines


def _data(rule: Rule, registry: Registry, checks: Sequence[str]) -> dict[str, object]:
    page = registry.page(rule)
    return {
        "id": rule.id,
        "title": rule.title,
        "area": area_of(rule),
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

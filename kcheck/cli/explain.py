"""`kcheck explain RULE|GROUP|CHECK`"""

from __future__ import annotations

import json
import re
import sys

import click

from kcheck.cli.options import local_rules_option
from kcheck.cli.output import wants_colour
from kcheck.cli.rule_search import rules_of_check
from kcheck.cli.rules import rule_table
from kcheck.cli.selection import complete_rules, find_rule, types_of
from kcheck.cli.settings import load_registry
from kcheck.reporters import Style
from kcheck.rule.equivalents import equivalents_of
from kcheck.rule.options import Option
from kcheck.rule.page import page_at
from kcheck.rule.registry import Registry
from kcheck.rule.rule import Rule
from kcheck.text.pattern import pattern

_SCOPES = {
    "document": "each document",
    "object": "each object",
    "change": "each changed object, with --before or --since",
    "removal": "each removed object, with --before or --since",
    "bundle": "all objects together",
    "engine": "all files",
}
_MAX_LISTED_TYPES = 6

_BOLD, _CODE, _DIM, _CARETS = "1", "36", "2", "1;33"
_CODE_WORD = pattern(r"`([^`]+)`")


@click.command(short_help="Show the documentation of a rule or group.")
@click.argument("rule", metavar="RULE|GROUP|CHECK", shell_complete=complete_rules)
@click.option(
    "--color", "colour", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to color the output. [default: auto]"
)
@local_rules_option
def explain(rule: str, local_rules: bool | None, colour: str) -> None:
    """Show the documentation of a rule: what it checks and why, examples and options. For a group, show its description and rules.

    CHECK is a check of another tool, such as kube-linter/latest-tag or CKV_K8S_14. Shows the rule that replaces it.
    """
    registry = load_registry(local_rules)
    style = Style(colour=wants_colour(colour, sys.stdout))
    if rule in registry.groups and rule not in registry.rules:
        click.echo("\n".join(_group(rule, registry, style)), color=style.colour)
        return
    found = registry.rules.get(rule)
    if found is None:
        known = rules_of_check(rule, registry)
        replacements = list({each.id: each for several in known.values() for each in several}.values())
        if len(replacements) > 1:
            lines = [
                style.paint(f"# {', '.join(known)}", _BOLD),
                "",
                "This check is replaced by the following rules:",
                "",
                *rule_table(replacements, style),
            ]
            click.echo("\n".join(lines), color=style.colour)
            return
        found = replacements[0] if replacements else find_rule(rule, registry)
    page = page_at(registry.page(found))
    since = page.since if page is not None else ""
    prose = _painted(page.prose, style) if page is not None else []
    text = "\n".join([*_head(found, since, registry, style), "", *prose])
    click.echo(text.rstrip(), color=style.colour)


def _group(name: str, registry: Registry, style: Style) -> list[str]:
    """Returns the description of a group and a table of its rules."""
    rules = [registry.rules[id] for id in sorted(registry.groups[name])]
    return [style.paint(f"# {name}", _BOLD), "", registry.describe_group(name), "", *rule_table(rules, style)]


def _head(rule: Rule, since: str, registry: Registry, style: Style) -> list[str]:
    """Returns the title, attributes and options of a rule."""
    rows = [
        ("severity", rule.severity.word),
        ("on by default", "yes" if rule.default else "no"),
        ("family", rule.family),
        ("groups", ", ".join(sorted(rule.groups))),
        ("applies to", _subject(rule, registry)),
        ("fix", "yes" if rule.fixable else ""),
        ("like", ", ".join(equivalents_of(rule))),
        ("since", since),
    ]
    lines = [style.paint(f"# {rule.id}", _BOLD), "", rule.title, ""]
    lines += [f"{style.paint(f'{name:<14}', _DIM)} {value}" for name, value in rows if value]
    if rule.options:
        lines += ["", "Options:"]
        lines += [line for option in rule.options.values() for line in _option(option, style)]
    return lines


def _subject(rule: Rule, registry: Registry) -> str:
    types = types_of(rule, registry)
    if not types:
        return _SCOPES.get(rule.scope, _SCOPES["engine"])
    shown = ", ".join(types[:_MAX_LISTED_TYPES])
    return shown if len(types) <= _MAX_LISTED_TYPES else f"{shown} and {len(types) - _MAX_LISTED_TYPES} more API types"


def _option(option: Option, style: Style) -> list[str]:
    name = style.paint(option.name.replace("_", "-"), _BOLD)
    line = f"  {name}: {option.type_word}, {json.dumps(option.default, ensure_ascii=False)} by default"
    return [line, f"      {option.help}"] if option.help else [line]


def _painted(text: str, style: Style) -> list[str]:
    """Returns the lines of a Markdown text, rendered for a terminal if colours are enabled."""
    lines = text.split("\n")
    if not style.colour:
        return lines
    painted = []
    inside = False
    for line in lines:
        if line.startswith("```"):
            inside = not inside
            role = line.removeprefix("```").partition(" ")[2]
            painted.append(style.paint(f"  {role}:", _DIM) if inside and role else "")
        elif inside:
            drawn = re.fullmatch(r"# *<?\^+.*", line)
            painted.append("    " + style.paint(line, _CARETS if drawn else _CODE))
        elif line.startswith("#"):
            painted.append(style.paint(line.lstrip("# "), _BOLD))
        else:
            painted.append(_CODE_WORD.sub(lambda m: style.paint(m[1], _CODE), line))
    return painted

"""`kcheck policy list [PATH...]`"""

from __future__ import annotations

import json
from typing import Any

import click

from kcheck.cli.output import echo_visibly
from kcheck.cli.policy_sources import LoadedPolicies, counted_policies, find_policies, source_options


@click.command(short_help="List the policies.")
@click.argument("paths", nargs=-1, type=click.Path(exists=True))
@click.option("--format", type=click.Choice(("text", "json")), default="text", help="Output format. [default: text]")
@source_options
def policy_list(paths: tuple[str, ...], format: str, **values: Any) -> None:
    """List policies with their severity and what they demand. PATHS: files and folders. [default: the policies of the config]"""
    rows = policy_rows(find_policies(paths, values))
    if format == "json":
        click.echo(json.dumps({"version": 1, "policies": rows}, indent=2, ensure_ascii=False))
        return
    widths = [max((len(row[key]) for row in rows), default=0) for key in ("id", "engine", "severity")]
    for row in rows:
        cells = [row[key].ljust(width) for key, width in zip(("id", "engine", "severity"), widths, strict=True)]
        echo_visibly(f"{'  '.join(cells)}  {row['title']}".rstrip())
    echo_visibly(f"{counted_policies(len(rows))}.")


def policy_rows(sources: LoadedPolicies) -> list[dict[str, str]]:
    """Returns id, engine, severity, title and location of each policy."""
    rows = []
    for rule in sources.rules():
        line, _ = rule.source.position(rule.node.start)
        rows.append(_row(rule.id, "rule", rule.severity.word, rule.title, f"{rule.source.path}:{line}"))
    policies, bindings = sources.admission()
    for each in policies:
        actions = sorted({action for binding in bindings if binding.policy == each.name for action in binding.actions})
        severity = "error" if "Deny" in actions else "warning" if "Warn" in actions else "info" if actions else "not bound"
        title = next((validation.message for validation in each.validations if validation.message), "")
        line, _ = each.resource.document.source.position(each.resource.node.start)
        rows.append(_row(each.id, "map" if each.is_mutating else "vap", severity, title, f"{each.resource.document.source.path}:{line}"))
    return sorted(rows, key=lambda row: row["id"])


def _row(id: str, engine: str, severity: str, title: str, place: str) -> dict[str, str]:
    return {"id": id, "engine": engine, "severity": severity, "title": title, "place": place}

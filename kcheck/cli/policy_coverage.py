"""`kcheck policy coverage [PATH...]`"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import click

from kcheck.cli.output import echo_visibly
from kcheck.cli.policy_objects import InputObjects, read_objects
from kcheck.cli.policy_options import input_policy_options
from kcheck.policy.policy_tests import outcomes
from kcheck.run.run import run_pipeline


@click.command(short_help="Show which policies match and deny objects of the input.")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, allow_dash=True))
@click.option("--format", type=click.Choice(("text", "json")), default="text", help="Output format. [default: text]")
@input_policy_options
def policy_coverage(paths: tuple[str, ...], format: str, **values: Any) -> None:
    """Show how many objects of the input each policy judges and denies, and how many of these findings are suppressed.

    A policy that never matches may have a wrong kind or selector; one that never fails may be too weak. PATHS are files and folders.
    [default: the current folder]
    """
    rows = _coverage(read_objects(paths or (".",), values))
    if format == "json":
        click.echo(json.dumps({"version": 1, "policies": rows}, indent=2))
        return
    width = max(map(len, ("POLICY", *(str(row["id"]) for row in rows))))
    echo_visibly(f"{'POLICY'.ljust(width)}  JUDGED  FAILED  REPORTED  REMARK")
    for row in rows:
        counts = f"{row['judged']:>6}  {row['failed']:>6}  {row['reported']:>8}"
        echo_visibly(f"{str(row['id']).ljust(width)}  {counts}  {row['remark']}".rstrip())


def _coverage(found: InputObjects) -> list[dict[str, Any]]:
    judged: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    names = set(found.session.policies.names) if found.session.policies is not None else set[str]()
    for resource in found.objects:
        for id, outcome in outcomes(found.policies, resource).items():
            names.add(id)
            judged[id] += outcome.result != "excluded"
            failed[id] += outcome.result == "fail"
    report = run_pipeline(found.found, found.session)
    reported = {(each.rule, each.place.file, each.place.object) for each in report.findings}
    counts = Counter(rule for rule, _, _ in reported)
    rows = []
    for id in sorted(names):
        row = {"id": id, "judged": judged[id], "failed": failed[id], "reported": counts[id]}
        rows.append(row | {"remark": _remark(judged[id], failed[id], counts[id])})
    return rows


def _remark(judged: int, failed: int, reported: int) -> str:
    if not judged:
        return "never matched"
    if not failed:
        return "never failed"
    return "fails only for suppressed objects" if not reported else ""

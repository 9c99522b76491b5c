"""`kcheck policy which OBJECT [PATH...]`"""

from __future__ import annotations

import os
from typing import Any

import click

from kcheck.cli.output import echo_visibly
from kcheck.cli.policy_objects import read_objects
from kcheck.cli.policy_options import input_policy_options
from kcheck.cli.settings import Failure
from kcheck.kube.resource import Resource
from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.policy.policy_tests import PolicyOutcome, outcomes


@click.command(short_help="Show which policies judge an object, and what excludes the others.")
@click.argument("object")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, allow_dash=True))
@input_policy_options
def policy_which(object: str, paths: tuple[str, ...], **values: Any) -> None:
    """Show which policies judge an object, with their verdict, and which clause excludes each other policy.

    OBJECT is a file, or Kind/name or Kind/namespace/name in PATHS. [default: the current folder]

    Exit status: 0 success, 2 the object does not exist.
    """
    is_file = os.path.exists(object)
    found = read_objects(paths or ((object,) if is_file else (".",)), values)
    wanted = [each for each in found.objects if _is_wanted(each, object, is_file)]
    if not wanted:
        names = sorted({f"{each.kind}/{each.name}" for each in found.objects if each.name})
        parts = object.split("/")
        near = nearest(f"{parts[0]}/{parts[-1]}", names) if len(parts) > 1 else None
        help = did_you_mean(near) if near else "write it as Kind/name or Kind/namespace/name, or name a file"
        raise Failure(f'kcheck: no object "{object}"; {help}')
    for resource in wanted:
        source = resource.document.source
        echo_visibly(f"{resource.id.title} ({source.path}:{source.position(resource.node.start)[0]})")
        rows = outcomes(found.policies, resource)
        width = max(map(len, rows), default=0)
        for id, outcome in sorted(rows.items(), key=lambda row: (row[1].result == "excluded", row[0])):
            echo_visibly(f"  {id.ljust(width)}  {_described(outcome)}")


def _is_wanted(resource: Resource, object: str, is_file: bool) -> bool:
    if is_file:
        return os.path.normpath(resource.document.source.path) == os.path.normpath(object) or os.path.isdir(object)
    names = object.split("/")
    own = [resource.kind, resource.namespace or "default", resource.name]
    return names == own or (len(names) == 2 and names == [own[0], own[2]])


def _described(outcome: PolicyOutcome) -> str:
    if outcome.result == "fail":
        return f"fails: {outcome.message} ({outcome.at})"
    if outcome.result == "excluded":
        return f"not judged: {outcome.detail}"
    return f"undecided: {outcome.detail}" if outcome.result == "undecided" else "passes"

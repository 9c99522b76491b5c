"""`kcheck policy explain ID`"""

from __future__ import annotations

import textwrap
from typing import Any

import click

from kcheck.cli.output import echo_visibly
from kcheck.cli.policy_sources import find_policies, source_options
from kcheck.cli.settings import Failure
from kcheck.kube.suggestions import suggest
from kcheck.policy.admission.definitions import AdmissionPolicy
from kcheck.policy.rules.definitions import ShortRule
from kcheck.yaml.node import Node


@click.command(short_help="Show a policy.")
@click.argument("id")
@click.argument("paths", nargs=-1, type=click.Path(exists=True))
@source_options
def policy_explain(id: str, paths: tuple[str, ...], **values: Any) -> None:
    """Show what a policy demands, where it is, and its text. PATHS: files and folders. [default: the policies of the config]"""
    sources = find_policies(paths, values)
    known: dict[str, ShortRule | AdmissionPolicy] = {each.id: each for each in sources.rules()}
    known |= {each.id: each for each in sources.admission()[0]}
    found = known.get(id if id.startswith("policy/") else f"policy/{id}")
    if found is None:
        raise Failure(f'kcheck: no policy "{id}"; {suggest(id, [each.removeprefix("policy/") for each in known])}')
    if isinstance(found, ShortRule):
        echo_visibly(f"{found.id} ({found.severity.word}): {found.title}\n")
        echo_visibly(f"{found.source.path}:{found.source.position(found.node.start)[0]}\n")
        echo_visibly(_text_of(found.node, found.source.text))
        return
    source = found.resource.document.source
    echo_visibly(f"{found.id}: {found.resource.kind}\n")
    echo_visibly(f"{source.path}:{source.position(found.resource.node.start)[0]}\n")
    echo_visibly(_text_of(found.resource.node, source.text))
    for binding in sources.admission()[1]:
        if binding.policy == found.name:
            echo_visibly(f"\nBound by {binding.name}: {', '.join(sorted(binding.actions))}")


def _text_of(node: Node, text: str) -> str:
    """Returns the lines of a policy in its file."""
    start = text.rfind("\n", 0, node.start) + 1
    return textwrap.dedent(text[start : node.end]).rstrip()

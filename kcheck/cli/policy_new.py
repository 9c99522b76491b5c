"""`kcheck policy new ID`"""

from __future__ import annotations

import json
import os
import re

import click

from kcheck.cli.output import written
from kcheck.cli.settings import Failure

_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_TEXT = """\
policies:
  - id: {id}
    title: objects have the label team
    message: label team is missing from {{self.kind}} {{self.metadata.name}}
    help: add the label with the name of your team
    severity: warning
    on: {kind}
    check: has(self.metadata.labels) && "team" in self.metadata.labels
    at: self.metadata.name
    examples:
      pass:
        - metadata: {{labels: {{team: shop}}}}
      fail:
        - metadata: {{labels: {{app: web}}}}
"""


@click.command(short_help="Create a short rule with examples.")
@click.argument("id")
@click.option("--on", "kind", default="Deployment", metavar="KIND", help="The kind that it judges. [default: Deployment]")
@click.option("--output", default="", metavar="FILE", help="The file to create. [default: ID.kcheck.yaml]")
def policy_new(id: str, kind: str, output: str) -> None:
    """Create a file with a short rule and examples, to be edited.

    Exit status: 0 success, 2 the file exists.
    """
    name = id.removeprefix("policy/")
    if not _NAME.fullmatch(name):
        raise click.UsageError(f'an id consists of lowercase letters, digits, "-" and ".", not {json.dumps(id)}')
    path = output or f"{name}.kcheck.yaml"
    if os.path.exists(path):
        raise Failure(f"kcheck: {path} exists already")
    if not path.endswith(".kcheck.yaml"):
        raise click.UsageError("the name of a file with short rules ends with .kcheck.yaml")
    with written(path) as file:
        file.write(_TEXT.format(id=name, kind=kind))
    click.echo(f"Created {path}. Edit it, then run kcheck policy test {path}.")

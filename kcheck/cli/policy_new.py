"""`kcheck policy new ID`"""

from __future__ import annotations

import json
import os
import re

import click

from kcheck.cli.output import written
from kcheck.cli.settings import Failure
from kcheck.policy.rules.definitions import RuleScope
from kcheck.policy.rules.scopes import ResolvedScope
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store

_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_KIND = re.compile(r"(?:[A-Za-z0-9./-]+ )?(?:[A-Za-z0-9./-]+|\*)")
_OF_OBJECTS = """\
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
        - {written}metadata: {{labels: {{team: shop}}}}{end}
      fail:
        - {written}metadata: {{labels: {{app: web}}}}{end}
"""
_OF_CONTAINERS = """\
policies:
  - id: {id}
    title: images come from our registry
    message: image {{self.image}} is not from registry.example.com
    help: push it to registry.example.com
    severity: warning
    on: {kind}
    check: self.image.startsWith("registry.example.com/")
    examples:
      pass:
        - {{image: registry.example.com/web}}
      fail:
        - {{image: nginx}}
"""
_OF_VALUES = """\
policies:
  - id: {id}
    title: "{field} is set"
    severity: warning
    on: {kind}
    check: has(self.{field})
    examples:
      fail:
        - {{}}
"""


@click.command(short_help="Create a short rule with examples.")
@click.argument("id")
@click.option(
    "--on", "kind", default="Deployment", metavar="KIND",
    help="The kind or API type that it judges, such as core/v1 Container. [default: Deployment]",
)  # fmt: skip
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
    text = _text_of(name, kind, Store(load()))
    with written(path) as file:
        file.write(text)
    click.echo(f"Created {path}. Edit it, then run kcheck policy test {path}.")
    click.echo(f"To enforce it, add policies: [{path}] to .kcheck.yaml.")


def _text_of(name: str, kind: str, store: Store) -> str:
    """Returns a rule about a kind or an API type, and an example of the same kind. Raises UsageError for an unknown kind."""
    if not _KIND.fullmatch(kind):
        raise click.UsageError(f'--on: "{kind}" must be a kind or API type, such as Deployment, apps/v1 Deployment or core/v1 Container')
    version, _, word = kind.rpartition(" ")
    scope = ResolvedScope(RuleScope(((version, word),)), store)
    if scope.faults:
        raise click.UsageError(scope.faults[0][1])
    if not scope.types:
        # Without the kind, an example has the only kind of its rule.
        written, end = (f"{{{_example_kind(version, store)}, ", "}") if word == "*" else ("", "")
        return _OF_OBJECTS.format(id=name, kind=kind if kind != "*" else '"*"', written=written, end=end)
    shape = store.definitions.shape(scope.types[0])
    fields = list(shape.fields) if shape is not None else []
    optional = [each for each in fields if shape is None or each not in shape.required]
    template = _OF_CONTAINERS if "image" in fields else _OF_VALUES
    return template.format(id=name, kind=kind, field=optional[0] if optional else "field")


def _example_kind(version: str, store: Store) -> str:
    """Returns the apiVersion and kind of an example of a rule about all kinds of an apiVersion, "" for all. Raises UsageError."""
    builtins = ((each, store.builtin(*each)) for each in store.definitions.kinds() if each[0] == version)
    kinds = (each for each, builtin in builtins if builtin is not None and builtin.plural)
    first = next(kinds, None) if version else ("v1", "ConfigMap")
    if first is None:
        raise click.UsageError(f"--on: no kind in {version}")
    return f"apiVersion: {first[0]}, kind: {first[1]}"

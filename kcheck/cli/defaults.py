"""`kcheck defaults PATH...`"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import click

from kcheck.cli.options import LocalPath, option
from kcheck.cli.output import print_text
from kcheck.cli.settings import Failure, find_config, reported_errors
from kcheck.defaulting.changes import FieldChange, Keys, changes_between
from kcheck.defaulting.marked_yaml import MarkedYaml, dropped_names
from kcheck.defaulting.objects import default_object
from kcheck.discovery.discover import Target, UnreadablePath
from kcheck.discovery.load import load_file
from kcheck.engine import files, settings
from kcheck.engine.options import CheckOptions
from kcheck.kube.resource import Resource, resources
from kcheck.redaction.document_secrets import secrets_of, shown_text
from kcheck.rule.registry import Registry
from kcheck.schema.crd.definitions import add_definitions
from kcheck.schema.store import Store
from kcheck.text.pattern import pattern
from kcheck.yaml.document import Document
from kcheck.yaml.edits import flow
from kcheck.yaml.parse import parse

_BARE_STARS = pattern(r"(?m)^(.*(?<=[:\[ ] )|[ ]*)(\*+)(,?)$")

VERSION = 1
"""Version of the JSON format. Increased when a field is removed or changes its meaning, not when a field is added."""


@click.command(short_help="Show objects as the API server holds them, with their defaults marked.")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("--format", type=click.Choice(("yaml", "json")), default="yaml", help="Output format. [default: yaml]")
@click.option("--namespace", "-n", default="", metavar="NAME", help="Namespace of the request, for objects that name none.")
@click.option(
    "--creation/--no-creation",
    default=True,
    help="Whether to show what the server does only when it creates an object: status, finalizers, tolerations. [default: yes]",
)
@option("--kubernetes", default="", metavar="VERSION", help="Kubernetes version such as 1.36. [default: newest]")
@option(
    "--schemas",
    multiple=True,
    type=LocalPath(exists=True),
    help="File or folder with CustomResourceDefinitions. Repeatable.",
)
@option(
    "--config",
    type=click.Path(exists=True, dir_okay=False),
    default=None,
    help="Use this config file instead of searching for .kcheck.yaml.",
)
@option("--isolated", is_flag=True, help="Ignore all config files.")
def defaults(paths: tuple[str, ...], format: str, namespace: str, creation: bool, **values: Any) -> None:
    """Show objects as the API server holds them: decoded, with defaults, and without the fields that it drops.

    PATHS are files, folders (searched recursively) or '-' for standard input. In YAML, comments mark what the server sets, changes and
    drops. Secret values are shown as asterisks, as in all output.

    Exit status: 0 success, 2 a file could not be read.
    """
    options = CheckOptions(**values)
    registry = Registry.load()
    config = find_config(options, registry)
    with reported_errors():
        session = settings.create_session(options, config, registry)
        found = files.find_files(paths, options, config, session.budget)
    # Of a range of versions, the newest one.
    store = session.stores[-1]
    documents, failures = _read(found.targets, found.unreadable)
    add_definitions(store, documents)
    shown = [_HeldObject.of(each, store, namespace, creation) for document in documents for each in resources(document)]
    if format == "json":
        rows = [each.as_json() for each in shown]
        print_text(json.dumps({"version": VERSION, "objects": rows}, indent=2, ensure_ascii=False) + "\n")
    else:
        print_text(shown_text("defaults.yaml", "---\n".join(each.as_yaml() for each in shown)))
    for failure in failures:
        click.echo(f"kcheck: {failure.file}: {failure.message}", err=True)
    if not shown and not failures:
        raise Failure("kcheck: no objects found")
    sys.exit(2 if failures else 0)


def _read(targets: Sequence[Target], unreadable: Sequence[UnreadablePath]) -> tuple[list[Document], list[UnreadablePath]]:
    """Returns the documents of all files, and what could not be read."""
    documents: list[Document] = []
    failures = list(unreadable)
    for target in targets:
        source = load_file(target, stdin=sys.stdin.buffer)
        if isinstance(source, UnreadablePath):
            failures.append(source)
            continue
        for document in parse(source):
            if document.fault is not None:
                failures.append(UnreadablePath(target.path, f"invalid YAML: {document.fault.message}"))
            else:
                documents.append(document)
    return documents, failures


class _HeldObject(NamedTuple):
    """An object with what the API server changes in it. `defaults`: by decoding and defaulting; `creation`: only at its creation."""

    resource: Resource
    value: dict[str, Any]
    defaults: list[FieldChange]
    creation: list[FieldChange]

    @classmethod
    def of(cls, resource: Resource, store: Store, namespace: str, creation: bool) -> _HeldObject:
        """Returns the object as the API server holds it."""
        written = resource.node.plain()
        if resource.kind == "Secret" and written.get("stringData"):
            # The texts are not dropped, but merged into data.
            written = {**written, "data": written.get("data") or {}}
            del written["stringData"]
        decoded = default_object(resource, store, creation=False)
        held = default_object(resource, store, namespace=namespace) if creation else decoded
        # What defaulting set and creation removed again was never there.
        changes = [each for each in changes_between(decoded, held) if each.how != "dropped" or resource.node.at(*each.keys).exists]
        return cls(resource, held, list(changes_between(written, decoded)), changes)

    def as_yaml(self) -> str:
        """Returns the object as YAML with comments."""
        return MarkedYaml(dict(self._marks()), dropped_names([*self.defaults, *self.creation])).text(self.value)

    def _marks(self) -> Iterator[tuple[Keys, str]]:
        texts = self.resource["stringData"].value or {}
        for change in self.defaults:
            if change.how != "dropped":
                from_text = change.keys[0] == "data" and change.keys[-1] in texts
                yield change.keys, "from stringData" if from_text else self._remark(change, "default")
        for change in self.creation:
            if change.how != "dropped":
                yield change.keys, self._remark(change, "on creation")

    def _remark(self, change: FieldChange, default: str) -> str:
        node = self.resource.node.at(*change.keys)
        if change.how == "set" or self.resource.kind == "Secret" or not node.exists or node.is_map or node.is_list:
            return default
        return f"was {flow(node.plain())}"

    def as_json(self) -> dict[str, Any]:
        """Returns the object with JSON Pointers to what was set, changed and dropped."""
        document = self.resource.document
        row: dict[str, Any] = {
            "file": document.source.path,
            "line": document.source.position(self.resource.node.start)[0],
            "object": _without_secrets(self.value),
        }
        secrets = secrets_of(document)
        for name, changes in (("defaults", self.defaults), ("creation", self.creation)):
            pointers: dict[str, list[str]] = {"set": [], "changed": [], "dropped": []}
            for change in changes:
                pointers[change.how].append(secrets.message(_pointer(change.keys), True))
            row[name] = pointers
        return row


def _without_secrets(value: dict[str, Any]) -> Any:
    """Returns an object with asterisks in place of secret values."""
    text = shown_text("object.json", json.dumps(value, indent=1, ensure_ascii=False))
    # Asterisks in place of a number are not JSON.
    return json.loads(_BARE_STARS.sub(r'\1"\2"\3', text))


def _pointer(keys: Keys) -> str:
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)

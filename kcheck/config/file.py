"""`.kcheck.yaml`: where it is, and what it says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kcheck.config.config import Config, Override
from kcheck.config.mistake import BadConfig, Mistake
from kcheck.config.rules import read_rules
from kcheck.config.values import Values, shown
from kcheck.config.versions import parse_versions
from kcheck.finding.severity import WARNING, Severity
from kcheck.rule.registry import Registry
from kcheck.schema.builtin.definitions import UnknownVersion
from kcheck.text.complaint import concise
from kcheck.text.source import Source, Undecodable
from kcheck.text.span import Span
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

_KEYS = ("kubernetes", "schemas", "complete", "pods", "rules", "overrides", "exclude", "fail-on")
_OVERRIDE_KEYS = ("files", "rules")


def read(path: Path, registry: Registry) -> Config:
    """The config that a file holds. Raises BadConfig with all that is wrong in it."""
    name = os.path.relpath(path)
    name = str(path) if name.startswith("..") else name
    try:
        source = Source.decode(name, path.read_bytes())
    except OSError as error:
        raise BadConfig([Mistake(name, 1, 1, f"cannot be read: {error.strerror or error}")]) from None
    except Undecodable as error:
        raise BadConfig([Mistake(name, error.line, 1, f"this is no text: {error}")]) from None
    reader = _ConfigReader(source, path, registry)
    config = reader.read(parse(source))
    if reader.values.mistakes:
        raise BadConfig(reader.values.mistakes)
    return config


class _ConfigReader:
    """One config file being read."""

    def __init__(self, source: Source, path: Path, registry: Registry) -> None:
        self.values = Values(source)
        self.source = source
        self.path = path
        self.folder = Path(os.path.realpath(path.parent))
        self.registry = registry

    def read(self, documents: list[Document]) -> Config:
        for document in documents:
            self.whole(document)
        root = documents[0].root if documents else Node(None, 0, 0)
        if root and not root.is_map:
            self.values.wrong(root, f"a config is a map of {', '.join(_KEYS)}, not {shown(root)}")
        said = dict(self.values.entries(root, _KEYS))
        nothing = Node(None, 0, 0)
        return Config(
            file=self.path,
            folder=self.folder,
            kubernetes=self.versions(said["kubernetes"]) if "kubernetes" in said else (),
            schemas=self.schemas(said.get("schemas", nothing)),
            complete="complete" in said and self.values.flag(said["complete"]),
            pods=self.pods(said["pods"]) if "pods" in said else {},
            fail_on=self.threshold(said["fail-on"]) if "fail-on" in said else WARNING,
            exclude=self.values.globs(said.get("exclude", nothing)),
            settings=read_rules(said.get("rules", nothing), self.values, self.registry),
            overrides=self.overrides(said.get("overrides", nothing)),
        )

    def whole(self, document: Document) -> None:
        """Note what is wrong with the YAML itself."""
        if document.fault is not None:
            self.values.wrong_at(Span(document.fault.start, document.fault.end), concise(document.fault.message))
        elif document.index:
            self.values.wrong(document.root, "a config is one document: take away the '---' and what follows it")
        if document.trailing is not None:
            self.values.wrong_at(Span(document.trailing, document.end), "nothing after the end of the document is read: remove it")
        for entry, first in document.duplicates:
            line = self.source.position(first.key_span.start).line
            self.values.wrong(entry, f"{entry.name} stands in this map already, on line {line}: take one away", at="key")

    def versions(self, node: Node) -> tuple[str, ...]:
        # A plain 1.30 is the number 1.3 to YAML; what the writer meant are its characters.
        number = isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
        text = self.source.text[node.start : node.end] if number else node.text
        if not text:
            self.values.wrong(node, f'kubernetes is a version such as "1.36" or a range such as "1.30-1.37", not {shown(node)}')
            return ()
        try:
            return parse_versions(text)
        except UnknownVersion as error:
            self.values.wrong(node, str(error))
            return ()

    def schemas(self, node: Node) -> tuple[Path, ...]:
        found = []
        for each in self.values.texts(node):
            path = self.path.parent / each.text
            if not os.path.exists(path):
                self.values.wrong(each, f"no such file or folder: {path}")
            found.append(path)
        return tuple(found)

    def pods(self, node: Node) -> Mapping[tuple[str, str], Any]:
        # Few configs have any, and what knows of such places is loaded late.
        from kcheck.config.pods import read_pods

        return read_pods(node, self.values)

    def threshold(self, node: Node) -> Severity:
        try:
            if node.text == node.text.lower():
                return Severity.parse(node.text)
        except ValueError:
            pass
        self.values.wrong(node, f"fail-on is info, warning or error, not {shown(node)}")
        return WARNING

    def overrides(self, node: Node) -> tuple[Override, ...]:
        if not node:
            return ()
        if not node.is_list:
            self.values.wrong(node, f"overrides is a list of maps with files and rules, not {shown(node)}")
            return ()
        return tuple(self.override(each) for each in node)

    def override(self, node: Node) -> Override:
        if not node.is_map:
            self.values.wrong(node, f"an override is a map with files and rules, not {shown(node)}")
            return Override((), {})
        said = dict(self.values.entries(node, _OVERRIDE_KEYS))
        files = self.values.globs(said["files"]) if "files" in said else ()
        if "files" not in said or not said["files"]:
            self.values.wrong(said.get("files", node), "an override says for which files it is: add files with a list of globs")
        elif said["files"].is_list and not said["files"].value:
            self.values.wrong(said["files"], "this list is empty, so the override is for no file: add globs or take the override away")
        if "rules" not in said:
            self.values.wrong(node, "an override says what changes: add rules")
        return Override(files, read_rules(said.get("rules", Node(None, 0, 0)), self.values, self.registry))

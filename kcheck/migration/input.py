"""The input of a migration: configs, which are added to a draft, and manifests to rewrite."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from kcheck.kube.resource import is_object
from kcheck.migration import checkov, kube_linter, kube_score, polaris
from kcheck.migration.draft import ConfigDraft
from kcheck.migration.kube_score import command_line
from kcheck.migration.polaris import Exemption
from kcheck.migration.reading import ConfigReading
from kcheck.migration.suppressions import MARKS
from kcheck.text.complaint import concise
from kcheck.text.source import Source
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

MANIFEST = "manifest"

_NAMES = {
    ".kube-linter.yaml": "kube-linter",
    ".kube-linter.yml": "kube-linter",
    ".checkov.yaml": "checkov",
    ".checkov.yml": "checkov",
    "polaris.yaml": "polaris",
    "polaris.yml": "polaris",
}
_POLARIS_WORDS = frozenset({"danger", "warning", "ignore", "error"})
_CHECKOV_KEYS = frozenset({*checkov.KNOWN, *checkov.UNSUPPORTED_KEYS})


def recognise(source: Source) -> tuple[str, list[Document]]:
    """Returns the tool that a config file belongs to, MANIFEST, or "" if it is unknown, and the documents of the file."""
    documents = parse(source)
    if any(is_object(document.root) for document in documents):
        return MANIFEST, documents
    by_name = _NAMES.get(os.path.basename(source.path), "")
    if len(documents) == 1 and documents[0].root.is_map and (tool := _by_keys(documents[0].root)):
        return tool, documents
    # A CI workflow that calls kube-score is a YAML file as well.
    return by_name or ("kube-score" if command_line(source.text) is not None else ""), documents


def _by_keys(root: Node) -> str:
    keys = {key for key, _ in root.entries}
    checks = root["checks"]
    if "exemptions" in keys or any(each.text in _POLARIS_WORDS for each in checks):
        return "polaris"
    if checks.is_map and {key.lower() for key, _ in checks.entries} & {
        "addallbuiltin", "donotautoadddefaults", "include", "exclude", "ignorepaths",
    }:  # fmt: skip
        return "kube-linter"
    if "customChecks" in keys:
        return "kube-linter" if root["customChecks"].is_list else "polaris"
    if keys & {"skip-check", "check", "soft-fail", "framework"} and keys <= _CHECKOV_KEYS:
        return "checkov"
    return ""


class Unrecognised(Exception):
    """The file is neither a manifest nor a config of a supported tool."""


@dataclass
class Intake:
    """The files that have been read. `manifests`: manifests with their documents."""

    draft: ConfigDraft
    exemptions: list[Exemption] = field(default_factory=list)
    manifests: list[tuple[Source, list[Document]]] = field(default_factory=list)

    def file(self, source: Source, tool: str = "") -> None:
        """Adds a file. `tool`: the tool that the user named; it does not apply to manifests. Raises Unrecognised."""
        detected, documents = recognise(source)
        if detected == MANIFEST:
            self.manifests.append((source, documents))
            return
        tool = tool or detected
        if tool == "kube-score":
            words = kube_score.command_line(source.text)
            if words is None:
                raise Unrecognised(f"{source.path}: no call of kube-score score found")
            self.command_line(words, source.path)
            return
        if not tool:
            raise Unrecognised(f"{source.path}: neither a manifest nor a config of a supported tool; use --from TOOL")
        if fault := next((d.fault for d in documents if d.fault is not None), None):
            raise Unrecognised(f"{source.path}:{source.position(fault.start).line}: {concise(fault.message)}")
        self._config(tool, ConfigReading(tool, source, self.draft), documents[0].root if documents else Node({}, 0, 0))

    def command_line(self, words: Sequence[str], file: str) -> None:
        """Adds the arguments of kube-score."""
        self.draft.origins.append((file, "kube-score"))
        kube_score.read(words, file, self.draft)

    def _config(self, tool: str, reading: ConfigReading, root: Node) -> None:
        self.draft.origins.append((reading.source.path, tool))
        if tool == "kube-linter":
            kube_linter.read(reading, root)
        elif tool == "checkov":
            checkov.read(reading, root)
        else:
            self.exemptions += polaris.read(reading, root)

    @property
    def concerns_manifests(self) -> bool:
        """Whether the manifests need to be checked and rewritten."""
        return bool(self.exemptions) or any(mark in source.text for source, _ in self.manifests for mark in MARKS)

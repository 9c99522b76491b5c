"""Detection of the tool that a config file belongs to, by its content, otherwise by its name."""

from __future__ import annotations

import os

from kcheck.kube.resource import is_object
from kcheck.migration import checkov
from kcheck.migration.kube_score import command_line
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

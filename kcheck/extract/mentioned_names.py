"""Strings of an object that may be names of other objects: arguments, environment variables, annotations and settings."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.kube.pod import Pod
from kcheck.kube.resource import Resource
from kcheck.redaction.document_secrets import Secrets
from kcheck.text.pattern import pattern
from kcheck.yaml.node import Node

_NAME = pattern(r"[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?")
_SEPARATORS = pattern(r"[,/:;\s]+")
_MIN_WORD_CHARS = 3
# Settings that name objects are rarely longer; dashboards are.
_MAX_TEXT_CHARS = 8000
_NONE: frozenset[str] = frozenset()
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def mentioned_words(resource: Resource, pods: list[Pod], secrets: Secrets) -> frozenset[str]:
    """Return the words in the strings of an object that are valid names, without secret values."""
    found: set[str] = set()
    for node in _texts(resource, pods):
        if len(node.text) < _MAX_TEXT_CHARS:
            found.update(_NAME.findall(secrets.shown(node)))
    for pod in pods:
        for container in pod.containers:
            for entry in container["env"]:
                node = entry["value"]
                # A variable is a name as a whole or a list of names.
                if node.text and len(node.text) < _MAX_TEXT_CHARS:
                    found.update(filter(_NAME.fullmatch, _SEPARATORS.split(secrets.shown(node))))
    return frozenset(word for word in found if len(word) >= _MIN_WORD_CHARS and not word.isdigit()) if found else _NONE


def _texts(resource: Resource, pods: list[Pod]) -> Iterator[Node]:
    for metadata in (resource["metadata"], *(pod.metadata for pod in pods if pod.is_template)):
        for key, node in metadata["annotations"].entries:
            if key != _LAST_APPLIED:
                yield node
    for pod in pods:
        for container in pod.containers:
            for field in ("command", "args"):
                yield from container[field]
    kind = resource.kind
    if kind == "ConfigMap":
        for node in resource["data"]:
            text = node.text
            if "ecret" in text or "onfigMap" in text or "onfigmap" in text:
                yield node
    elif kind in ("StorageClass", "VolumeSnapshotClass"):
        yield from resource["parameters"]
    elif kind.endswith("AdmissionPolicyBinding"):
        yield resource["spec"]["paramRef"]["name"]

"""Texts of an object that may be names of other objects: what programs are told by arguments, variables, annotations and settings."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.kube.pod import Pod
from kcheck.kube.resource import Resource
from kcheck.text.pattern import pattern

_NAME = pattern(r"[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?")
_BETWEEN = pattern(r"[,/:;\s]+")
_SHORTEST = 3
# Settings that name such objects are seldom longer, and dashboards are always.
_LONGEST = 8000
_NONE: frozenset[str] = frozenset()
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def words(resource: Resource, pods: list[Pod]) -> frozenset[str]:
    """Words of the texts of an object that names could be."""
    found: set[str] = set()
    for text in _texts(resource, pods):
        if len(text) < _LONGEST:
            found.update(_NAME.findall(text))
    for pod in pods:
        for container in pod.containers:
            for entry in container["env"]:
                text = entry["value"].text
                # A variable is a name as a whole, or has some in a list.
                if text and len(text) < _LONGEST:
                    found.update(filter(_NAME.fullmatch, _BETWEEN.split(text)))
    return frozenset(word for word in found if len(word) >= _SHORTEST and not word.isdigit()) if found else _NONE


def _texts(resource: Resource, pods: list[Pod]) -> Iterator[str]:
    for metadata in (resource["metadata"], *(pod.metadata for pod in pods if pod.is_template)):
        for key, node in metadata["annotations"].entries:
            if key != _LAST_APPLIED:
                yield node.text
    for pod in pods:
        for container in pod.containers:
            for field in ("command", "args"):
                for node in container[field]:
                    yield node.text
    kind = resource.kind
    if kind == "ConfigMap":
        for node in resource["data"]:
            text = node.text
            if "ecret" in text or "onfigMap" in text or "onfigmap" in text:
                yield text
    elif kind in ("StorageClass", "VolumeSnapshotClass"):
        yield from (node.text for node in resource["parameters"])
    elif kind.endswith("AdmissionPolicyBinding"):
        yield resource["spec"]["paramRef"]["name"].text

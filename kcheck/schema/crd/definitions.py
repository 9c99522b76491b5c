"""The kinds that CustomResourceDefinitions of the input define."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kcheck.kube.resource import Resource, resources
from kcheck.schema.crd.custom_resources import CustomKind, Version
from kcheck.schema.crd.scale import Scale
from kcheck.schema.store import Store
from kcheck.text.complaint import Complaint
from kcheck.text.pattern import pattern
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node

_VERSION = pattern(r"v(\d{1,9})(?:(alpha|beta)(\d{1,9}))?", re.ASCII)
_APIS = ("apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1")


def add_definitions(store: Store, documents: Iterable[Document]) -> None:
    """Add the kinds that CRDs among these documents define: every served version. Invalid parts of a CRD are skipped."""
    for kind in definitions(store, documents):
        store.custom[kind.version.api_version, kind.version.kind] = kind


def definitions(store: Store, documents: Iterable[Document]) -> Iterator[CustomKind]:
    """The kinds that CRDs among these documents define, for a store to which they are not added."""
    for document in documents:
        if document.fault is not None:
            continue
        for resource in resources(document):
            if resource.kind == "CustomResourceDefinition" and resource.api_version in _APIS:
                yield from (CustomKind(version, store) for version in versions(resource))


def versions(crd: Resource) -> Iterator[Version]:
    """The versions that a CRD serves."""
    spec = crd["spec"]
    group, kind = spec["group"].text, spec.at("names", "kind").text
    if not group or not kind:
        return
    old = crd.api_version.endswith("beta1")
    listed = spec["versions"]
    if old and not listed:
        # The first CRDs had one version, in spec itself.
        if spec["version"].text:
            yield _version(crd, spec, spec["version"].text)
        return
    for each in listed:
        if each["name"].text and each["served"].boolean is True:
            yield _version(crd, each, each["name"].text)


def _version(crd: Resource, node: Node, name: str) -> Version:
    spec = crd["spec"]
    group, kind = spec["group"].text, spec.at("names", "kind").text
    old = crd.api_version.endswith("beta1")
    schema = node.at("schema", "openAPIV3Schema")
    subresources = node["subresources"]
    if old:
        schema = schema if schema.is_map else spec.at("validation", "openAPIV3Schema")
        subresources = subresources if subresources.is_map else spec["subresources"]
    kept = spec["preserveUnknownFields"].boolean
    return Version(
        api_version=f"{group}/{name}",
        kind=kind,
        schema=schema if schema.is_map else None,
        namespaced=spec["scope"].text != "Cluster",
        status=subresources["status"].is_map,
        scale=_scale(subresources["scale"]),
        # Before apiextensions.k8s.io/v1, unknown fields were kept unless the CRD said otherwise.
        prunes=kept is False if old else kept is not True,
        warning=_warning(crd, node) if node["deprecated"].boolean is True else "",
        plural=spec.at("names", "plural").text,
    )


def _scale(node: Node) -> Scale | None:
    if not node.is_map:
        return None
    return Scale(node["specReplicasPath"].text, node["statusReplicasPath"].text, node["labelSelectorPath"].text)


def _warning(crd: Resource, node: Node) -> str:
    """The warning of the API server for a deprecated version: deprecationWarning of the CRD, or a default text."""
    if node["deprecationWarning"].text.strip():
        return " ".join(node["deprecationWarning"].text.split())
    spec = crd["spec"]
    group, kind = spec["group"].text, spec.at("names", "kind").text
    others = [each["name"].text for each in spec["versions"] if each["served"].boolean is True and each["deprecated"].boolean is not True]
    better = min(filter(None, others), key=_rank, default="")
    hint = f"use {group}/{better}" if better else "look for a replacement: the CustomResourceDefinition serves no other version"
    return Complaint(f"{group}/{node['name'].text} {kind} is deprecated", hint)


def _rank(version: str) -> tuple[int, int, int, str]:
    """Sorts as Kubernetes prefers versions: stable, beta, alpha, the higher number first, other names last."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return (3, 0, 0, version)
    return (("", "beta", "alpha").index(match[2] or ""), -int(match[1]), -int(match[3] or 0), "")

"""Where Argo CD and Flux take manifests from. Sources: their API references."""

from __future__ import annotations

from kcheck.kube.delivery import Delivery, Goal, Origin
from kcheck.kube.resource import Resource
from kcheck.run.placing import Placer
from kcheck.tree.node import Node

_ARGO, _FLUX = "argoproj.io", "kustomize.toolkit.fluxcd.io"
DELIVERING = {(_ARGO, "Application"), (_ARGO, "AppProject"), (_FLUX, "Kustomization")}


def delivery(resource: Resource, placer: Placer) -> Delivery | None:
    """What an object delivers or allows, None for all others."""
    spec, kind = resource["spec"], (resource.group, resource.kind)
    if kind == (_ARGO, "Application"):
        sources = [spec["source"], *spec["sources"]]
        origins = tuple(_origin(node, node["repoURL"].text, placer) for node in sources if node["repoURL"].text)
        return Delivery(origins, tuple(_goal(node, placer) for node in (spec["destination"],) if node.is_map))
    if kind == (_ARGO, "AppProject"):
        allowed = tuple(Origin(node.text, "", placer.place(node)) for node in spec["sourceRepos"] if node.text)
        return Delivery(allowed, tuple(_goal(node, placer) for node in spec["destinations"] if node.is_map))
    if kind == (_FLUX, "Kustomization"):
        source = spec["sourceRef"]
        named = "/".join(source[field].text for field in ("kind", "namespace", "name"))
        return Delivery((_origin(spec, named, placer),))
    return None


def _origin(node: Node, repository: str, placer: Placer) -> Origin:
    path = node["path"]
    return Origin(repository, path.text, placer.place(path if path.text else node["repoURL"]))


def _goal(node: Node, placer: Placer) -> Goal:
    at = node["namespace"] if node["namespace"].text else node
    return Goal(node["server"].text, node["name"].text, node["namespace"].text, placer.place(at))

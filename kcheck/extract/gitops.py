"""The sources and destinations of Argo CD and Flux objects. Sources: their API references."""

from __future__ import annotations

from collections.abc import Callable

from kcheck.facts.gitops import Delivery, Goal, Origin
from kcheck.kube.resource import Resource
from kcheck.kube.urls import without_user
from kcheck.schema.locator import Locator
from kcheck.yaml.node import Node

_ARGO, _FLUX = "argoproj.io", "kustomize.toolkit.fluxcd.io"


def delivery(resource: Resource, locator: Locator) -> Delivery:
    """Return the sources and destinations of an object of one of the kinds below."""
    return DELIVERY_KINDS[resource.group, resource.kind](resource["spec"], locator)


def _application(spec: Node, locator: Locator) -> Delivery:
    sources = [spec["source"], *spec["sources"]]
    origins = tuple(_origin(node, without_user(node["repoURL"].text), locator) for node in sources if node["repoURL"].text)
    return Delivery(origins, tuple(_goal(node, locator) for node in (spec["destination"],) if node.is_map))


def _project(spec: Node, locator: Locator) -> Delivery:
    allowed = tuple(Origin(without_user(node.text), "", locator.place(node)) for node in spec["sourceRepos"] if node.text)
    return Delivery(allowed, tuple(_goal(node, locator) for node in spec["destinations"] if node.is_map))


def _kustomization(spec: Node, locator: Locator) -> Delivery:
    source = spec["sourceRef"]
    named = "/".join(source[field].text for field in ("kind", "namespace", "name"))
    return Delivery((_origin(spec, named, locator),))


def _origin(node: Node, repository: str, locator: Locator) -> Origin:
    path = node["path"]
    return Origin(repository, path.text, locator.place(path if path.text else node["repoURL"]))


def _goal(node: Node, locator: Locator) -> Goal:
    at = node["namespace"] if node["namespace"].text else node
    return Goal(without_user(node["server"].text), node["name"].text, node["namespace"].text, locator.place(at))


DELIVERY_KINDS: dict[tuple[str, str], Callable[[Node, Locator], Delivery]] = {
    (_ARGO, "Application"): _application,
    (_ARGO, "AppProject"): _project,
    (_FLUX, "Kustomization"): _kustomization,
}

"""Indirect use of ConfigMaps and Secrets: by labels, annotations and types, or by reading them from the API server."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from kcheck.extract.rbac import ROLES
from kcheck.facts.facts import KindPermission
from kcheck.kube.resource import Resource
from kcheck.yaml.node import Node

_DATA = {("", "ConfigMap"), ("", "Secret")}
_DATA_KINDS = {"configmaps": "ConfigMap", "secrets": "Secret"}
_READ_VERBS = {"get", "list", "watch", "*"}
_CHANGE_VERBS = {"create", "update", "patch", "*"}
_WORKLOADS = {"pods", "deployments", "daemonsets", "statefulsets", "jobs"}
# Labels and annotations that describe the owner of an object, not its users.
_OWNER_KEYS = {
    "app", "name", "component", "tier", "env", "environment", "version", "release", "heritage", "chart", "instance", "part-of", "team",
    "project", "k8s-app", "role", "stage", "managed-by", "owner", "service", "description",
}  # fmt: skip
_OWNER_PREFIXES = {
    "app.kubernetes.io", "helm.sh", "meta.helm.sh", "kubectl.kubernetes.io", "kustomize.toolkit.fluxcd.io", "argocd.argoproj.io",
}  # fmt: skip
_TYPES_IN_USE = ("kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token", "helm.sh/release")


def is_discoverable(resource: Resource, kind: tuple[str, str]) -> bool:
    """Return whether programs may find an object by its labels, annotations or type.

    Args:
        resource: The object.
        kind: Its API group and kind.
    """
    if kind in _DATA:
        keys: Iterable[str] = chain(resource.labels, resource.annotations)
        return resource["type"].text.startswith(_TYPES_IN_USE) or not all(map(_is_owner_key, keys))
    # Includes roles that are aggregated by their labels.
    return kind in ROLES and not all(map(_is_owner_key, resource.labels))


def role_permissions(resource: Resource) -> Iterator[KindPermission]:
    """Yield the permissions of a role to read all objects of a kind, and to create Pods."""
    for rule in resource["rules"]:
        if not len(rule["resourceNames"]):
            verbs, resources = ({each.text for each in rule[field]} for field in ("verbs", "resources"))
            if not _READ_VERBS.isdisjoint(verbs) and any(each.text in ("", "*") for each in rule["apiGroups"]):
                yield from (KindPermission("read", kind) for plural, kind in _DATA_KINDS.items() if not resources.isdisjoint((plural, "*")))
            if not verbs.isdisjoint(("create", "*")) and not resources.isdisjoint(_WORKLOADS | {"*"}):
                yield KindPermission("create", "Pod")


def may_change_pods(resource: Resource) -> bool:
    """Whether a role permits to create Pods, or to change their labels."""
    for rule in resource["rules"]:
        if _has(rule["verbs"], _CHANGE_VERBS) and _has(rule["resources"], ("pods", "*")) and _has(rule["apiGroups"], ("", "*")):
            return True
    return False


def _has(list: Node, texts: Collection[str]) -> bool:
    """Whether one of the texts is in a list."""
    return any(each.text in texts for each in list)


def _is_owner_key(key: str) -> bool:
    prefix, slash, _ = key.rpartition("/")
    return prefix in _OWNER_PREFIXES if slash else key in _OWNER_KEYS

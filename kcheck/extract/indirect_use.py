"""Indirect use of ConfigMaps and Secrets: by labels, annotations and types, or by reading them from the API server."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.kube.resource import Resource
from kcheck.yaml.node import Node

_RBAC = "rbac.authorization.k8s.io"
_DATA_KINDS = {"configmaps": "ConfigMap", "secrets": "Secret"}
_READ_VERBS = {"get", "list", "watch", "*"}
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
_AGGREGATION_LABEL = "rbac.authorization.k8s.io/aggregate-to-"


def indirect_use_marks(resource: Resource) -> Iterator[str]:
    """Yield marks: "found" for an object that programs may find by other means than its name; for a role "reads=KIND" if it permits
    reading all objects of a kind, and "makes=Pod" if it permits creating Pods.
    """
    kind = resource.kind
    if kind in _DATA_KINDS.values() and resource.group == "":
        keys = (*resource.labels, *resource.annotations)
        if resource["type"].text.startswith(_TYPES_IN_USE) or not all(_is_owner_key(key) for key in keys):
            yield "found"
    elif kind in ("Role", "ClusterRole") and resource.group == _RBAC:
        if any(key.startswith(_AGGREGATION_LABEL) for key in resource.labels) or not all(_is_owner_key(key) for key in resource.labels):
            yield "found"
        for rule in resource["rules"]:
            if not len(rule["resourceNames"]):
                yield from _role_marks(rule)


def _role_marks(rule: Node) -> Iterator[str]:
    verbs, resources = ({each.text for each in rule[field]} for field in ("verbs", "resources"))
    if not _READ_VERBS.isdisjoint(verbs) and any(each.text in ("", "*") for each in rule["apiGroups"]):
        yield from (f"reads={kind}" for plural, kind in _DATA_KINDS.items() if not resources.isdisjoint((plural, "*")))
    if not verbs.isdisjoint(("create", "*")) and not resources.isdisjoint(_WORKLOADS | {"*"}):
        yield "makes=Pod"


def _is_owner_key(key: str) -> bool:
    prefix, slash, _ = key.rpartition("/")
    return prefix in _OWNER_PREFIXES if slash else key in _OWNER_KEYS

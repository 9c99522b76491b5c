"""How programs come by ConfigMaps and Secrets that nothing names: by labels, annotations and types, or by reading them from the server."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.kube.resource import Resource
from kcheck.yaml.node import Node

_RBAC = "rbac.authorization.k8s.io"
_KEPT = {"configmaps": "ConfigMap", "secrets": "Secret"}
_READING = {"get", "list", "watch", "*"}
_WORKLOADS = {"pods", "deployments", "daemonsets", "statefulsets", "jobs"}
# Labels and annotations that say whose an object is, not for whom it is meant.
_PLAIN = {
    "app", "name", "component", "tier", "env", "environment", "version", "release", "heritage", "chart", "instance", "part-of", "team",
    "project", "k8s-app", "role", "stage", "managed-by", "owner", "service", "description",
}  # fmt: skip
_PLAIN_PREFIXES = {
    "app.kubernetes.io", "helm.sh", "meta.helm.sh", "kubectl.kubernetes.io", "kustomize.toolkit.fluxcd.io", "argocd.argoproj.io",
}  # fmt: skip
_TYPES_IN_USE = ("kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token", "helm.sh/release")
_AGGREGATED = "rbac.authorization.k8s.io/aggregate-to-"


def finders(resource: Resource) -> Iterator[str]:
    """Marks: "found" of what some program may find without its name; of a role "reads=KIND", which lets read all of a kind, and
    "makes=Pod", which lets make pods.
    """
    kind = resource.kind
    if kind in _KEPT.values() and resource.group == "":
        keys = (*resource.labels, *resource.annotations)
        if resource["type"].text.startswith(_TYPES_IN_USE) or not all(_is_plain(key) for key in keys):
            yield "found"
    elif kind in ("Role", "ClusterRole") and resource.group == _RBAC:
        if any(key.startswith(_AGGREGATED) for key in resource.labels) or not all(_is_plain(key) for key in resource.labels):
            yield "found"
        for rule in resource["rules"]:
            if not len(rule["resourceNames"]):
                yield from _powers(rule)


def _powers(rule: Node) -> Iterator[str]:
    verbs, resources = ({each.text for each in rule[field]} for field in ("verbs", "resources"))
    if not _READING.isdisjoint(verbs) and any(each.text in ("", "*") for each in rule["apiGroups"]):
        yield from (f"reads={kind}" for plural, kind in _KEPT.items() if not resources.isdisjoint((plural, "*")))
    if not verbs.isdisjoint(("create", "*")) and not resources.isdisjoint(_WORKLOADS | {"*"}):
        yield "makes=Pod"


def _is_plain(key: str) -> bool:
    prefix, slash, _ = key.rpartition("/")
    return prefix in _PLAIN_PREFIXES if slash else key in _PLAIN

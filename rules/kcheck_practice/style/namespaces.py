"""Namespaces and names of objects. Source: the Kubernetes documentation, "Namespaces"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Pattern, Problem, Resource, matches_whole, remove, rule

_GROUPS = ("namespaces",)
_PLAIN = Pattern("[a-z][a-z0-9]*(-[a-z0-9]+)*")
_SYSTEM = ("kube-system", "kube-public", "kube-node-lease")
# The cluster creates or reads these in system namespaces.
_OF_CLUSTER = ("kube-root-ca.crt", "extension-apiserver-authentication", "coredns", "kubernetes")


@rule("default-namespace", "Object is in the default namespace", severity=INFO, groups=(*_GROUPS, "security"), default=False)
def default_namespace(
    resource: Resource,
    *,
    unset: Annotated[bool, "also report objects without metadata.namespace"] = False,
) -> Iterator[Problem]:
    """Quotas, policies and roles apply per namespace, and namespace "default" is shared by default."""
    if not resource.namespaced or resource.kind == "Namespace":
        return
    node = resource.node.at("metadata", "namespace")
    if node.text == "default" and not (resource.kind == "Service" and resource.name == "kubernetes"):
        yield Problem(node, f'{resource.kind} "{resource.name}" is in namespace "default"', help="use a dedicated namespace")
    elif unset and not node.text and resource["metadata"]:
        name = resource.node.at("metadata", "name")
        message = f'{resource.kind} "{resource.name}" has no metadata.namespace and is created in the current namespace of the client'
        yield Problem(name, message, help="set metadata.namespace", field=node)


@rule(
    "namespace-on-cluster-scoped-object",
    "Cluster-scoped object sets metadata.namespace, which is ignored",
    severity=INFO,
    groups=_GROUPS,
    fixable=True,
)
def ignored_namespace(resource: Resource) -> Iterator[Problem]:
    """The API server clears the namespace of an object whose kind is not namespaced."""
    if resource.namespaced is False:
        node = resource.node.at("metadata", "namespace")
        if node.text:
            message = f"metadata.namespace is ignored: {resource.kind} is a cluster-scoped kind"
            yield Problem(node, message, help=remove("metadata.namespace"), at="key")


@rule("system-namespace", "Object is in a system namespace such as kube-system", groups=(*_GROUPS, "security"), default=False)
def system_namespace(
    resource: Resource,
    *,
    allow: Annotated[tuple[str, ...], "names of objects that are accepted in system namespaces"] = _OF_CLUSTER,
) -> Iterator[Problem]:
    """Policies often exclude system namespaces, and a fault there affects the whole cluster."""
    node = resource.node.at("metadata", "namespace")
    if node.text in _SYSTEM and resource.name not in allow:
        message = f'{resource.kind} "{resource.name}" is in system namespace "{node.text}"'
        yield Problem(node, message, help="use a dedicated namespace")


@rule(
    "name-pattern-mismatch", "metadata.name does not match the configured pattern", severity=INFO, groups=("policy", "style"), default=False
)
def name_pattern(
    resource: Resource,
    *,
    pattern: Annotated[Pattern, "regular expression that whole names must match"] = _PLAIN,
    kinds: Annotated[tuple[str, ...], "kinds that are checked; all kinds if empty"] = (),
) -> Iterator[Problem]:
    """By default: lowercase letters, digits and single hyphens, beginning with a letter, which is valid for every kind."""
    node = resource.node.at("metadata", "name")
    if node.text and (not kinds or resource.kind in kinds) and not matches_whole(pattern, node.text):
        yield Problem(node, f'metadata.name "{node.text}" does not match pattern {pattern}')

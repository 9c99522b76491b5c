"""Namespaces of objects, and their names. Source: the documentation's page "Namespaces"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Pattern, Problem, Resource, matches_whole, rule

_GROUPS = ("namespaces",)
_PLAIN = Pattern("[a-z][a-z0-9]*(-[a-z0-9]+)*")
_SYSTEM = ("kube-system", "kube-public", "kube-node-lease")
# The cluster makes or reads these there.
_THERE = ("kube-root-ca.crt", "extension-apiserver-authentication", "coredns", "kubernetes")


@rule("default-namespace", "Object is in the default namespace", severity=INFO, groups=(*_GROUPS, "security"), default=False)
def default_namespace(
    resource: Resource,
    *,
    unset: Annotated[bool, "tell of objects that name no namespace, too"] = False,
) -> Iterator[Problem]:
    """Quotas, policies and roles are for namespaces, and everything without a home is in this one."""
    if not resource.namespaced or resource.kind == "Namespace":
        return
    node = resource.node.at("metadata", "namespace")
    if node.text == "default" and not (resource.kind == "Service" and resource.name == "kubernetes"):
        yield Problem(node, f"{resource.kind} {resource.name} shares the default namespace with everything else", help="give it its own")
    elif unset and not node.text and resource["metadata"]:
        name = resource.node.at("metadata", "name")
        yield Problem(name, f"{resource.kind} {resource.name} lands wherever it is applied", help="add its namespace", field=node)


@rule("system-namespace", "Object is in a system namespace such as kube-system", groups=(*_GROUPS, "security"), default=False)
def system_namespace(
    resource: Resource,
    *,
    allow: Annotated[tuple[str, ...], "names of objects that belong there"] = _THERE,
) -> Iterator[Problem]:
    """Policies often leave them out, and what goes wrong there takes the cluster along."""
    node = resource.node.at("metadata", "namespace")
    if node.text in _SYSTEM and resource.name not in allow:
        yield Problem(
            node, f"{node.text} is for the cluster's own parts", help=f"give {resource.kind} {resource.name} a namespace of its own"
        )


@rule(
    "name-pattern-mismatch", "metadata.name does not match the configured pattern", severity=INFO, groups=("policy", "style"), default=False
)
def name_pattern(
    resource: Resource,
    *,
    pattern: Annotated[Pattern, "regular expression that whole names must match"] = _PLAIN,
    kinds: Annotated[tuple[str, ...], "kinds that are asked, none for all"] = (),
) -> Iterator[Problem]:
    """By default: small letters, digits and single dashes, a letter first, which is legal for every kind."""
    node = resource.node.at("metadata", "name")
    if node.text and (not kinds or resource.kind in kinds) and not matches_whole(pattern, node.text):
        yield Problem(node, f"the name {node.text} does not match {pattern}", help="give it another")

"""Objects of OpenShift. Source: its documentation on security context constraints."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Problem, Resource, rule


@rule("scc-privileged", "SecurityContextConstraints allows privileged containers", groups=("security", "openshift"), default=False)
def scc_privileged(resource: Resource) -> Iterator[Problem]:
    """Whoever may use them may be root on the node."""
    if resource.kind == "SecurityContextConstraints" and resource.group in ("security.openshift.io", ""):
        node = resource["allowPrivilegedContainer"]
        if node.flag:
            yield Problem(
                node, f"who may use {resource.name} can run privileged containers", help="write false, and allow capabilities by name"
            )

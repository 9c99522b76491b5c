"""Objects of OpenShift. Source: its documentation on security context constraints."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Problem, Resource, rule


@rule("scc-privileged", "SecurityContextConstraints allows privileged containers", groups=("security", "openshift"), default=False)
def scc_privileged(resource: Resource) -> Iterator[Problem]:
    """Pods that may use these constraints can run as root on the node."""
    if resource.kind == "SecurityContextConstraints" and resource.group in ("security.openshift.io", ""):
        node = resource["allowPrivilegedContainer"]
        if node.boolean:
            message = (
                f'allowPrivilegedContainer: true lets Pods under SecurityContextConstraints "{resource.name}" run privileged containers'
            )
            yield Problem(node, message, help="set allowPrivilegedContainer: false and list the needed capabilities in allowedCapabilities")

"""Rules for volume claims and for the Service and claim templates of StatefulSets.

Sources: the Kubernetes documentation pages "Persistent Volumes" and "StatefulSets".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Bundle, Complaint, Facts, Node, Problem, Related, Resource, rule

_GROUPS = ("storage",)
_EXCLUSIVE_MODES = ("ReadWriteOnce", "ReadWriteOncePod")


@rule(
    "stateful-set-service-mismatch",
    "StatefulSet Service is not headless or does not select its Pods",
    kinds="apps StatefulSet",
    groups=("relations", "networking"),
)
def stateful_set_service(stateful: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a Problem where the Service in serviceName is not headless or does not select the Pods: they get no stable DNS names."""
    named = next((r for r in stateful.references if r.kind == "Service" and r.use == "own"), None) if stateful.is_complete else None
    if named is None or stateful.id.kind != "StatefulSet":
        return
    copies = [f for f in bundle.resolve(stateful, named) if f.is_complete and bundle.is_near(f, stateful)]
    if not copies or any(_is_headless(f) and _selects(f, stateful) for f in copies):
        return
    found = copies[0]
    related = (Related(found.place, found.title),)
    effect = f"so Pods of {stateful.title} get no stable DNS names"
    if not _is_headless(found):
        message = Complaint(
            f'Service "{named.name}" is not headless, {effect}', "set clusterIP: None, or use another Service for serviceName"
        )
        yield Problem(named.place, message, related=related)
    elif found.selectors:
        message = Complaint(
            f'Service "{named.name}" does not select its Pods, {effect}', "make spec.selector of the Service match the Pod labels"
        )
        yield Problem(named.place, message, related=related)


def _is_headless(service: Facts) -> bool:
    return service.service is not None and service.service.headless


@rule("missing-service-name", "StatefulSet has no serviceName", groups=("networking",), default=False, kinds="apps StatefulSet")
def no_service_name(resource: Resource) -> Iterator[Problem]:
    """Yields a Problem for a StatefulSet without serviceName, which is optional: its Pods get no stable DNS names."""
    if resource["spec"]["template"] and not resource["spec"]["serviceName"].text:
        message = f"{resource.title} has no serviceName, so its Pods get no stable DNS names"
        yield Problem(
            resource.node.at("metadata", "name"),
            message,
            help="set spec.serviceName to a headless Service",
            field=resource["spec"]["serviceName"],
        )


@rule(
    "claim-template-access-mode",
    "volumeClaimTemplates of a StatefulSet request a shared access mode (ReadWriteMany)",
    severity=INFO,
    groups=_GROUPS,
    default=False,
    kinds="apps StatefulSet",
)
def shared_claim_template(
    resource: Resource,
    *,
    modes: Annotated[tuple[str, ...], "access modes that are allowed"] = _EXCLUSIVE_MODES,
) -> Iterator[Problem]:
    """Yields a Problem for each access mode that is not in `modes`: each Pod of a StatefulSet has a separate volume."""
    for template in resource["spec"]["volumeClaimTemplates"]:
        for node in template["spec"]["accessModes"]:
            if node.text and node.text not in modes:
                instead = f"use {modes[0]}" if modes else "remove this access mode"
                message = f'access mode "{node.text}" lets other Pods mount a volume that is created for one Pod'
                yield Problem(node, message, help=instead)


@rule(
    "missing-claim-template-annotation",
    "volumeClaimTemplates entry lacks a required annotation",
    groups=(*_GROUPS, "policy"),
    default=False,
    kinds="apps StatefulSet",
)
def claim_template_annotation(
    resource: Resource,
    *,
    annotations: Annotated[tuple[str, ...], "annotation keys that every claim template must have"] = ("kubernetes.io/description",),
) -> Iterator[Problem]:
    """Yields a Problem for each claim template that lacks an annotation in `annotations`; backup tools often require some."""
    for template in resource["spec"]["volumeClaimTemplates"]:
        given = template["metadata"]["annotations"]
        absent = [key for key in annotations if key not in given]
        if absent:
            keys = " and ".join(absent)
            message = f'volumeClaimTemplates entry "{template.at("metadata", "name").text}" has no annotation {keys}'
            yield Problem(template["metadata"], message, help=f"add {keys} to metadata.annotations", at="key", field=given)


@rule(
    "forbidden-storage-class",
    "Claim uses no StorageClass or one that is not allowed (storageClassName)",
    groups=(*_GROUPS, "policy"),
    default=False,
)
def forbidden_storage_class(
    resource: Resource,
    *,
    allow: Annotated[tuple[str, ...], "StorageClasses that may be used"] = (),
) -> Iterator[Problem]:
    """Yields a Problem for each claim without storageClassName, and for each class that is not in `allow`, if that is set."""
    for spec, name in _claims(resource):
        node = spec["storageClassName"]
        if not node:
            message = f'volume claim "{name.text}" has no storageClassName and uses the default StorageClass'
            instead = f"set storageClassName to {' or '.join(allow)}" if allow else "set storageClassName"
            yield Problem(name, message, help=instead, field=node)
        elif allow and node.text not in allow:
            yield Problem(node, f'storageClassName "{node.text}" is not allowed', help=f"use {' or '.join(allow)}")


@rule(
    "host-path-persistent-volume",
    "PersistentVolume is of type hostPath",
    groups=(*_GROUPS, "security"),
    default=False,
    kinds="core PersistentVolume",
)
def host_path_volume(
    resource: Resource,
    *,
    allow: Annotated[tuple[str, ...], "directories that volumes may be in, such as /data"] = (),
) -> Iterator[Problem]:
    """Yields a Problem for a hostPath outside of `allow`: its data is on one node, and the directory may belong to the node's system."""
    node = resource.node.at("spec", "hostPath", "path")
    if node.text and not any(f"{node.text}/".startswith(f"{each.rstrip('/')}/") for each in allow):
        instead = f"use a directory in {' or '.join(allow)}" if allow else "use a local volume with nodeAffinity, or a StorageClass"
        yield Problem(node, f'hostPath "{node.text}" is a different directory on each node', help=instead)


def _claims(resource: Resource) -> Iterator[tuple[Node, Node]]:
    """Yields the spec and the name of each PersistentVolumeClaim and claim template."""
    if resource.is_a("core PersistentVolumeClaim") and resource["spec"]:
        yield resource["spec"], resource.node.at("metadata", "name")
    for template in resource["spec"]["volumeClaimTemplates"] if resource.is_a("apps StatefulSet") else ():
        yield template["spec"], template.at("metadata", "name")


def _selects(service: Facts, workload: Facts) -> bool:
    """Whether a Service selects Pods of a workload."""
    return any(pod.meets(each.selector) for each in service.selectors for pod in workload.pods)

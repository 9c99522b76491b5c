"""Volume claims and what StatefulSets make of them. Sources: the documentation's pages "Persistent Volumes" and "StatefulSets"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Bundle, Complaint, Facts, Node, Problem, Related, Resource, rule

_GROUPS = ("storage",)
_ALONE = ("ReadWriteOnce", "ReadWriteOncePod")


@rule(
    "stateful-set-service-mismatch",
    "StatefulSet Service is not headless or does not select its Pods",
    kinds="apps StatefulSet",
    groups=("relations", "networking"),
)
def stateful_set_service(stateful: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Pods get names in the DNS from a headless Service that selects them."""
    named = next((r for r in stateful.references if r.kind == "Service" and r.use == "own"), None) if stateful.whole else None
    if named is None or stateful.id.kind != "StatefulSet":
        return
    copies = [f for f in bundle.copies(named) if f.whole and f.folder == stateful.folder]
    if not copies or any(f.headless and _selects(f, stateful) for f in copies):
        return
    found = copies[0]
    related = (Related(found.place, found.title),)
    if not found.headless:
        message = Complaint(
            f"Service {named.name} is not headless, so that the pods of {stateful.title} get no names", "give it clusterIP: None"
        )
        yield Problem(named.place, message, related=related)
    elif found.selectors:
        message = Complaint(
            f"Service {named.name} does not select the pods of {stateful.title}, so that they get no names", "correct its selector"
        )
        yield Problem(named.place, message, related=related)


@rule("missing-service-name", "StatefulSet has no serviceName", groups=("networking",), default=False, kinds="apps StatefulSet")
def no_service_name(resource: Resource) -> Iterator[Problem]:
    """Since Kubernetes 1.34 a StatefulSet may do without; its pods then have no names in the DNS."""
    if resource["spec"]["template"] and not resource["spec"]["serviceName"].text:
        message = f"the pods of StatefulSet {resource.name} have no names in the DNS"
        yield Problem(
            resource.node.at("metadata", "name"),
            message,
            help="add serviceName and a headless Service",
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
    modes: Annotated[tuple[str, ...], "access modes that are allowed"] = _ALONE,
) -> Iterator[Problem]:
    """Every pod has its own volume, so nobody else needs it."""
    for template in resource["spec"]["volumeClaimTemplates"]:
        for node in template["spec"]["accessModes"]:
            if node.text and node.text not in modes:
                instead = f"write {modes[0]}" if modes else "take it away"
                yield Problem(node, f"each pod has its own volume, and {node.text} lets others mount it", help=instead)


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
    """Backup tools and quotas often go by them."""
    for template in resource["spec"]["volumeClaimTemplates"]:
        given = template["metadata"]["annotations"]
        absent = [key for key in annotations if key not in given]
        if absent:
            yield Problem(
                template["metadata"], f"the claim needs the annotation {' and '.join(absent)}", help="add it", at="key", field=given
            )


@rule(
    "forbidden-storage-class",
    "Claim uses no StorageClass or one that is not allowed (storageClassName)",
    groups=(*_GROUPS, "policy"),
    default=False,
)
def forbidden_storage_class(
    resource: Resource,
    *,
    allow: Annotated[tuple[str, ...], "classes that may be used"] = (),
) -> Iterator[Problem]:
    """Without a list, every claim must at least name its class."""
    for spec, name in _claims(resource):
        node = spec["storageClassName"]
        if not node:
            yield Problem(name, "whatever class is the default decides where the data lies", help="add storageClassName", field=node)
        elif allow and node.text not in allow:
            yield Problem(node, f"storage class {node.text} is not allowed here", help=f"write {' or '.join(allow)}")


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
    allow: Annotated[tuple[str, ...], "folders that volumes may be in, such as /data"] = (),
) -> Iterator[Problem]:
    """Its data stays behind when the pod moves, and the folder may hold what the node needs."""
    node = resource.node.at("spec", "hostPath", "path")
    if node.text and not any(f"{node.text}/".startswith(f"{each.rstrip('/')}/") for each in allow):
        instead = f"use a folder below {' or '.join(allow)}" if allow else "use local with nodeAffinity, or a storage class"
        yield Problem(node, f"{node.text} is a folder of whichever node the pod gets", help=instead)


def _claims(resource: Resource) -> Iterator[tuple[Node, Node]]:
    """Specs of claims, and where each has its name."""
    if resource.is_a("core PersistentVolumeClaim") and resource["spec"]:
        yield resource["spec"], resource.node.at("metadata", "name")
    for template in resource["spec"]["volumeClaimTemplates"] if resource.is_a("apps StatefulSet") else ():
        yield template["spec"], template.at("metadata", "name")


def _selects(service: Facts, workload: Facts) -> bool:
    return any(pod.meets(each.selector) for each in service.selectors for pod in workload.pods)

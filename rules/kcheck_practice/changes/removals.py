"""What remains, and what is lost, when objects are removed from the input."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Bundle, Problem, Related, RemovedObject, rule

_RUNNING = {
    "Deployment": "keeps its Pods running",
    "StatefulSet": "keeps its Pods running",
    "DaemonSet": "keeps its Pods running",
    "ReplicaSet": "keeps its Pods running",
    "ReplicationController": "keeps its Pods running",
    "CronJob": "keeps starting Jobs",
    "HorizontalPodAutoscaler": "keeps scaling its workload",
    "Ingress": "keeps routing its hosts",
    "PodDisruptionBudget": "keeps protecting its Pods",
    "MutatingWebhookConfiguration": "keeps changing requests",
    "ValidatingWebhookConfiguration": "keeps judging requests",
}
"""What an object of a kind does as long as it exists. Old objects of other kinds do no harm, or keep their names for a reason."""


@rule(
    "renamed-object",
    "Renamed object leaves the old one in the cluster",
    groups=("change", "relations"),
    kinds=(
        "apps Deployment", "apps StatefulSet", "apps DaemonSet", "apps ReplicaSet", "core ReplicationController", "batch CronJob",
        "autoscaling HorizontalPodAutoscaler", "networking.k8s.io Ingress", "policy PodDisruptionBudget",
        "admissionregistration.k8s.io MutatingWebhookConfiguration", "admissionregistration.k8s.io ValidatingWebhookConfiguration",
    ),
)  # fmt: skip
def renamed_object(removed: RemovedObject, bundle: Bundle) -> Iterator[Problem]:
    """Yield a Problem at the new name of an object that is active under its old name as well.

    Not if the input contains objects of Argo CD or Flux, which delete what is no longer in their sources.
    """
    new = removed.successor
    if new is None or bundle.once(_is_delivered):
        return
    kind, old = removed.id.kind, removed.id.name
    place = next((f.place for f in bundle.named(kind, new.name, removed.facts.group) if f.id == new), removed.place)
    renamed = f'renamed from "{old}" to "{new.name}"' if old != new.name else f'moved from namespace "{removed.id.namespace}"'
    message = f"{kind} was {renamed}; unless the old one is deleted, it {_RUNNING[kind]}"
    namespace = f" --namespace {removed.id.namespace}" if removed.id.namespace else ""
    help = f"run kubectl delete {kind.lower()} {old}{namespace} after the change, or apply it with pruning"
    yield Problem(place, message, help=help, related=(_origin(removed),))


@rule(
    "removed-persistent-volume-claim",
    "Removal of a PersistentVolumeClaim deletes its data",
    groups=("change", "storage"),
    kinds="core PersistentVolumeClaim",
)
def removed_claim(removed: RemovedObject, bundle: Bundle) -> Iterator[Problem]:
    """Yield a Problem for a claim that is no longer in the input, unless annotations prevent its deletion."""
    if removed.is_kept:
        return
    help = "keep the claim until its data is copied, or set persistentVolumeReclaimPolicy: Retain in its volume first"
    if removed.successor is None:
        message = f"{removed.title} was removed; when it is deleted, the data in its volume is deleted as well"
        yield Problem(removed.place, message, help=help, related=(_origin(removed),))
        return
    new = removed.successor
    place = next((f.place for f in bundle.named(new.kind, new.name) if f.id == new), removed.place)
    message = f'PersistentVolumeClaim was renamed from "{removed.id.name}" to "{new.name}": the new volume is empty'
    yield Problem(place, message, help=help, related=(_origin(removed),))


@rule(
    "removed-crd",
    "CustomResourceDefinition is removed, but its objects are not",
    groups=("change", "relations"),
    kinds="apiextensions.k8s.io CustomResourceDefinition",
)
def removed_definition(removed: RemovedObject, bundle: Bundle) -> Iterator[Problem]:
    """Yield a Problem for a definition that is no longer in the input, if objects of its kind are."""
    group = removed.id.name.partition(".")[2]
    objects = [f for f in bundle.facts if f.group == group and f.id.kind == removed.defines]
    if not objects or removed.is_kept:
        return
    more = f" and {len(objects) - 1} more" if len(objects) > 1 else ""
    message = f"{removed.title} was removed, but {objects[0].title}{more} still needs it; deleting it deletes all objects of the kind"
    related = (Related(objects[0].place, objects[0].title), _origin(removed))
    yield Problem(removed.place, message, help=f"keep the definition, or remove the {removed.defines} objects first", related=related)


def _origin(removed: RemovedObject) -> Related:
    return Related(removed.older_place, "before the change")


def _is_delivered(bundle: Bundle) -> bool:
    """Whether the input contains objects of Argo CD or Flux."""
    return any(f.delivery is not None for f in bundle.facts)

"""The lists that a strategic merge patch merges, with the fields that identify their items.

Source: x-kubernetes-patch-strategy, x-kubernetes-patch-merge-key and x-kubernetes-list-map-keys in the OpenAPI document of Kubernetes
1.21.2, which is what kustomize 5 merges by. All other lists are replaced, and so are all lists of kinds that are not in it.
"""

from __future__ import annotations

from typing import NamedTuple

from kcheck.kustomize.identity import is_known


class Merge(NamedTuple):
    """`keys`: the fields that identify the items of a list, () for a list of scalars, None for a list that is replaced.

    `fields`: what is below, by the name of the field.
    """

    keys: tuple[str, ...] | None = None
    fields: dict[str, Merge] = {}  # noqa: RUF012


def _list(*keys: str, **fields: Merge) -> Merge:
    return Merge(keys, fields)


def _map(**fields: Merge) -> Merge:
    return Merge(None, fields)


_MOUNTED = {"env": _list("name"), "volumeDevices": _list("devicePath"), "volumeMounts": _list("mountPath")}
_CONTAINERS = _list("name", ports=_list("containerPort", "protocol"), **_MOUNTED)
_POD = _map(
    containers=_CONTAINERS, initContainers=_CONTAINERS, ephemeralContainers=_list("name", **_MOUNTED), hostAliases=_list("ip"),
    imagePullSecrets=_list("name"), topologySpreadConstraints=_list("topologyKey", "whenUnsatisfiable"), volumes=_list("name"),
)  # fmt: skip
_METADATA = _map(finalizers=_list(), ownerReferences=_list("uid"))
_TEMPLATE = _map(metadata=_METADATA, spec=_POD)
_WORKLOAD = _map(metadata=_METADATA, spec=_map(template=_TEMPLATE))
_ANY = _map(metadata=_METADATA)
_WEBHOOKS = _map(metadata=_METADATA, webhooks=_list("name"))
_KINDS = {
    **dict.fromkeys(("Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "ReplicationController", "Job"), _WORKLOAD),
    "CronJob": _map(metadata=_METADATA, spec=_map(jobTemplate=_WORKLOAD)),
    "Pod": _TEMPLATE,
    "PodTemplate": _map(metadata=_METADATA, template=_TEMPLATE),
    "Service": _map(metadata=_METADATA, spec=_map(ports=_list("port", "protocol"))),
    "ServiceAccount": _map(metadata=_METADATA, secrets=_list("name")),
    "MutatingWebhookConfiguration": _WEBHOOKS,
    "ValidatingWebhookConfiguration": _WEBHOOKS,
    "Node": _map(metadata=_METADATA, spec=_map(podCIDRs=_list())),
    "CSINode": _map(metadata=_METADATA, spec=_map(drivers=_list("name"))),
}  # fmt: skip


def merge_of(api_version: str, kind: str) -> Merge | None:
    """How objects of a kind are merged, None for a kind that kustomize does not know."""
    return _KINDS.get(kind, _ANY) if is_known(api_version, kind) else None

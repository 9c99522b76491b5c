"""Fields that the API server drops before validation while their feature gate is off.

Sources: the functions of pkg/api and pkg/registry in kubernetes/kubernetes that drop disabled fields, above all dropDisabledFields in
pkg/api/pod/util.go, jobStrategy.PrepareForCreate, and the strategies of the other kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator

from kcheck.finding.problem import Problem
from kcheck.kube.feature_gates import ENABLED_SINCE, is_enabled
from kcheck.text.record import NamedTuple
from kcheck.yaml.node import Node


class GatedField(NamedTuple):
    """The gate of a field.

    Attributes:
        gate: name of the feature gate.
        harmless: value that means the same as an absent one.
        within: the field is gated only in items of the list with this name; "" for all.
        emptied: number of enclosing objects that the API server drops as well if the field was the last one in them.
    """

    gate: str
    harmless: object = None
    within: str = ""
    emptied: int = 0


Enables = Callable[[str], bool]

_DYNAMIC = GatedField("DynamicResourceAllocation")
_CLASSES = GatedField("VolumeAttributesClass")
_USERS = GatedField("AtomicWriteVolumeUserFields")
_CAPACITY = GatedField("DRAConsumableCapacity")
_TAINTS = GatedField("DRADeviceTaints")
_ADMIN = GatedField("DRAAdminAccess")
_PRIORITIZED = GatedField("DRAPrioritizedList")
_AFFINITY = GatedField("MatchLabelKeysInPodAffinity")
_INCLUSION = "NodeInclusionPolicyInPodTopologySpread"
_INDEXES = GatedField("JobBackoffLimitPerIndex")
_MATCHING = {"matchConditions": GatedField("AdmissionWebhookMatchConditions")}
_LEADERS = GatedField("CoordinatedLeaderElection")
_SELECTORS = GatedField("AuthorizeWithSelectors")
_BINDING = GatedField("DRADeviceBindingConditions")
_PARTS = GatedField("DRAPartitionableDevices")
_ALLOCATABLE = GatedField("DRANodeAllocatableResources")
_DEVICE = {
    "taints": _TAINTS,
    **dict.fromkeys(("bindingConditions", "bindingFailureConditions", "bindsToNode"), _BINDING),
    **dict.fromkeys(("allNodes", "consumesCounters", "nodeName", "nodeSelector"), _PARTS),
    "allowMultipleAllocations": _CAPACITY,
    **dict.fromkeys(("nodeAllocatableResourceMappings", "nodeAllocatableResources"), _ALLOCATABLE),
}
_SLICE = {"perDeviceNodeSelection": _PARTS, "sharedCounters": _PARTS}
_OWNED = {"defaultUser": _USERS}
_USER = {"user": _USERS}
_CONTAINER = {
    "resizePolicy": GatedField("InPlacePodVerticalScaling"),
    "restartPolicy": GatedField("SidecarContainers", within="initContainers"),
    "restartPolicyRules": GatedField("ContainerRestartRules"),
}

FIELDS: dict[str, dict[str, GatedField]] = {
    "core/v1 PodSpec": {
        "hostUsers": GatedField("UserNamespacesSupport", harmless=True),
        "resources": GatedField("PodLevelResources"),
        "resourceClaims": _DYNAMIC,
        "schedulingGates": GatedField("PodSchedulingReadiness"),
        "hostnameOverride": GatedField("HostnameOverride"),
        "schedulingGroup": GatedField("GenericWorkload"),
        "workloadRef": GatedField("GenericWorkload"),
        "evictionResponders": GatedField("EvictionRequestAPI"),
    },
    "core/v1 Container": _CONTAINER,
    "core/v1 EphemeralContainer": _CONTAINER,
    "core/v1 ResourceRequirements": {"claims": _DYNAMIC},
    "core/v1 PodSecurityContext": {
        "supplementalGroupsPolicy": GatedField("SupplementalGroupsPolicy", harmless="Merge"),
        "seLinuxChangePolicy": GatedField("SELinuxChangePolicy", harmless="MountOption"),
    },
    "core/v1 SecurityContext": {"procMount": GatedField("ProcMountType", harmless="Default")},
    "core/v1 VolumeMount": {
        "recursiveReadOnly": GatedField("RecursiveReadOnlyMounts", harmless="Disabled"),
        "bindMountOptions": GatedField("VolumeBindMountOptions"),
    },
    "core/v1 VolumeProjection": {
        "clusterTrustBundle": GatedField("ClusterTrustBundleProjection"),
        "podCertificate": GatedField("PodCertificateRequest"),
    },
    "core/v1 EmptyDirVolumeSource": {"mode": GatedField("EmptyDirVolumeMode")},
    "core/v1 ConfigMapVolumeSource": _OWNED,
    "core/v1 SecretVolumeSource": _OWNED,
    "core/v1 DownwardAPIVolumeSource": _OWNED,
    "core/v1 ProjectedVolumeSource": _OWNED,
    "core/v1 KeyToPath": _USER,
    "core/v1 DownwardAPIVolumeFile": _USER,
    "core/v1 ServiceAccountTokenProjection": _USER,
    "core/v1 ClusterTrustBundleProjection": _USER,
    "core/v1 PodCertificateProjection": _USER,
    "core/v1 EnvVarSource": {"fileKeyRef": GatedField("EnvFiles")},
    "core/v1 Lifecycle": {"stopSignal": GatedField("ContainerStopSignals", emptied=1)},
    "core/v1 LifecycleHandler": {"sleep": GatedField("PodLifecycleSleepAction", emptied=2)},
    "core/v1 HTTPGetAction": {"protocol": GatedField("H2CContainerProbe")},
    "core/v1 GRPCAction": {"mode": GatedField("GRPCContainerProbeTLS")},
    "core/v1 TopologySpreadConstraint": {
        "matchLabelKeys": GatedField("MatchLabelKeysInPodTopologySpread"),
        "minDomains": GatedField("MinDomainsInPodTopologySpread"),
        "nodeAffinityPolicy": GatedField(_INCLUSION, harmless="Honor"),
        "nodeTaintsPolicy": GatedField(_INCLUSION, harmless="Ignore"),
    },
    "core/v1 PodAffinityTerm": {"matchLabelKeys": _AFFINITY, "mismatchLabelKeys": _AFFINITY},
    "core/v1 PersistentVolumeSpec": {"volumeAttributesClassName": _CLASSES},
    "core/v1 PersistentVolumeClaimSpec": {"volumeAttributesClassName": _CLASSES},
    "core/v1 ServiceSpec": {"trafficDistribution": GatedField("ServiceTrafficDistribution")},
    "apps/v1 StatefulSetSpec": {
        "ordinals": GatedField("StatefulSetStartOrdinal"),
        "persistentVolumeClaimRetentionPolicy": GatedField("StatefulSetAutoDeletePVC"),
    },
    "apps/v1 RollingUpdateStatefulSetStrategy": {"maxUnavailable": GatedField("MaxUnavailableStatefulSet", harmless=1)},
    "batch/v1 JobSpec": {
        "podFailurePolicy": GatedField("JobPodFailurePolicy"),
        "backoffLimitPerIndex": _INDEXES,
        "maxFailedIndexes": _INDEXES,
        "podReplacementPolicy": GatedField("JobPodReplacementPolicy", harmless="TerminatingOrFailed"),
        "successPolicy": GatedField("JobSuccessPolicy"),
        "managedBy": GatedField("JobManagedBy"),
        "scheduling": GatedField("WorkloadWithJob"),
    },
    "autoscaling/v2 HPAScalingRules": {"tolerance": GatedField("HPAConfigurableTolerance")},
    "autoscaling/v2 MetricSpec": {"containerResource": GatedField("HPAContainerMetrics")},
    "policy/v1 PodDisruptionBudgetSpec": {"unhealthyPodEvictionPolicy": GatedField("PDBUnhealthyPodEvictionPolicy")},
    "storage/v1 CSIDriverSpec": {
        "seLinuxMount": GatedField("SELinuxMountReadWriteOncePod", harmless=False),
        "nodeAllocatableUpdatePeriodSeconds": GatedField("MutableCSINodeAllocatableCount"),
        "preventPodSchedulingIfMissing": GatedField("VolumeLimitScaling", harmless=False),
    },
    "admissionregistration/v1 ValidatingWebhook": _MATCHING,
    "admissionregistration/v1 MutatingWebhook": _MATCHING,
    "apiextensions/v1 CustomResourceDefinitionVersion": {"selectableFields": GatedField("CustomResourceFieldSelectors")},
    "authorization/v1 ResourceAttributes": {"fieldSelector": _SELECTORS, "labelSelector": _SELECTORS},
    "coordination/v1 LeaseSpec": {"strategy": _LEADERS, "preferredHolder": _LEADERS},
    "resource/v1 Device": _DEVICE,
    "resource/v1beta2 Device": _DEVICE,
    "resource/v1beta1 BasicDevice": _DEVICE,
    "resource/v1 DeviceCapacity": {"requestPolicy": _CAPACITY},
    "resource/v1beta2 DeviceCapacity": {"requestPolicy": _CAPACITY},
    "resource/v1beta1 DeviceCapacity": {"requestPolicy": _CAPACITY},
    "resource/v1 ResourceSliceSpec": _SLICE,
    "resource/v1beta2 ResourceSliceSpec": _SLICE,
    "resource/v1beta1 ResourceSliceSpec": _SLICE,
    "resource/v1 ExactDeviceRequest": {"capacity": _CAPACITY, "tolerations": _TAINTS},
    "resource/v1 DeviceSubRequest": {"capacity": _CAPACITY, "tolerations": _TAINTS},
    "resource/v1 DeviceClassSpec": {"extendedResourceName": GatedField("DRAExtendedResource")},
    "resource/v1beta2 ExactDeviceRequest": {"capacity": _CAPACITY, "tolerations": _TAINTS, "adminAccess": _ADMIN},
    "resource/v1beta2 DeviceRequest": {"firstAvailable": _PRIORITIZED},
    "resource/v1beta1 DeviceRequest": {
        "firstAvailable": _PRIORITIZED,
        "adminAccess": _ADMIN,
        "tolerations": _TAINTS,
        "capacity": _CAPACITY,
    },
}
"""By API type and field. In versions whose type has no such field, the field is unknown and the gate is not used."""


def _image_volumes(spec: Node) -> list[Node]:
    """The image volumes of a Pod. Their mounts are dropped as well: see `mounts_of`."""
    return [volume for volume in spec["volumes"] if volume["image"]]


def _failing_index_rules(spec: Node) -> list[Node]:
    """The rules of a Job's podFailurePolicy with the action FailIndex."""
    return [rule for rule in spec["podFailurePolicy"]["rules"] if rule["action"].text == "FailIndex"]


class GatedItems(NamedTuple):
    """Items of lists that the API server drops while a gate is off.

    Attributes:
        gate: name of the feature gate.
        added: N of the Kubernetes version 1.N that introduced them; unknown to older versions.
        field: the field of each item that needs the gate.
        select: returns the items in a value of the type.
    """

    gate: str
    added: int
    field: str
    select: Callable[[Node], list[Node]]


ITEMS = {
    ("core/v1 PodSpec", "volumes"): GatedItems("ImageVolume", 31, "image", _image_volumes),
    ("batch/v1 JobSpec", "podFailurePolicy"): GatedItems("JobBackoffLimitPerIndex", 28, "action", _failing_index_rules),
}
"""By API type and by the field that contains the items."""


def gated_off(type_name: str, fields: Container[str], minor: int) -> tuple[str, ...]:
    """Return the fields of a type that contain values whose gate is off by default in 1.`minor`. `fields`: the fields of the type there."""
    gates = [(name, field.gate) for name, field in FIELDS.get(type_name, {}).items()]
    gates += [(field, items.gate) for (name, field), items in ITEMS.items() if name == type_name and minor >= items.added]
    return tuple(name for name, gate in gates if name in fields and not is_enabled(gate, minor))


def dropped_fields(node: Node, type_name: str, names: Iterable[str], enables: Enables) -> Iterator[tuple[Node, GatedField]]:
    """Yield the present fields of a value that the API server drops. `enables`: whether a gate is on."""
    gated = FIELDS.get(type_name, {})
    for name in names:
        child, field = node[name], gated.get(name)
        if field is None or not child or enables(field.gate):
            continue
        if not field.within or (node.parent is not None and node.parent.name == field.within):
            yield child, field


def dropped_items(node: Node, type_name: str, names: Iterable[str], enables: Enables) -> Iterator[tuple[Node, GatedItems]]:
    """Yield the items of lists in a value that the API server drops, as `dropped_fields`."""
    for name in names:
        items = ITEMS.get((type_name, name))
        if items is not None and not enables(items.gate):
            for item in items.select(node):
                yield item, items


def mounts_of(spec: Node, volumes: Iterable[Node]) -> Iterator[Node]:
    """Yield the mounts of volumes in the containers of a Pod."""
    names = {volume["name"].text for volume in volumes}
    for listed in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec[listed]:
            yield from (mount for mount in container["volumeMounts"] if mount["name"].text in names)


def gate_problem(node: Node, gate: str) -> Problem:
    """Return the problem of a field that the API server drops."""
    since = ENABLED_SINCE[gate]
    before = f" before Kubernetes 1.{since}" if since else ""
    message = f"{node.name} is dropped silently, because feature gate {gate} is off by default{before}"
    return Problem(node, message, help=f"remove {node.name}, or enable the gate and add it to option enabled", at="key")

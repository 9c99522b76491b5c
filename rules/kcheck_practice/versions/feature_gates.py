"""Fields that the API server drops because their feature gate is off by default.

Sources: pkg/features/kube_features.go of kubernetes/kubernetes for the versions, and for removed gates the Kubernetes documentation,
"Feature Gates"; the functions of pkg/api and pkg/registry that drop disabled fields, above all pkg/api/pod/util.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, NamedTuple

from kcheck.api import Problem, TypedValue, rule


class Gate(NamedTuple):
    """`on`: first minor version (1.N) with the gate on by default, 0 for none. `harmless`: a value that means the same as an absent one."""

    name: str
    on: int = 0
    harmless: object = None


_DYNAMIC = Gate("DynamicResourceAllocation", 34)
_CLASSES = Gate("VolumeAttributesClass", 34)
_USERS = Gate("AtomicWriteVolumeUserFields")
_CAPACITY = Gate("DRAConsumableCapacity", 36)
_TAINTS = Gate("DRADeviceTaints", 36)
_ADMIN = Gate("DRAAdminAccess", 34)
_PRIORITIZED = Gate("DRAPrioritizedList", 34)
_AFFINITY = Gate("MatchLabelKeysInPodAffinity", 31)
_INCLUSION = "NodeInclusionPolicyInPodTopologySpread"
_INDEXES = Gate("JobBackoffLimitPerIndex", 29)
_MATCHING = {"matchConditions": Gate("AdmissionWebhookMatchConditions", 28)}
_LEADERS = Gate("CoordinatedLeaderElection")
_OWNED = {"defaultUser": _USERS}
_USER = {"user": _USERS}

GATES: dict[str, dict[str, Gate]] = {
    "core/v1 PodSpec": {
        "hostUsers": Gate("UserNamespacesSupport", 33, harmless=True),
        "resources": Gate("PodLevelResources", 34),
        "resourceClaims": _DYNAMIC,
        "schedulingGates": Gate("PodSchedulingReadiness", 27),
        "hostnameOverride": Gate("HostnameOverride", 35),
        "schedulingGroup": Gate("GenericWorkload"),
        "workloadRef": Gate("GenericWorkload"),
        "evictionResponders": Gate("EvictionRequestAPI"),
    },
    "core/v1 Container": {
        "resizePolicy": Gate("InPlacePodVerticalScaling", 33),
        "restartPolicy": Gate("SidecarContainers", 29),
        "restartPolicyRules": Gate("ContainerRestartRules", 35),
    },
    "core/v1 ResourceRequirements": {"claims": _DYNAMIC},
    "core/v1 PodSecurityContext": {
        "supplementalGroupsPolicy": Gate("SupplementalGroupsPolicy", 33, harmless="Merge"),
        "seLinuxChangePolicy": Gate("SELinuxChangePolicy", 33, harmless="MountOption"),
    },
    "core/v1 SecurityContext": {"procMount": Gate("ProcMountType", 33, harmless="Default")},
    "core/v1 VolumeMount": {
        "recursiveReadOnly": Gate("RecursiveReadOnlyMounts", 31, harmless="Disabled"),
        "bindMountOptions": Gate("VolumeBindMountOptions"),
    },
    "core/v1 Volume": {"image": Gate("ImageVolume", 35)},
    "core/v1 VolumeProjection": {
        "clusterTrustBundle": Gate("ClusterTrustBundleProjection", 37),
        "podCertificate": Gate("PodCertificateRequest", 37),
    },
    "core/v1 EmptyDirVolumeSource": {"mode": Gate("EmptyDirVolumeMode")},
    "core/v1 ConfigMapVolumeSource": _OWNED,
    "core/v1 SecretVolumeSource": _OWNED,
    "core/v1 DownwardAPIVolumeSource": _OWNED,
    "core/v1 ProjectedVolumeSource": _OWNED,
    "core/v1 KeyToPath": _USER,
    "core/v1 DownwardAPIVolumeFile": _USER,
    "core/v1 ServiceAccountTokenProjection": _USER,
    "core/v1 ClusterTrustBundleProjection": _USER,
    "core/v1 PodCertificateProjection": _USER,
    "core/v1 EnvVarSource": {"fileKeyRef": Gate("EnvFiles", 35)},
    "core/v1 Lifecycle": {"stopSignal": Gate("ContainerStopSignals")},
    "core/v1 LifecycleHandler": {"sleep": Gate("PodLifecycleSleepAction", 30)},
    "core/v1 HTTPGetAction": {"protocol": Gate("H2CContainerProbe")},
    "core/v1 GRPCAction": {"mode": Gate("GRPCContainerProbeTLS")},
    "core/v1 TopologySpreadConstraint": {
        "matchLabelKeys": Gate("MatchLabelKeysInPodTopologySpread", 27),
        "minDomains": Gate("MinDomainsInPodTopologySpread", 27),
        "nodeAffinityPolicy": Gate(_INCLUSION, 26, harmless="Honor"),
        "nodeTaintsPolicy": Gate(_INCLUSION, 26, harmless="Ignore"),
    },
    "core/v1 PodAffinityTerm": {"matchLabelKeys": _AFFINITY, "mismatchLabelKeys": _AFFINITY},
    "core/v1 PersistentVolumeSpec": {"volumeAttributesClassName": _CLASSES},
    "core/v1 PersistentVolumeClaimSpec": {"volumeAttributesClassName": _CLASSES},
    "core/v1 ServiceSpec": {"trafficDistribution": Gate("ServiceTrafficDistribution", 31)},
    "apps/v1 StatefulSetSpec": {
        "ordinals": Gate("StatefulSetStartOrdinal", 27),
        "persistentVolumeClaimRetentionPolicy": Gate("StatefulSetAutoDeletePVC", 27),
    },
    "apps/v1 RollingUpdateStatefulSetStrategy": {"maxUnavailable": Gate("MaxUnavailableStatefulSet", 37, harmless=1)},
    "batch/v1 JobSpec": {
        "podFailurePolicy": Gate("JobPodFailurePolicy", 26),
        "backoffLimitPerIndex": _INDEXES,
        "maxFailedIndexes": _INDEXES,
        "podReplacementPolicy": Gate("JobPodReplacementPolicy", 29, harmless="TerminatingOrFailed"),
        "successPolicy": Gate("JobSuccessPolicy", 31),
        "managedBy": Gate("JobManagedBy", 32),
        "scheduling": Gate("WorkloadWithJob"),
    },
    "autoscaling/v2 HPAScalingRules": {"tolerance": Gate("HPAConfigurableTolerance", 35)},
    "autoscaling/v2 MetricSpec": {"containerResource": Gate("HPAContainerMetrics", 27)},
    "policy/v1 PodDisruptionBudgetSpec": {"unhealthyPodEvictionPolicy": Gate("PDBUnhealthyPodEvictionPolicy", 27)},
    "storage/v1 CSIDriverSpec": {
        "seLinuxMount": Gate("SELinuxMountReadWriteOncePod", 28, harmless=False),
        "nodeAllocatableUpdatePeriodSeconds": Gate("MutableCSINodeAllocatableCount", 35),
        "preventPodSchedulingIfMissing": Gate("VolumeLimitScaling", 37, harmless=False),
    },
    "admissionregistration/v1 ValidatingWebhook": _MATCHING,
    "admissionregistration/v1 MutatingWebhook": _MATCHING,
    "apiextensions/v1 CustomResourceDefinitionVersion": {"selectableFields": Gate("CustomResourceFieldSelectors", 31)},
    "coordination/v1 LeaseSpec": {"strategy": _LEADERS, "preferredHolder": _LEADERS},
    "resource/v1 ExactDeviceRequest": {"capacity": _CAPACITY, "tolerations": _TAINTS},
    "resource/v1 DeviceSubRequest": {"capacity": _CAPACITY, "tolerations": _TAINTS},
    "resource/v1 DeviceClassSpec": {"extendedResourceName": Gate("DRAExtendedResource", 36)},
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


@rule(
    "disabled-feature-gate",
    "Field is dropped because its feature gate is disabled by default",
    groups=("upgrades",),
    types=tuple(GATES),
    fields=GATES,
)
def dropped_field(
    part: TypedValue,
    *,
    enabled: Annotated[tuple[str, ...], "feature gates that are enabled in your clusters"] = (),
) -> Iterator[Problem]:
    """The server drops such a field without a warning, so it has no effect."""
    gates = GATES[part.type]
    for key, node in part.node.entries:
        gate = gates.get(key)
        if gate is None or node.value in (None, gate.harmless) or gate.name in enabled or not node:
            continue
        if not gate.on or part.resource.is_before(gate.on):
            since = f" before Kubernetes 1.{gate.on}" if gate.on else ""
            message = f"{key} is dropped silently, because feature gate {gate.name} is off by default{since}"
            yield Problem(node, message, help=f"remove {key}, or enable the gate and add it to option enabled", at="key")

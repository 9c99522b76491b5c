"""Feature gates of kube-apiserver: from which version on each is enabled by default.

Sources: pkg/features/kube_features.go and the packages pkg/features of k8s.io/apiserver and k8s.io/apiextensions-apiserver in
kubernetes/kubernetes, whose tables name the default of each version; the pages of the Kubernetes documentation about removed gates.
Recorded answers of API servers decide where these differ: MaxUnavailableStatefulSet is on in the sources of 1.35, but off in 1.36.3.
"""

from __future__ import annotations

ENABLED_SINCE: dict[str, int] = {
    "AdmissionWebhookMatchConditions": 28,
    "AtomicWriteVolumeUserFields": 0,
    "AuthorizeWithSelectors": 32,
    "ClusterTrustBundleProjection": 37,
    "ContainerRestartRules": 35,
    "ContainerStopSignals": 0,
    "CoordinatedLeaderElection": 0,
    "CSIServiceAccountTokenSecrets": 35,
    "CustomResourceFieldSelectors": 31,
    "DRAAdminAccess": 34,
    "DRAConsumableCapacity": 36,
    "DRADeviceBindingConditions": 36,
    "DRADeviceTaints": 36,
    "DRAExtendedResource": 36,
    "DRANodeAllocatableResources": 0,
    "DRAPartitionableDevices": 36,
    "DRAPrioritizedList": 34,
    "DynamicResourceAllocation": 34,
    "EmptyDirVolumeMode": 0,
    "EnvFiles": 35,
    "EvictionRequestAPI": 0,
    "GenericWorkload": 0,
    "GRPCContainerProbeTLS": 0,
    "H2CContainerProbe": 0,
    "HostnameOverride": 35,
    "HPAConfigurableTolerance": 35,
    "HPAContainerMetrics": 27,
    "ImageVolume": 35,
    "InPlacePodVerticalScaling": 33,
    "JobBackoffLimitPerIndex": 29,
    "JobManagedBy": 32,
    "JobPodFailurePolicy": 26,
    "JobPodReplacementPolicy": 29,
    "JobSuccessPolicy": 31,
    "MatchLabelKeysInPodAffinity": 31,
    "MatchLabelKeysInPodTopologySpread": 27,
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": 34,
    "MaxUnavailableStatefulSet": 37,
    "MinDomainsInPodTopologySpread": 27,
    "MutableCSINodeAllocatableCount": 35,
    "NodeInclusionPolicyInPodTopologySpread": 26,
    "PDBUnhealthyPodEvictionPolicy": 27,
    "PodCertificateRequest": 37,
    "PodHostIPs": 29,
    "PodLevelResources": 34,
    "PodLifecycleSleepAction": 30,
    "PodLifecycleSleepActionAllowZero": 33,
    "PodSchedulingReadiness": 27,
    "PreferSameTrafficDistribution": 34,
    "ProcMountType": 33,
    "RecursiveReadOnlyMounts": 31,
    "RelaxedDNSSearchValidation": 33,
    "RelaxedEnvironmentVariableValidation": 32,
    "RelaxedServiceNameValidation": 36,
    "SELinuxChangePolicy": 33,
    "SELinuxMountReadWriteOncePod": 28,
    "ServiceTrafficDistribution": 31,
    "SidecarContainers": 29,
    "SkipReadOnlyValidationGCE": 29,
    "StatefulSetAutoDeletePVC": 27,
    "StatefulSetStartOrdinal": 27,
    "StrictIPCIDRValidation": 36,
    "SupplementalGroupsPolicy": 33,
    "UserNamespacesSupport": 33,
    "VolumeAttributesClass": 34,
    "VolumeBindMountOptions": 0,
    "VolumeLimitScaling": 37,
    "WorkloadWithJob": 0,
}
"""N of the first Kubernetes version 1.N with the gate enabled by default, by gate; 0 if no supported version enables it."""


def is_enabled(gate: str, minor: int) -> bool:
    """Return whether Kubernetes 1.`minor` enables a gate by default; `minor` 0 is the newest version. Raises KeyError for unknown gates."""
    since = ENABLED_SINCE[gate]
    return since > 0 and (minor == 0 or minor >= since)

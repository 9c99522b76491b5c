"""The checks of the other tools and which of them run by default, as of the versions below.

The tables need not be complete: the checks in `kcheck/rule/equivalents.json` are known as well.
"""

from __future__ import annotations

from typing import NamedTuple


class Tool(NamedTuple):
    """A tool. `version`: the version of the tables; `default`: checks that run by default; `optional`: checks that must be enabled."""

    name: str
    version: str
    default: frozenset[str]
    optional: frozenset[str] = frozenset()

    @property
    def checks(self) -> frozenset[str]:
        return self.default | self.optional


def _ids(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _numbered(prefix: str, *ranges: tuple[int, int]) -> frozenset[str]:
    return frozenset(f"{prefix}{n}" for first, last in ranges for n in range(first, last + 1))


KUBE_LINTER = Tool(
    "kube-linter",
    "0.8.3",
    _ids("""
        dangling-service deprecated-service-account-field docker-sock drop-net-raw-capability duplicate-env-var env-var-secret host-ipc
        host-network host-pid invalid-target-ports latest-tag liveness-port mismatching-selector no-anti-affinity no-extensions-v1beta
        no-read-only-root-fs non-existent-service-account pdb-max-unavailable pdb-min-available pdb-unhealthy-pod-eviction-policy
        privilege-escalation-container privileged-container readiness-port run-as-non-root sensitive-host-mounts ssh-port startup-port
        unsafe-sysctls unset-cpu-requirements unset-memory-requirements
    """),
    _ids("""
        access-to-create-pods access-to-secrets cluster-admin-role-binding dangling-horizontalpodautoscaler dangling-ingress
        dangling-networkpolicy dangling-networkpolicypeer-podselector dangling-servicemonitor default-service-account dnsconfig-options
        env-value-from exposed-services hpa-minimum-three-replicas job-ttl-seconds-after-finished minimum-three-replicas
        no-liveness-probe no-node-affinity no-readiness-probe no-rolling-update-strategy non-isolated-pod priority-class-name
        privileged-ports read-secret-from-env-var required-annotation-email required-label-owner restart-policy
        scc-deny-privileged-container sorted-keys unsafe-proc-mount use-namespace wildcard-in-rules writable-host-mount
    """),
)

KUBE_SCORE = Tool(
    "kube-score",
    "1.20",
    _ids("""
        container-ephemeral-storage-request-and-limit container-image-pull-policy container-image-tag container-resources
        container-security-context-privileged container-security-context-readonlyrootfilesystem
        container-security-context-user-group-id cronjob-has-deadline cronjob-restartpolicy deployment-has-host-podantiaffinity
        deployment-has-poddisruptionbudget deployment-pod-selector-labels-match-template-metadata-labels deployment-replicas
        deployment-strategy deployment-targeted-by-hpa-does-not-have-replicas-configured environment-variable-key-duplication
        horizontalpodautoscaler-has-target horizontalpodautoscaler-replicas ingress-targets-service label-values
        networkpolicy-targets-pod pod-networkpolicy pod-probes pod-probes-identical pod-topology-spread-constraints
        poddisruptionbudget-has-policy service-targets-pod service-type stable-version statefulset-has-host-podantiaffinity
        statefulset-has-poddisruptionbudget statefulset-has-servicename
        statefulset-pod-selector-labels-match-template-metadata-labels
    """),
    _ids("""
        container-cpu-requests-equal-limits container-ephemeral-storage-request-equals-limit container-memory-requests-equal-limits
        container-ports-check container-resource-requests-equal-limits container-seccomp-profile
    """),
)
KUBE_SCORE_IMPLIED = {"container-resources": ("container-ephemeral-storage-request-and-limit",)}
"""Further checks that kube-score ignores if a check is ignored."""

POLARIS_DANGER = _ids("""
    clusterrolePodExecAttach clusterrolebindingClusterAdmin clusterrolebindingPodExecAttach dangerousCapabilities hostIPCSet
    hostNetworkSet hostPIDSet privilegeEscalationAllowed rolePodExecAttach rolebindingClusterAdminClusterRole
    rolebindingClusterAdminRole rolebindingClusterRolePodExecAttach rolebindingRolePodExecAttach runAsPrivileged runAsRootAllowed
    sensitiveConfigmapContent sensitiveContainerEnvVar tagNotSpecified
""")
"""Checks with severity danger in the default config of Polaris. Its other default checks are warnings."""
POLARIS = Tool(
    "polaris",
    "10.2",
    POLARIS_DANGER
    | _ids("""
        automountServiceAccountToken cpuLimitsMissing cpuRequestsMissing deploymentMissingReplicas hostPathSet hostPortSet hostProcess
        hpaMaxAvailability hpaMinAvailability insecureCapabilities linuxHardening livenessProbeMissing memoryLimitsMissing
        memoryRequestsMissing metadataAndInstanceMismatched missingNetworkPolicy missingPodDisruptionBudget notReadOnlyRootFilesystem
        pdbDisruptionsIsZero pdbMinAvailableGreaterThanHPAMinReplicas priorityClassNotSet procMount pullPolicyNotAlways
        readinessProbeMissing tlsSettingsMissing topologySpreadConstraint
    """),
)
POLARIS_FORMER = {"pdbMinAvailableGreaterThanOrEqualToHPAMinReplicas": "pdbMinAvailableGreaterThanHPAMinReplicas"}
"""Former names of Polaris checks, with the current names."""

CHECKOV = Tool(
    "checkov",
    "3.3",
    _numbered("CKV_K8S_", (1, 45), (49, 49), (68, 75), (77, 86), (88, 97), (99, 100), (102, 102), (104, 108), (110, 119), (121, 121))
    | _numbered("CKV_K8S_", (138, 141), (143, 149), (151, 159))
    | _numbered("CKV2_K8S_", (1, 6)),
)
"""The Kubernetes checks of Checkov. All run by default."""

PEERS = {peer.name: peer for peer in (KUBE_LINTER, KUBE_SCORE, POLARIS, CHECKOV)}

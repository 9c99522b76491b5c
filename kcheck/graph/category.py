"""What part an object plays in an application. Traffic comes in at the first of these and runs towards the last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

Category = Literal["policy", "entry", "service", "workload", "config", "storage", "access", "cluster", "other"]
CATEGORIES: tuple[Category, ...] = get_args(Category)

CATEGORY_TITLES: Mapping[Category, str] = {
    "policy": "Scaling and policies",
    "entry": "Ways in",
    "service": "Services",
    "workload": "Workloads",
    "config": "Configuration",
    "storage": "Storage",
    "access": "Access",
    "cluster": "Cluster",
    "other": "Other",
}
STAGES: Mapping[Category, int] = {"service": 1, "policy": 1, "workload": 2, "config": 3, "storage": 3, "access": 3}
"""The column that objects of a category stand in at the earliest, where a graph is drawn from the left to the right."""

_KINDS: Mapping[Category, tuple[str, ...]] = {
    "policy": (
        "HorizontalPodAutoscaler", "VerticalPodAutoscaler", "ScaledObject", "ScaledJob", "PodDisruptionBudget", "NetworkPolicy",
        "ServiceMonitor", "PodMonitor", "PrometheusRule", "Probe", "ResourceQuota", "LimitRange", "AuthorizationPolicy",
        "PeerAuthentication", "RequestAuthentication", "CiliumNetworkPolicy",
    ),
    "entry": (
        "Ingress", "Gateway", "HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute", "UDPRoute", "VirtualService", "IngressRoute",
        "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "APIService",
    ),
    "service": ("Service", "Endpoints", "EndpointSlice", "DestinationRule", "ServiceEntry"),
    "workload": (
        "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "CronJob", "Pod", "PodTemplate", "Rollout",
        "DeploymentConfig", "Workflow", "WorkflowTemplate", "CronWorkflow",
    ),
    "config": (
        "ConfigMap", "Secret", "SealedSecret", "ExternalSecret", "ClusterExternalSecret", "SecretStore", "ClusterSecretStore",
        "Certificate", "Issuer", "ClusterIssuer", "SecretProviderClass", "TriggerAuthentication", "ClusterTriggerAuthentication",
    ),
    "storage": (
        "PersistentVolumeClaim", "PersistentVolume", "StorageClass", "VolumeAttributesClass", "VolumeSnapshot", "VolumeSnapshotClass",
        "CSIDriver", "ResourceClaim", "ResourceClaimTemplate", "DeviceClass",
    ),
    "access": ("ServiceAccount", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "User", "Group"),
    "cluster": (
        "Namespace", "Node", "CustomResourceDefinition", "PriorityClass", "RuntimeClass", "IngressClass", "GatewayClass",
        "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "FlowSchema", "PriorityLevelConfiguration",
    ),
}  # fmt: skip
_BY_KIND: Mapping[str, Category] = {kind: category for category, kinds in _KINDS.items() for kind in kinds}


def category_of(kind: str, has_pods: bool = False) -> Category:
    """The category of a kind; of one that is not known, by whether it has pods."""
    return _BY_KIND.get(kind, "workload" if has_pods else "other")

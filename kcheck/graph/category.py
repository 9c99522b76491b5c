"""Categories of objects by their role in an application, roughly in the direction of traffic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

Category = Literal["policy", "entry", "service", "workload", "config", "storage", "access", "cluster", "other"]
CATEGORIES: tuple[Category, ...] = get_args(Category)

CATEGORY_TITLES: Mapping[Category, str] = {
    "policy": "Scaling and policies",
    "entry": "Entry points",
    "service": "Services",
    "workload": "Workloads",
    "config": "Configuration",
    "storage": "Storage",
    "access": "Access",
    "cluster": "Cluster",
    "other": "Other",
}
STAGES: Mapping[Category, int] = {"service": 1, "policy": 1, "workload": 2, "config": 3, "storage": 3, "access": 3}
"""The minimum column of the objects of a category in a left-to-right drawing."""

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
    """Returns the category of a kind. An unknown kind is a workload if it has Pods."""
    return _BY_KIND.get(kind, "workload" if has_pods else "other")

"""What kustomize identifies an object by, and what it knows of kinds.

Source: kyaml/resid and the OpenAPI document of Kubernetes 1.21.2 that kustomize 5 carries: kinds and scopes that are younger are unknown
to it, so it treats their objects as custom resources.
"""

from __future__ import annotations

from typing import NamedTuple

DEFAULT = "default"
NO_NAMESPACE = "_non_namespaceable_"

# By apiVersion, the kinds that kustomize knows; "!" marks those without a namespace.
_KINDS = {
    "admissionregistration.k8s.io/v1": "MutatingWebhookConfiguration! ValidatingWebhookConfiguration!",
    "admissionregistration.k8s.io/v1beta1": "MutatingWebhookConfiguration! ValidatingWebhookConfiguration!",
    "apiextensions.k8s.io/v1": "CustomResourceDefinition!",
    "apiextensions.k8s.io/v1beta1": "CustomResourceDefinition!",
    "apiregistration.k8s.io/v1": "APIService!",
    "apiregistration.k8s.io/v1beta1": "APIService!",
    "apps/v1": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    "autoscaling/v1": "HorizontalPodAutoscaler Scale",
    "autoscaling/v2beta1": "HorizontalPodAutoscaler",
    "autoscaling/v2beta2": "HorizontalPodAutoscaler",
    "batch/v1": "CronJob Job",
    "batch/v1beta1": "CronJob",
    "certificates.k8s.io/v1": "CertificateSigningRequest!",
    "certificates.k8s.io/v1beta1": "CertificateSigningRequest!",
    "coordination.k8s.io/v1": "Lease",
    "coordination.k8s.io/v1beta1": "Lease",
    "discovery.k8s.io/v1": "EndpointSlice",
    "discovery.k8s.io/v1beta1": "EndpointSlice",
    "events.k8s.io/v1": "Event",
    "events.k8s.io/v1beta1": "Event",
    "extensions/v1beta1": "Ingress",
    "flowcontrol.apiserver.k8s.io/v1beta1": "FlowSchema! PriorityLevelConfiguration!",
    "networking.k8s.io/v1": "Ingress IngressClass! NetworkPolicy",
    "networking.k8s.io/v1beta1": "Ingress IngressClass!",
    "node.k8s.io/v1": "RuntimeClass!",
    "node.k8s.io/v1beta1": "RuntimeClass!",
    "policy/v1": "PodDisruptionBudget",
    "policy/v1beta1": "PodDisruptionBudget PodSecurityPolicy!",
    "rbac.authorization.k8s.io/v1": "ClusterRole! ClusterRoleBinding! Role RoleBinding",
    "rbac.authorization.k8s.io/v1beta1": "ClusterRole! ClusterRoleBinding! Role RoleBinding",
    "scheduling.k8s.io/v1": "PriorityClass!",
    "scheduling.k8s.io/v1beta1": "PriorityClass!",
    "storage.k8s.io/v1": "CSIDriver! CSINode! StorageClass! VolumeAttachment!",
    "storage.k8s.io/v1beta1": "CSIDriver! CSINode! CSIStorageCapacity StorageClass! VolumeAttachment!",
    "v1": "ComponentStatus! ConfigMap Endpoints Event LimitRange Namespace! Node! PersistentVolume! PersistentVolumeClaim Pod PodTemplate "
    "ReplicationController ResourceQuota Secret Service ServiceAccount",
}
_SCOPES = {
    (api_version, word.rstrip("!")): not word.endswith("!") for api_version, words in _KINDS.items() for word in words.split()
}  # fmt: skip

FIRST = [
    "Namespace", "ResourceQuota", "StorageClass", "CustomResourceDefinition", "ServiceAccount", "PodSecurityPolicy", "Role",
    "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ConfigMap", "Secret", "Endpoints", "Service", "LimitRange", "PriorityClass",
    "PersistentVolume", "PersistentVolumeClaim", "Deployment", "StatefulSet", "CronJob", "PodDisruptionBudget",
]  # fmt: skip
LAST = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]


def is_known(api_version: str, kind: str) -> bool:
    """Whether kustomize has a schema of a kind."""
    return (api_version, kind) in _SCOPES


class Gvk(NamedTuple):
    """Group, version and kind. In a selector, "" means any."""

    group: str = ""
    version: str = ""
    kind: str = ""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def is_selected(self, by: Gvk) -> bool:
        return (
            (not by.kind or by.kind == self.kind)
            and (not by.group or by.group == self.group)
            and (not by.version or by.version == self.version)
        )

    @property
    def order(self) -> tuple[int, str]:
        """Sorts settings as kustomize does."""
        return rank(self.kind, FIRST, LAST), written(self)


class Id(NamedTuple):
    """An object's identity. `namespace`: as written, "" where none is."""

    gvk: Gvk
    name: str = ""
    namespace: str = ""

    @property
    def is_cluster_scoped(self) -> bool:
        return not _SCOPES.get((self.gvk.api_version, self.gvk.kind), True)

    @property
    def effective(self) -> str:
        """The namespace that the object is in: "default" where none is written."""
        return NO_NAMESPACE if self.is_cluster_scoped else self.namespace or DEFAULT

    def equals(self, other: Id) -> bool:
        return self.name == other.name and self.gvk == other.gvk and self.effective == other.effective

    def is_selected(self, by: Id) -> bool:
        return (
            (not by.name or by.name == self.name) and (not by.namespace or by.effective == self.effective) and self.gvk.is_selected(by.gvk)
        )

    def __str__(self) -> str:
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.gvk.kind} {name!r}"


def gvk_of(api_version: str, kind: str) -> Gvk:
    group, slash, version = api_version.partition("/")
    return Gvk(group, version, kind) if slash else Gvk("", api_version, kind)


def rank(kind: str, first: list[str], last: list[str]) -> int:
    """The rank of objects of a kind in the order of kustomize: negative for first, positive for last."""
    if kind in last:
        return 1 + last.index(kind)
    return first.index(kind) - len(first) if kind in first else 0


def written(gvk: Gvk) -> str:
    """A text that kinds are sorted by."""
    return f"{gvk.group or '~G'}_{gvk.version or '~V'}_{gvk.kind or '~K'}"

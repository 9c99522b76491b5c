"""Objects that nobody writes: those of every cluster. Sources: the documentation's pages "Using RBAC Authorization", "Pod Priority and
Preemption", "Configure Service Accounts for Pods", and those of Istio, OpenShift and Argo CD for what they put into namespaces.
"""

from __future__ import annotations

from kcheck.facts.facts import Reference

_NAMES = {
    "ConfigMap": {"kube-root-ca.crt", "istio-ca-root-cert", "openshift-service-ca.crt"},
    "ClusterRole": {"cluster-admin", "admin", "edit", "view"},
    "PriorityClass": {"system-cluster-critical", "system-node-critical"},
    # Istio and the clouds make these themselves.
    "GatewayClass": {
        "istio", "istio-remote", "istio-waypoint", "istio-east-west", "kgateway", "gke-l7-gxlb", "gke-l7-rilb",
        "gke-l7-global-external-managed", "gke-l7-regional-external-managed",
    },
    "IngressClass": {"openshift-default", "webapprouting.kubernetes.azure.com"},
    "StorageClass": {
        "standard", "standard-rwo", "premium-rwo", "gp2", "gp2-csi", "gp3-csi", "default", "managed", "managed-csi", "managed-premium",
        "managed-csi-premium", "azurefile", "azurefile-csi", "azurefile-premium", "azurefile-csi-premium", "do-block-storage", "hostpath",
        "local-path",
    },
    "Role": {"extension-apiserver-authentication-reader"},
    "ServiceAccount": {"default"},
    "AppProject": {"default"},
}  # fmt: skip
_NAMESPACES = {"default", "kube-system", "kube-public", "kube-node-lease"}


def is_provided(reference: Reference) -> bool:
    """Whether what is named is in every cluster, or gets there together with its controller."""
    kind, name = reference.kind, reference.name
    if kind in ("User", "Group"):
        # No objects: who asks says so, and the cluster believes it or not.
        return reference.api_group == "rbac.authorization.k8s.io"
    if kind == "Service":
        return name == "kubernetes" and reference.namespace in ("", "default")
    if kind == "Namespace":
        return name in _NAMESPACES
    return name in _NAMES.get(kind, ()) or (kind in ("ClusterRole", "Role") and name.startswith("system:"))

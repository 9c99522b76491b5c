"""Objects that exist in every cluster without being in the input.

Sources: documentation pages "Using RBAC Authorization", "Pod Priority and Preemption" and "Configure Service Accounts for Pods";
documentation of Istio, OpenShift and Argo CD for the objects that they create in namespaces.
"""

from __future__ import annotations

from kcheck.facts.facts import Reference

_NAMES = {
    "ConfigMap": {"kube-root-ca.crt", "istio-ca-root-cert", "openshift-service-ca.crt"},
    "ClusterRole": {"cluster-admin", "admin", "edit", "view"},
    "PriorityClass": {"system-cluster-critical", "system-node-critical"},
    # Created by Istio and by cloud providers.
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
# Namespaces in which the cluster itself or its provider creates objects.
_MANAGED_NAMESPACES = ("kube-system", "kube-public", "kube-node-lease", "gke-managed-", "gmp-", "openshift-")


def is_managed_namespace(namespace: str) -> bool:
    """Return whether the cluster or its provider creates objects in a namespace, so that objects may exist without being in the input."""
    return namespace.startswith(_MANAGED_NAMESPACES)


def is_provided(reference: Reference) -> bool:
    """Return whether the referenced object exists in every cluster, or is installed together with its controller."""
    kind, name = reference.kind, reference.name
    if kind in ("User", "Group"):
        # Users and groups are not objects; they are defined by authentication.
        return reference.api_group == "rbac.authorization.k8s.io"
    if kind == "Service":
        return name == "kubernetes" and reference.namespace in ("", "default")
    if kind == "Namespace":
        return name in _NAMESPACES
    return name in _NAMES.get(kind, ()) or (kind in ("ClusterRole", "Role") and name.startswith("system:"))

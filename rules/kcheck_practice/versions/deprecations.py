"""Deprecated annotations, labels, fields and volume plugins that the API server does not warn about, with their replacements.

Sources: the Kubernetes documentation, "Well-Known Labels, Annotations and Taints" and "Volumes", the comments of k8s.io/api, the release
notes of Kubernetes and kubeadm; for other projects, their documentation. Deprecations with a warning have rules in kcheck_spec.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.api import INFO, Pod, Problem, Resource, Suggestion, TypedValue, labels, remove, rule, use

_GROUPS = ("upgrades", "deprecated")


class Former(NamedTuple):
    """`fate`: the predicate of the message; `instead`: the help; `since`: the minor version (1.N) from which this applies."""

    fate: str
    instead: str
    since: int = 0


_IDLE = "no longer has an effect"
ANNOTATIONS = {
    "pod.alpha.kubernetes.io/init-containers": Former("has no effect since Kubernetes 1.8", "use initContainers"),
    "pod.beta.kubernetes.io/init-containers": Former("has no effect since Kubernetes 1.8", "use initContainers"),
    "pod.alpha.kubernetes.io/initialized": Former(_IDLE, remove()),
    "pod.beta.kubernetes.io/hostname": Former(_IDLE, "use spec.hostname of the Pod"),
    "pod.beta.kubernetes.io/subdomain": Former(_IDLE, "use spec.subdomain of the Pod"),
    "scheduler.alpha.kubernetes.io/affinity": Former(_IDLE, "use spec.affinity of the Pod"),
    "scheduler.alpha.kubernetes.io/tolerations": Former(_IDLE, "use spec.tolerations of the Pod"),
    "scheduler.alpha.kubernetes.io/name": Former(_IDLE, "use spec.schedulerName of the Pod"),
    "scheduler.alpha.kubernetes.io/taints": Former(_IDLE, "use spec.taints of the Node"),
    "scheduler.alpha.kubernetes.io/preferAvoidPods": Former("is deprecated since Kubernetes 1.22", "use spec.taints of the Node"),
    "experimental.windows.kubernetes.io/isolation-type": Former("has no effect since Kubernetes 1.21", "use a RuntimeClass"),
    "service.alpha.kubernetes.io/tolerate-unready-endpoints": Former(
        "has no effect since Kubernetes 1.24", "use publishNotReadyAddresses: true"
    ),
    "service.beta.kubernetes.io/external-traffic": Former(_IDLE, "use externalTrafficPolicy"),
    "service.beta.kubernetes.io/healthcheck-nodeport": Former(_IDLE, "use healthCheckNodePort"),
    "net.beta.kubernetes.io/network-policy": Former("has no effect since Kubernetes 1.7", "use a NetworkPolicy"),
    "volume.alpha.kubernetes.io/storage-class": Former(_IDLE, "use storageClassName"),
    "volume.alpha.kubernetes.io/node-affinity": Former(_IDLE, "use spec.nodeAffinity of the PersistentVolume"),
    "volume.beta.kubernetes.io/storage-provisioner": Former(
        "is deprecated since Kubernetes 1.23", "remove it: the control plane sets volume.kubernetes.io/storage-provisioner"
    ),
    "storageclass.beta.kubernetes.io/is-default-class": Former("is deprecated", "use storageclass.kubernetes.io/is-default-class"),
    "kubectl.kubernetes.io/default-logs-container": Former(
        "has no effect since Kubernetes 1.25", "use kubectl.kubernetes.io/default-container"
    ),
    "batch.kubernetes.io/job-tracking": Former("has no effect since Kubernetes 1.27", remove(), 27),
    "autoscaling.alpha.kubernetes.io/metrics": Former(
        "is only for autoscaling/v1, which has no field for it", "use spec.metrics of autoscaling/v2"
    ),
    "autoscaling.alpha.kubernetes.io/behavior": Former(
        "is only for autoscaling/v1, which has no field for it", "use spec.behavior of autoscaling/v2"
    ),
    "cloud.google.com/load-balancer-type": Former("is deprecated since GKE 1.17", "use networking.gke.io/load-balancer-type"),
    "beta.cloud.google.com/backend-config": Former("is deprecated", "use cloud.google.com/backend-config"),
}
# Prefixes of deprecated annotations.
_PREFIXES = {
    "certmanager.k8s.io/": Former("has no effect since cert-manager 0.11", "use cert-manager.io/"),
}
_POD_PRESET = Former("has no effect since Kubernetes 1.20, which removed PodPresets", remove())
_FLUX = Former("is read only by Flux 1, which is archived", "use ImagePolicy and ImageUpdateAutomation of Flux 2")
_FLUX_IGNORE = _FLUX._replace(instead="use kustomize.toolkit.fluxcd.io/reconcile: disabled")
ANNOTATIONS.update({f"{prefix}ignore": _FLUX_IGNORE for prefix in ("flux.weave.works/", "fluxcd.io/")})
# Prefixes of annotations whose names have no counterpart under another prefix.
_ABANDONED_PREFIXES = {"podpreset.admission.kubernetes.io/": _POD_PRESET, "flux.weave.works/": _FLUX, "fluxcd.io/": _FLUX}
_INGRESS_PREFIX, _NGINX_PREFIX = "ingress.kubernetes.io/", "nginx.ingress.kubernetes.io/"
_TRAEFIK_PREFIX = "traefik.ingress.kubernetes.io/"
_TRAEFIK_PARTS = ("router.", "service.")
# Labels and taints of nodes. Those that cause a warning of the API server in node selectors are in labels.DEPRECATED, too.
_MASTER, _CONTROL_PLANE = "node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"
_TAINTS = {
    "node.alpha.kubernetes.io/notReady": "node.kubernetes.io/not-ready",
    "node.alpha.kubernetes.io/unreachable": "node.kubernetes.io/unreachable",
}
_OWN_LABELS = {
    "alpha.service-controller.kubernetes.io/exclude-balancer": "node.kubernetes.io/exclude-from-external-load-balancers",
}
_OF_NODES = ("beta.kubernetes.io/", "failure-domain.beta.kubernetes.io/")

# By in-tree volume type: the provisioner, the CSI driver that handles it, and since which minor version.
DRIVERS = {
    "awsElasticBlockStore": ("kubernetes.io/aws-ebs", "ebs.csi.aws.com", 25),
    "azureDisk": ("kubernetes.io/azure-disk", "disk.csi.azure.com", 24),
    "azureFile": ("kubernetes.io/azure-file", "file.csi.azure.com", 26),
    "cinder": ("kubernetes.io/cinder", "cinder.csi.openstack.org", 24),
    "gcePersistentDisk": ("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", 25),
    "portworxVolume": ("kubernetes.io/portworx-volume", "pxd.portworx.com", 33),
    "vsphereVolume": ("kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", 26),
}
_BY_PROVISIONER = {provisioner: (driver, since) for provisioner, driver, since in DRIVERS.values()}
# Removed provisioners, with the first minor version without them.
GONE = {
    "kubernetes.io/photon-pd": 16,
    "kubernetes.io/scaleio": 22,
    "kubernetes.io/quobyte": 25,
    "kubernetes.io/storageos": 25,
    "kubernetes.io/flocker": 25,
    "kubernetes.io/glusterfs": 26,
    "kubernetes.io/rbd": 31,
}
FIELDS = {
    "core/v1 ServiceSpec": {
        "loadBalancerIP": Former("is deprecated since Kubernetes 1.24", "use the annotation of your load balancer controller")
    },
    "core/v1 LifecycleHandler": {"tcpSocket": Former("has never had an effect in a lifecycle hook", "use httpGet, exec or sleep")},
    "discovery/v1 Endpoint": {"deprecatedTopology": Former("has no effect", "use nodeName and zone")},
}


@rule(
    "deprecated-annotation",
    "Annotation is deprecated or no longer has an effect",
    groups=(*_GROUPS, "labels"),
    types="meta/v1 ObjectMeta",
    fields="annotations",
)
def deprecated_annotation(part: TypedValue) -> Iterator[Problem]:
    """The API server stores such an annotation without a warning, but it has no effect, or soon will not."""
    for key, node in part.node["annotations"].entries:
        former = ANNOTATIONS.get(key) or _former_by_prefix(key, part.resource)
        if former is not None and not part.resource.is_before(former.since):
            yield Problem(node, f"annotation {key} {former.fate}", help=former.instead, at="key")


@rule(
    "deprecated-label",
    "Node label or taint is deprecated (node-role.kubernetes.io/master)",
    groups=(*_GROUPS, "labels", "scheduling"),
    types=("core/v1 PodSpec", "meta/v1 ObjectMeta"),
    fields=("labels", "tolerations", "nodeSelector", "affinity"),
    fixable=True,
)
def deprecated_label(part: TypedValue) -> Iterator[Problem]:
    """Nodes no longer carry these labels and taints, so Pods match no node, or are kept off nodes that they should run on."""
    if part.type == "meta/v1 ObjectMeta":
        if "labels" not in part.node:
            return
        of_nodes = part.resource.kind in ("Node", "PersistentVolume") and part.node.parent is part.resource.node
        for key, node in part.node["labels"].entries:
            instead = _OWN_LABELS.get(key) or (labels.replacement(key) if of_nodes and key.startswith(_OF_NODES) else "")
            if instead:
                yield Problem(node, f"label {key} is deprecated", help=use(instead), at="key")
        return
    pod = Pod(part.node, part.resource)
    yield from _tolerated(pod)
    yield from _chosen(pod)


@rule(
    "removed-volume-plugin",
    "Volume plugin was removed from Kubernetes or replaced by a CSI driver",
    groups=(*_GROUPS, "storage"),
    types=("core/v1 Volume", "core/v1 PersistentVolumeSpec", "storage/v1 StorageClass"),
    fields=(*DRIVERS, "flexVolume", "provisioner"),
    fixable=True,
)
def removed_volume_plugin(part: TypedValue) -> Iterator[Problem]:
    """The in-tree plugins for storage of clouds and vendors were removed; an installed CSI driver handles their volumes."""
    if part.type == "storage/v1 StorageClass":
        node = part.node["provisioner"]
        driver, since = _BY_PROVISIONER.get(node.text, ("", 0))
        gone = GONE.get(node.text, 0)
        if driver and not part.resource.is_before(since):
            message = f"in-tree provisioner {node.text} is handled by CSI driver {driver} since Kubernetes 1.{since}"
            yield Problem(node, message, help=Suggestion(f"use provisioner: {driver}", driver))
        elif gone and not part.resource.is_before(gone):
            message = f"provisioner {node.text} was removed in Kubernetes 1.{gone}"
            yield Problem(node, message, help="use the provisioner of a CSI driver")
        return
    for key, node in part.node.entries:
        if key in DRIVERS and node:
            _, driver, since = DRIVERS[key]
            if not part.resource.is_before(since):
                in_pod = part.type == "core/v1 Volume"
                instead = "use a PersistentVolumeClaim for a volume of this driver" if in_pod else "use spec.csi with this driver"
                message = f"in-tree volume type {key} is handled by CSI driver {driver} since Kubernetes 1.{since}"
                yield Problem(node, message, help=instead, at="key")
        elif key == "flexVolume" and node:
            yield Problem(node, "flexVolume is deprecated since Kubernetes 1.23", help="use a CSI driver", at="key")


@rule(
    "legacy-field",
    "Field is deprecated in the API reference, without an API server warning (loadBalancerIP)",
    severity=INFO,
    groups=_GROUPS,
    default=False,
    types=tuple(FIELDS),
)
def former_field(part: TypedValue) -> Iterator[Problem]:
    """Fields without a warning of the API server; those with a warning belong to deprecated-field."""
    for key, node in part.node.entries:
        former = FIELDS[part.type].get(key)
        if former is not None and node:
            yield Problem(node, f"{key} {former.fate}", help=former.instead, at="key")


def _former_by_prefix(key: str, resource: Resource) -> Former | None:
    """The deprecation of an annotation whose prefix determines it."""
    prefix, slash, name = key.partition("/")
    prefix += slash
    if prefix in _PREFIXES:
        former = _PREFIXES[prefix]
        return former._replace(instead=f"{former.instead}{name} instead")
    if prefix in _ABANDONED_PREFIXES:
        return _ABANDONED_PREFIXES[prefix]
    if prefix == _INGRESS_PREFIX and resource.kind == "Ingress" and _ingress_class(resource) == "nginx":
        return Former(f"is not read by ingress-nginx, whose annotations begin with {_NGINX_PREFIX}", f"use {_NGINX_PREFIX}{name}")
    if prefix == _TRAEFIK_PREFIX and not name.startswith(_TRAEFIK_PARTS):
        return Former("has no effect since Traefik 2", f"use an annotation under {_TRAEFIK_PREFIX}router. or a Middleware")
    return None


def _ingress_class(ingress: Resource) -> str:
    return ingress["spec"]["ingressClassName"].text or ingress.annotations.get("kubernetes.io/ingress.class", "")


def _tolerated(pod: Pod) -> Iterator[Problem]:
    keys = {each["key"].text for each in pod["tolerations"]}
    for each in pod["tolerations"]:
        node = each["key"]
        if node.text == _MASTER and _CONTROL_PLANE not in keys:
            message = f"taint {_MASTER} is no longer set by kubeadm since Kubernetes 1.25"
            yield Problem(node, message, help=use(_CONTROL_PLANE, safe=False))
        elif node.text in _TAINTS and _TAINTS[node.text] not in keys:
            yield Problem(node, f"taint {node.text} is no longer set", help=use(_TAINTS[node.text], safe=False))


def _chosen(pod: Pod) -> Iterator[Problem]:
    """Node selection by the old label of the control plane, and topology keys with the old labels of zones."""
    no_label = f"label {_MASTER} is no longer set by kubeadm since Kubernetes 1.24"
    for key, node in pod["nodeSelector"].entries:
        if key == _MASTER:
            yield Problem(node, no_label, help=use(_CONTROL_PLANE, safe=False), at="key")
    affinity = pod["affinity"]
    if not affinity:
        return
    required = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    preferred = [each["preference"] for each in affinity["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]]
    found = [each["key"] for term in (*required, *preferred) for each in term["matchExpressions"]]
    if not any(node.text == _CONTROL_PLANE for node in found):
        for node in found:
            if node.text == _MASTER:
                yield Problem(node, no_label, help=use(_CONTROL_PLANE, safe=False))
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = list(affinity[kind]["requiredDuringSchedulingIgnoredDuringExecution"])
        terms += [each["podAffinityTerm"] for each in affinity[kind]["preferredDuringSchedulingIgnoredDuringExecution"]]
        for term in terms:
            node = term["topologyKey"]
            if node.text.startswith(_OF_NODES):
                yield Problem(node, f"label {node.text} is deprecated", help=use(labels.replacement(node.text)))

"""What Kubernetes has given up without the API server saying so: annotations, labels, fields, volume plugins, with what stands in for each.

Sources: the documentation's pages "Well-Known Labels, Annotations and Taints" and "Volumes", the comments of k8s.io/api, the release
notes of Kubernetes and kubeadm; for annotations of other projects, their own. What the API server warns of has rules in kcheck_spec.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.api import INFO, Part, Pod, Problem, labels, rule

_GROUPS = ("upgrades", "deprecated")


class Former(NamedTuple):
    """`fate`: what became of it, and since when; `instead`: what to write; `since`: the minor version (1.N) from which that holds."""

    fate: str
    instead: str
    since: int = 0


_IDLE = "does nothing any more"
ANNOTATIONS = {
    "pod.alpha.kubernetes.io/init-containers": Former("does nothing since 1.8", "write initContainers"),
    "pod.beta.kubernetes.io/init-containers": Former("does nothing since 1.8", "write initContainers"),
    "pod.alpha.kubernetes.io/initialized": Former(_IDLE, "take it away"),
    "pod.beta.kubernetes.io/hostname": Former(_IDLE, "write hostname in the spec of the pod"),
    "pod.beta.kubernetes.io/subdomain": Former(_IDLE, "write subdomain in the spec of the pod"),
    "scheduler.alpha.kubernetes.io/affinity": Former(_IDLE, "write affinity in the spec of the pod"),
    "scheduler.alpha.kubernetes.io/tolerations": Former(_IDLE, "write tolerations in the spec of the pod"),
    "scheduler.alpha.kubernetes.io/name": Former(_IDLE, "write schedulerName in the spec of the pod"),
    "scheduler.alpha.kubernetes.io/taints": Former(_IDLE, "write taints in the spec of the node"),
    "scheduler.alpha.kubernetes.io/preferAvoidPods": Former("is deprecated since 1.22", "write taints in the spec of the node"),
    "experimental.windows.kubernetes.io/isolation-type": Former("does nothing since 1.21", "use a RuntimeClass"),
    "service.alpha.kubernetes.io/tolerate-unready-endpoints": Former("does nothing since 1.24", "write publishNotReadyAddresses: true"),
    "service.beta.kubernetes.io/external-traffic": Former(_IDLE, "write externalTrafficPolicy"),
    "service.beta.kubernetes.io/healthcheck-nodeport": Former(_IDLE, "write healthCheckNodePort"),
    "net.beta.kubernetes.io/network-policy": Former("does nothing since 1.7", "write a NetworkPolicy"),
    "volume.alpha.kubernetes.io/storage-class": Former(_IDLE, "write storageClassName"),
    "volume.alpha.kubernetes.io/node-affinity": Former(_IDLE, "write nodeAffinity in the spec of the volume"),
    "volume.beta.kubernetes.io/storage-provisioner": Former("is deprecated since 1.23", "take it away, the control plane sets its own"),
    "storageclass.beta.kubernetes.io/is-default-class": Former("is deprecated", "write storageclass.kubernetes.io/is-default-class"),
    "kubectl.kubernetes.io/default-logs-container": Former("does nothing since 1.25", "write kubectl.kubernetes.io/default-container"),
    "batch.kubernetes.io/job-tracking": Former("does nothing since 1.27", "take it away, all Jobs are tracked so", 27),
    "autoscaling.alpha.kubernetes.io/metrics": Former(
        "is how autoscaling/v1 says what it has no field for", "write metrics of autoscaling/v2"
    ),
    "autoscaling.alpha.kubernetes.io/behavior": Former(
        "is how autoscaling/v1 says what it has no field for", "write behavior of autoscaling/v2"
    ),
    "cloud.google.com/load-balancer-type": Former("is deprecated since GKE 1.17", "write networking.gke.io/load-balancer-type"),
    "beta.cloud.google.com/backend-config": Former("is deprecated", "write cloud.google.com/backend-config"),
}
# All that begin like this.
_PREFIXES = {
    "certmanager.k8s.io/": Former("does nothing since cert-manager 0.11", "write cert-manager.io/"),
}
# Labels and taints of nodes. Those that the API server warns of where they choose nodes are in labels.DEPRECATED, too.
_MASTER, _CONTROL_PLANE = "node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"
_TAINTS = {
    "node.alpha.kubernetes.io/notReady": "node.kubernetes.io/not-ready",
    "node.alpha.kubernetes.io/unreachable": "node.kubernetes.io/unreachable",
}
_OWN_LABELS = {
    "alpha.service-controller.kubernetes.io/exclude-balancer": "node.kubernetes.io/exclude-from-external-load-balancers",
}
_OF_NODES = ("beta.kubernetes.io/", "failure-domain.beta.kubernetes.io/")

# The CSI driver that does the work of a plugin, and since which version no other does.
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
# Provisioners that no longer make volumes, by the version that was the first without them.
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
    "core/v1 ServiceSpec": {"loadBalancerIP": Former("is deprecated since 1.24", "use the annotation of your load balancer")},
    "core/v1 LifecycleHandler": {"tcpSocket": Former("has never done anything", "write httpGet, exec or sleep")},
    "discovery/v1 Endpoint": {"deprecatedTopology": Former("is read by nobody", "write nodeName and zone")},
}


@rule(
    "deprecated-annotation",
    "Annotation is deprecated or no longer has an effect",
    groups=(*_GROUPS, "labels"),
    types="meta/v1 ObjectMeta",
    fields="annotations",
)
def deprecated_annotation(part: Part) -> Iterator[Problem]:
    """The API server keeps it and says nothing, so that what was asked for does not happen, or soon will not."""
    for key, node in part.node["annotations"].entries:
        former = ANNOTATIONS.get(key)
        instead = former.instead if former else ""
        if former is None:
            prefix = next((each for each in _PREFIXES if key.startswith(each)), None)
            if prefix is None:
                continue
            former = _PREFIXES[prefix]
            instead = former.instead + key.removeprefix(prefix)
        if not part.resource.is_before(former.since):
            yield Problem(node, f"the annotation {key} {former.fate}", help=instead, at="key")


@rule(
    "deprecated-label",
    "Node label or taint is deprecated (node-role.kubernetes.io/master)",
    groups=(*_GROUPS, "labels", "scheduling"),
    types=("core/v1 PodSpec", "meta/v1 ObjectMeta"),
    fields=("labels", "tolerations", "nodeSelector", "affinity"),
)
def deprecated_label(part: Part) -> Iterator[Problem]:
    """Nodes have others now, so that pods find none, or are kept from those that they should run on."""
    if part.type == "meta/v1 ObjectMeta":
        if "labels" not in part.node:
            return
        of_nodes = part.resource.kind in ("Node", "PersistentVolume") and part.node.parent is part.resource.node
        for key, node in part.node["labels"].entries:
            instead = _OWN_LABELS.get(key) or (labels.replacement(key) if of_nodes and key.startswith(_OF_NODES) else "")
            if instead:
                yield Problem(node, f"the label {key} is deprecated", help=f"write {instead}", at="key")
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
)
def removed_volume_plugin(part: Part) -> Iterator[Problem]:
    """Of the plugins for storage of clouds and vendors none is left: a CSI driver does their work, where one is installed."""
    if part.type == "storage/v1 StorageClass":
        node = part.node["provisioner"]
        driver, since = _BY_PROVISIONER.get(node.text, ("", 0))
        gone = GONE.get(node.text, 0)
        if driver and not part.resource.is_before(since):
            yield Problem(node, f"{node.text} has been a name for the CSI driver {driver} since 1.{since}", help=f"write {driver}")
        elif gone and not part.resource.is_before(gone):
            yield Problem(node, f"{node.text} makes no volumes since 1.{gone}", help="write the name of a CSI driver")
        return
    for key, node in part.node.entries:
        if key in DRIVERS and node:
            _, driver, since = DRIVERS[key]
            if not part.resource.is_before(since):
                instead = "write csi with that driver" if part.type != "core/v1 Volume" else "claim a volume of that driver"
                yield Problem(node, f"{key} has been left to the CSI driver {driver} since 1.{since}", help=instead, at="key")
        elif key == "flexVolume" and node:
            yield Problem(node, "flexVolume is deprecated since 1.23", help="use a CSI driver", at="key")


@rule(
    "legacy-field",
    "Field is deprecated in the API reference, without an API server warning (loadBalancerIP)",
    severity=INFO,
    groups=_GROUPS,
    default=False,
    types=tuple(FIELDS),
)
def former_field(part: Part) -> Iterator[Problem]:
    """Those of which the API server says nothing; where it does, the rule is deprecated-field."""
    for key, node in part.node.entries:
        former = FIELDS[part.type].get(key)
        if former is not None and node:
            yield Problem(node, f"{key} {former.fate}", help=former.instead, at="key")


def _tolerated(pod: Pod) -> Iterator[Problem]:
    keys = {each["key"].text for each in pod["tolerations"]}
    for each in pod["tolerations"]:
        node = each["key"]
        if node.text == _MASTER and _CONTROL_PLANE not in keys:
            yield Problem(node, f"kubeadm sets no taint {_MASTER} since 1.25", help=f"write {_CONTROL_PLANE}")
        elif node.text in _TAINTS and _TAINTS[node.text] not in keys:
            yield Problem(node, f"the taint {node.text} is no longer set", help=f"write {_TAINTS[node.text]}")


def _chosen(pod: Pod) -> Iterator[Problem]:
    """Nodes by the former role of control planes, and domains by former labels of zones."""
    for key, node in pod["nodeSelector"].entries:
        if key == _MASTER:
            yield Problem(node, f"kubeadm sets no label {_MASTER} since 1.24", help=f"write {_CONTROL_PLANE}", at="key")
    affinity = pod["affinity"]
    if not affinity:
        return
    required = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    preferred = [each["preference"] for each in affinity["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]]
    found = [each["key"] for term in (*required, *preferred) for each in term["matchExpressions"]]
    if not any(node.text == _CONTROL_PLANE for node in found):
        for node in found:
            if node.text == _MASTER:
                yield Problem(node, f"kubeadm sets no label {_MASTER} since 1.24", help=f"write {_CONTROL_PLANE}")
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = list(affinity[kind]["requiredDuringSchedulingIgnoredDuringExecution"])
        terms += [each["podAffinityTerm"] for each in affinity[kind]["preferredDuringSchedulingIgnoredDuringExecution"]]
        for term in terms:
            node = term["topologyKey"]
            if node.text.startswith(_OF_NODES):
                yield Problem(node, f"the label {node.text} is deprecated", help=f"write {labels.replacement(node.text)}")

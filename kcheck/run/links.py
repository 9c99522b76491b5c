"""Where objects name other objects, by tables. ConfigMaps and Secrets of pods, with their keys and uses, are read by hand.

Sources: the API reference of Kubernetes 1.36, and those of the Gateway API, cert-manager, external-secrets, KEDA, Flux and Argo CD.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.kube.facts import Reference, Use
from kcheck.kube.pod import Container, Pod
from kcheck.kube.resource import Resource
from kcheck.run.placing import Placer
from kcheck.tree.node import Node

_GATEWAY = "gateway.networking.k8s.io"
_ISSUER = "cert-manager.io"
_STORE = "external-secrets.io"
_RBAC = "rbac.authorization.k8s.io"
# Kinds of which a cluster has one of a name, whatever the namespace.
_CLUSTER_WIDE = {
    "ClusterRole", "PriorityClass", "RuntimeClass", "StorageClass", "IngressClass", "GatewayClass", "PersistentVolume", "ClusterIssuer",
    "ClusterSecretStore", "VolumeAttributesClass", "DeviceClass", "ClusterTriggerAuthentication",
}  # fmt: skip


class Link(NamedTuple):
    """A way to what names an object. `path`: from the object, or from a pod's spec, with * for the items of a list.

    `kind`, `group`: of what is named, where the node does not say so itself under `kind` and `group`, `apiGroup` or `apiVersion`, which
    it may where `typed`. `name`, `key`: fields of the node, several in the order of preference; with `name` empty, the node is the name.
    """

    path: str
    kind: str
    group: str = ""
    use: Use = "name"
    name: str = "name"
    key: tuple[str, ...] = ()
    typed: bool = False


_OWNERS = Link("metadata.ownerReferences.*", "", use="own", typed=True)
_HOOK = Link("webhooks.*.clientConfig.service", "Service", use="hook", key=("port",))
_CLAIM = (
    Link("spec.storageClassName", "StorageClass", "storage.k8s.io", "class", ""),
    Link("spec.volumeName", "PersistentVolume", "", "name", ""),
    Link("spec.volumeAttributesClassName", "VolumeAttributesClass", "storage.k8s.io", "class", ""),
    Link("spec.dataSource", "PersistentVolumeClaim", "", "name", typed=True),
)
_ROUTE = (
    Link("spec.parentRefs.*", "Gateway", _GATEWAY, "name", typed=True),
    Link("spec.rules.*.backendRefs.*", "Service", "", "backend", key=("port",), typed=True),
)
_POD = (
    Link("priorityClassName", "PriorityClass", "scheduling.k8s.io", "class", ""),
    Link("runtimeClassName", "RuntimeClass", "node.k8s.io", "class", ""),
    Link("volumes.*.persistentVolumeClaim", "PersistentVolumeClaim", "", "volume", "claimName"),
    Link("volumes.*.ephemeral.volumeClaimTemplate.spec.storageClassName", "StorageClass", "storage.k8s.io", "class", ""),
    Link("volumes.*.csi.nodePublishSecretRef", "Secret", "", "volume"),
    Link("resourceClaims.*.resourceClaimName", "ResourceClaim", "resource.k8s.io", "name", ""),
    Link("resourceClaims.*.resourceClaimTemplateName", "ResourceClaimTemplate", "resource.k8s.io", "name", ""),
)
_INGRESS = (
    Link("spec.rules.*.http.paths.*.backend.service", "Service", "", "backend", key=("port.name", "port.number")),
    Link("spec.defaultBackend.service", "Service", "", "backend", key=("port.name", "port.number")),
    Link("spec.ingressClassName", "IngressClass", "networking.k8s.io", "class", ""),
    Link("spec.tls.*", "Secret", "", "name", "secretName"),
)
_OLD_INGRESS = (
    Link("spec.rules.*.http.paths.*.backend", "Service", "", "backend", "serviceName", ("servicePort",)),
    Link("spec.backend", "Service", "", "backend", "serviceName", ("servicePort",)),
)
_BINDING = (
    Link("roleRef", "ClusterRole", _RBAC, "role", typed=True),
    Link("subjects.*", "", "", "subject", typed=True),
)
_ISSUED = (Link("spec.issuerRef", "Issuer", _ISSUER, "name", typed=True),)
_STORED = (Link("spec.secretStoreRef", "SecretStore", _STORE, "name", typed=True),)
_LINKS: dict[tuple[str, str], tuple[Link, ...]] = {
    ("networking.k8s.io", "Ingress"): (*_INGRESS, *_OLD_INGRESS),
    ("extensions", "Ingress"): _OLD_INGRESS,
    ("autoscaling", "HorizontalPodAutoscaler"): (Link("spec.scaleTargetRef", "", use="target", typed=True),),
    ("autoscaling.k8s.io", "VerticalPodAutoscaler"): (Link("spec.targetRef", "", use="target", typed=True),),
    ("keda.sh", "ScaledObject"): (
        Link("spec.scaleTargetRef", "Deployment", "apps", "target", typed=True),
        Link("spec.triggers.*.authenticationRef", "TriggerAuthentication", "keda.sh", typed=True),
    ),
    ("keda.sh", "ScaledJob"): (Link("spec.triggers.*.authenticationRef", "TriggerAuthentication", "keda.sh", typed=True),),
    (_RBAC, "RoleBinding"): _BINDING,
    (_RBAC, "ClusterRoleBinding"): _BINDING,
    ("", "ServiceAccount"): (Link("secrets.*", "Secret", "", "pull"), Link("imagePullSecrets.*", "Secret", "", "pull")),
    ("", "PersistentVolumeClaim"): _CLAIM,
    ("apps", "StatefulSet"): (
        Link("spec.serviceName", "Service", "", "own", ""),
        Link("spec.volumeClaimTemplates.*.spec.storageClassName", "StorageClass", "storage.k8s.io", "class", ""),
    ),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): (_HOOK,),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): (_HOOK,),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): (
        Link("spec.policyName", "ValidatingAdmissionPolicy", "admissionregistration.k8s.io", "name", ""),
    ),
    ("apiregistration.k8s.io", "APIService"): (Link("spec.service", "Service", "", "hook", key=("port",)),),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): (
        Link("spec.conversion.webhook.clientConfig.service", "Service", "", "hook", key=("port",)),
    ),
    **{(_GATEWAY, f"{protocol}Route"): _ROUTE for protocol in ("HTTP", "GRPC", "TLS", "TCP", "UDP")},
    (_GATEWAY, "Gateway"): (
        Link("spec.gatewayClassName", "GatewayClass", _GATEWAY, "class", ""),
        Link("spec.listeners.*.tls.certificateRefs.*", "Secret", "", "name", typed=True),
    ),
    (_ISSUER, "Certificate"): _ISSUED,
    (_ISSUER, "CertificateRequest"): _ISSUED,
    (_STORE, "ExternalSecret"): _STORED,
    ("kustomize.toolkit.fluxcd.io", "Kustomization"): (
        Link("spec.sourceRef", "GitRepository", "source.toolkit.fluxcd.io", typed=True),
    ),
    ("helm.toolkit.fluxcd.io", "HelmRelease"): (
        Link("spec.chart.spec.sourceRef", "HelmRepository", "source.toolkit.fluxcd.io", typed=True),
    ),
    ("argoproj.io", "Application"): (Link("spec.project", "AppProject", "argoproj.io", "name", ""),),
}  # fmt: skip


def links(resource: Resource, placer: Placer) -> Iterator[Reference]:
    """The objects that an object itself names."""
    for link in _LINKS.get((resource.group, resource.kind), ()):
        yield from _follow(link, resource.node, resource, placer)
    if resource.node.at("metadata", "ownerReferences"):
        yield from _follow(_OWNERS, resource.node, resource, placer)


def pod_links(pod: Pod, placer: Placer) -> Iterator[Reference]:
    """The objects that a pod names."""
    for container in pod.containers:
        yield from _environment(container, placer)
    for volume in pod["volumes"]:
        yield from _volume(pod, placer, "ConfigMap", volume["configMap"], "name")
        yield from _volume(pod, placer, "Secret", volume["secret"], "secretName")
        for source in volume.at("projected", "sources"):
            yield from _volume(pod, placer, "ConfigMap", source["configMap"], "name")
            yield from _volume(pod, placer, "Secret", source["secret"], "name")
    for secret in pod["imagePullSecrets"]:
        yield from _refer(pod, placer, "Secret", secret, "pull")
    account = pod["serviceAccountName"] if pod["serviceAccountName"].text else pod["serviceAccount"]
    if account.text:
        yield Reference("", "ServiceAccount", pod.resource.namespace, account.text, placer.place(account), use="account")
    for link in _POD:
        yield from _follow(link, pod.node, pod.resource, placer)


def _follow(link: Link, root: Node, resource: Resource, placer: Placer) -> Iterator[Reference]:
    nodes = [root]
    for step in link.path.split("."):
        nodes = [child for node in nodes for child in (node if step == "*" else (node[step],)) if child]
        if not nodes:
            return
    for node in nodes:
        named = node[link.name] if link.name else node
        kind, group = (_type(link, node, resource)) if link.typed else (link.kind, link.group)
        if not named.text or not kind:
            continue
        key = next((found for way in link.key if (found := node.at(*way.split("."))) and found.value.__class__ in (int, str)), None)
        namespace = "" if kind in _CLUSTER_WIDE else node["namespace"].text or resource.namespace
        yield Reference(
            group, kind, namespace, named.text, placer.place(named), str(key.value) if key is not None else "",
            placer.place(key) if key is not None else None, node["optional"].flag is True, link.use,
        )  # fmt: skip


def _type(link: Link, node: Node, resource: Resource) -> tuple[str, str]:
    """Kind and group of what is named, as far as the node says them."""
    kind = node["kind"].text or link.kind
    for field in ("group", "apiGroup"):
        if node[field].exists:
            return kind, node[field].text
    if node["apiVersion"].text:
        return kind, node["apiVersion"].text.rpartition("/")[0]
    return kind, link.group


def _environment(container: Container, placer: Placer) -> Iterator[Reference]:
    for entry in container["env"]:
        for kind, field in (("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")):
            source = entry["valueFrom"][field]
            yield from _refer(container.pod, placer, kind, source, "env", key=source["key"])
    for source in container["envFrom"]:
        yield from _refer(container.pod, placer, "ConfigMap", source["configMapRef"], "envFrom")
        yield from _refer(container.pod, placer, "Secret", source["secretRef"], "envFrom")


def _volume(pod: Pod, placer: Placer, kind: str, source: Node, name: str) -> Iterator[Reference]:
    if not source.is_map:
        return
    yield from _refer(pod, placer, kind, source, "volume", name)
    for item in source["items"]:
        yield from _refer(pod, placer, kind, source, "volume", name, item["key"])
    volume = source.parent
    if volume is not None and volume["name"].text and not len(source["items"]):
        # Mounts of single entries of a volume: the kubelet makes an empty folder of one that is not there.
        for container in pod.containers:
            for mount in container["volumeMounts"]:
                path = mount["subPath"]
                if mount["name"].text == volume["name"].text and path.text and "/" not in path.text.strip("/"):
                    yield from _refer(pod, placer, kind, source, "subPath", name, path)


def _refer(pod: Pod, placer: Placer, kind: str, owner: Node, use: Use, name: str = "name", key: Node | None = None) -> Iterator[Reference]:
    node = owner[name]
    if node.text and (key is None or key.text):
        yield Reference(
            "", kind, pod.resource.namespace, node.text, placer.place(node), key.text.strip("/") if key is not None else "",
            placer.place(key) if key is not None else None, owner["optional"].flag is True, use,
        )  # fmt: skip

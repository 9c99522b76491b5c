"""Where objects name other objects, by tables. ConfigMaps and Secrets of pods, with their keys and uses, are read by hand.

Sources: the API reference of Kubernetes 1.36, and those of the Gateway API, cert-manager, external-secrets, KEDA, Flux and Argo CD.
"""

from __future__ import annotations

from collections.abc import Iterable

from kcheck.facts.facts import Reference, Use
from kcheck.kube.pod import Container, Pod
from kcheck.kube.resource import Resource
from kcheck.schema.locator import Locator
from kcheck.text.record import NamedTuple
from kcheck.yaml.node import Node

_GATEWAY = "gateway.networking.k8s.io"
_ISSUER = "cert-manager.io"
_STORE = "external-secrets.io"
_RBAC = "rbac.authorization.k8s.io"
_SOURCE = "source.toolkit.fluxcd.io"
_TOKEN, _ACCOUNT = "kubernetes.io/service-account-token", "kubernetes.io/service-account.name"
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
    Link("spec.rules.*.filters.*.requestMirror.backendRef", "Service", "", "backend", key=("port",), typed=True),
)
_POD = (
    Link("priorityClassName", "PriorityClass", "scheduling.k8s.io", "class", ""),
    Link("runtimeClassName", "RuntimeClass", "node.k8s.io", "class", ""),
    Link("volumes.*.persistentVolumeClaim", "PersistentVolumeClaim", "", "volume", "claimName"),
    Link("volumes.*.ephemeral.volumeClaimTemplate.spec.storageClassName", "StorageClass", "storage.k8s.io", "class", ""),
    *(
        Link(f"volumes.*.{each}", "Secret", "", "volume")
        for each in (
            "csi.nodePublishSecretRef",
            "cephfs.secretRef",
            "rbd.secretRef",
            "flexVolume.secretRef",
            "iscsi.secretRef",
            "scaleIO.secretRef",
            "storageos.secretRef",
        )
    ),
    Link("volumes.*.azureFile", "Secret", "", "volume", "secretName"),
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
    ("", "PersistentVolume"): (
        *(Link(f"spec.csi.{each}SecretRef", "Secret") for each in (
            "controllerPublish", "controllerExpand", "nodeStage", "nodePublish", "nodeExpand",
        )),
        *(Link(f"spec.{each}.secretRef", "Secret") for each in ("cephfs", "rbd", "flexVolume", "iscsi", "scaleIO", "storageos")),
        Link("spec.azureFile", "Secret", name="secretName"),
        Link("spec.claimRef", "PersistentVolumeClaim"),
    ),
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
        Link("spec.sourceRef", "GitRepository", _SOURCE, typed=True),
        Link("spec.dependsOn.*", "Kustomization", "kustomize.toolkit.fluxcd.io"),
        Link("spec.postBuild.substituteFrom.*", "ConfigMap", typed=True),
        Link("spec.decryption.secretRef", "Secret"),
        Link("spec.kubeConfig.secretRef", "Secret"),
        Link("spec.serviceAccountName", "ServiceAccount", name=""),
    ),
    ("helm.toolkit.fluxcd.io", "HelmRelease"): (
        Link("spec.chart.spec.sourceRef", "HelmRepository", _SOURCE, typed=True),
        Link("spec.chartRef", "OCIRepository", _SOURCE, typed=True),
        Link("spec.dependsOn.*", "HelmRelease", "helm.toolkit.fluxcd.io"),
        Link("spec.valuesFrom.*", "ConfigMap", key=("valuesKey",), typed=True),
        Link("spec.kubeConfig.secretRef", "Secret"),
        Link("spec.serviceAccountName", "ServiceAccount", name=""),
    ),
    (_SOURCE, "HelmChart"): (Link("spec.sourceRef", "HelmRepository", _SOURCE, typed=True),),
    ("image.toolkit.fluxcd.io", "ImagePolicy"): (Link("spec.imageRepositoryRef", "ImageRepository", "image.toolkit.fluxcd.io"),),
    ("image.toolkit.fluxcd.io", "ImageUpdateAutomation"): (Link("spec.sourceRef", "GitRepository", _SOURCE, typed=True),),
    ("notification.toolkit.fluxcd.io", "Alert"): (Link("spec.providerRef", "Provider", "notification.toolkit.fluxcd.io"),),
    ("argoproj.io", "Application"): (Link("spec.project", "AppProject", "argoproj.io", "name", ""),),
}  # fmt: skip


def _ways(links: Iterable[Link]) -> list[tuple[list[str], Link]]:
    """Links with the steps of their paths: they are followed for every object."""
    return [(link.path.split("."), link) for link in links]


_WAYS = {kind: _ways(links) for kind, links in _LINKS.items()}
_OWNERS_WAY = _ways([_OWNERS])[0]
# By the field of the pod, or of a volume, without which there is nothing to follow: most have none of them.
_POD_WAYS = [(steps[2] if steps[0] == "volumes" else steps[0], steps, link) for steps, link in _ways(_POD)]


def links(resource: Resource, placer: Locator) -> list[Reference]:
    """The objects that an object itself names."""
    found: list[Reference] = []
    kind = (resource.group, resource.kind)
    for steps, link in _WAYS.get(kind, ()):
        found += _follow(steps, link, resource.node, resource, placer)
    metadata = resource["metadata"]
    if resource.kind == "Secret" and resource.api_version == "v1" and resource["type"].text == _TOKEN:
        account = metadata["annotations"][_ACCOUNT]
        if account.text:
            found.append(Reference("", "ServiceAccount", resource.namespace, account.text, placer.place(account)))
    if "ownerReferences" in metadata:
        steps, link = _OWNERS_WAY
        found += _follow(steps, link, resource.node, resource, placer)
    return found


def pod_links(pod: Pod, placer: Locator) -> list[Reference]:
    """The objects that a pod names."""
    found: list[Reference] = []
    for container in pod.containers:
        _environment(container, placer, found)
    fields = {key for key, _ in pod.node.entries}
    for volume in pod["volumes"]:
        fields.update([key for key, _ in volume.entries])
        _volume(pod, placer, "ConfigMap", volume["configMap"], "name", found)
        _volume(pod, placer, "Secret", volume["secret"], "secretName", found)
        if "projected" in volume:
            for source in volume["projected"]["sources"]:
                _volume(pod, placer, "ConfigMap", source["configMap"], "name", found)
                _volume(pod, placer, "Secret", source["secret"], "name", found)
    for secret in pod["imagePullSecrets"]:
        _refer(pod, placer, "Secret", secret, "pull", found)
    account = pod["serviceAccountName"] if pod["serviceAccountName"].text else pod["serviceAccount"]
    if account.text:
        found.append(Reference("", "ServiceAccount", pod.resource.namespace, account.text, placer.place(account), use="account"))
    for field, steps, link in _POD_WAYS:
        if field in fields:
            named = _follow(steps, link, pod.node, pod.resource, placer)
            # A StatefulSet puts the claim that it makes in place of a volume of that name.
            found += [each for each in named if each.kind != "PersistentVolumeClaim" or not _is_replaced(pod, each.name)]
    return found


def _is_replaced(pod: Pod, claim: str) -> bool:
    templates = {template["metadata"]["name"].text for template in pod.resource["spec"]["volumeClaimTemplates"]}
    users = (volume for volume in pod["volumes"] if volume["persistentVolumeClaim"]["claimName"].text == claim)
    return bool(templates) and all(volume["name"].text in templates for volume in users)


def _follow(steps: list[str], link: Link, root: Node, resource: Resource, placer: Locator) -> list[Reference]:
    found: list[Reference] = []
    nodes = [root]
    for step in steps:
        if step == "*":
            nodes = [child for node in nodes for child in node if child]
        else:
            nodes = [child for node in nodes if (child := node[step])]
        if not nodes:
            return found
    for node in nodes:
        named = node[link.name] if link.name else node
        kind, group = (_type(link, node, resource)) if link.typed else (link.kind, link.group)
        if not named.text or not kind:
            continue
        key = next((at for way in link.key if (at := node.at(*way.split("."))) and at.value.__class__ in (int, str)), None)
        namespace = "" if kind in _CLUSTER_WIDE else node["namespace"].text or resource.namespace
        found.append(Reference(
            group, kind, namespace, named.text, placer.place(named), str(key.value) if key is not None else "",
            placer.place(key) if key is not None else None, node["optional"].flag is True, link.use,
        ))  # fmt: skip
    return found


def _type(link: Link, node: Node, resource: Resource) -> tuple[str, str]:
    """Kind and group of what is named, as far as the node says them."""
    kind = node["kind"].text or link.kind
    for field in ("group", "apiGroup"):
        if node[field].exists:
            return kind, node[field].text
    if node["apiVersion"].text:
        return kind, node["apiVersion"].text.rpartition("/")[0]
    return kind, link.group


def _environment(container: Container, placer: Locator, found: list[Reference]) -> None:
    for entry in container["env"]:
        origin = entry["valueFrom"]
        if origin.is_map:
            _refer_key(container.pod, placer, "ConfigMap", origin["configMapKeyRef"], found)
            _refer_key(container.pod, placer, "Secret", origin["secretKeyRef"], found)
    for source in container["envFrom"]:
        # A prefix makes other names of the keys, so that they are not variables themselves.
        use: Use = "env" if source["prefix"].text else "envFrom"
        _refer(container.pod, placer, "ConfigMap", source["configMapRef"], use, found)
        _refer(container.pod, placer, "Secret", source["secretRef"], use, found)


def _refer_key(pod: Pod, placer: Locator, kind: str, source: Node, found: list[Reference]) -> None:
    if source.is_map:
        _refer(pod, placer, kind, source, "env", found, key=source["key"])


def _volume(pod: Pod, placer: Locator, kind: str, source: Node, name: str, found: list[Reference]) -> None:
    if not source.is_map:
        return
    volume, items = source.parent, source["items"]
    mounts: list[Node] = []
    if volume is not None and volume["name"].text and not len(items):
        mounts = [m for c in pod.containers for m in c["volumeMounts"] if m["name"].text == volume["name"].text]
    partly = bool(len(items)) or (bool(mounts) and all(mount["subPath"].text for mount in mounts))
    _refer(pod, placer, kind, source, "volume", found, name, partly=partly)
    for item in items:
        _refer(pod, placer, kind, source, "volume", found, name, item["key"])
    for mount in mounts:
        # Mounts of single entries of a volume: the kubelet makes an empty folder of one that is not there.
        path = mount["subPath"]
        if path.text and "/" not in path.text.strip("/"):
            _refer(pod, placer, kind, source, "subPath", found, name, path)


def _refer(
    pod: Pod, placer: Locator, kind: str, owner: Node, use: Use, found: list[Reference], name: str = "name", key: Node | None = None,
    partly: bool = False,
) -> None:  # fmt: skip
    node = owner[name]
    if node.text and (key is None or key.text):
        found.append(Reference(
            "", kind, pod.resource.namespace, node.text, placer.place(node), key.text.strip("/") if key is not None else "",
            placer.place(key) if key is not None else None, owner["optional"].flag is True, use, partly,
        ))  # fmt: skip

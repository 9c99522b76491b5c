"""References to other objects, by tables of field paths. Code reads how Pods use ConfigMaps and Secrets, and which keys.

Sources: the API reference of Kubernetes 1.36, and those of the Gateway API, cert-manager, external-secrets, KEDA, Flux and Argo CD.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kcheck.facts.facts import Reference, Use
from kcheck.kube.pod import Container, Pod
from kcheck.kube.resource import Resource
from kcheck.schema.locator import Locator
from kcheck.yaml.node import Node

_GATEWAY = "gateway.networking.k8s.io"
_ISSUER = "cert-manager.io"
_STORE = "external-secrets.io"
_RBAC = "rbac.authorization.k8s.io"
_SOURCE = "source.toolkit.fluxcd.io"
_TOKEN, _ACCOUNT = "kubernetes.io/service-account-token", "kubernetes.io/service-account.name"
# Kinds that are not namespaced.
_CLUSTER_SCOPED = {
    "ClusterRole", "PriorityClass", "RuntimeClass", "StorageClass", "IngressClass", "GatewayClass", "PersistentVolume", "ClusterIssuer",
    "ClusterSecretStore", "VolumeAttributesClass", "DeviceClass", "ClusterTriggerAuthentication",
}  # fmt: skip


class ReferencePath(NamedTuple):
    """The path of a field that refers to an object.

    Attributes:
        path: The path from the object or the pod spec to the node, with * for list items.
        kind: The kind that is referred to.
        group: The API group that is referred to.
        use: How the object is used.
        name: The field of the node with the name; if empty, the node is the name.
        key: The fields of the node with the key, in order of preference.
        typed: Whether the node can specify `kind` and `group`, `apiGroup` or `apiVersion`, for which the values above are defaults.
    """

    path: str
    kind: str
    group: str = ""
    use: Use = "name"
    name: str = "name"
    key: tuple[str, ...] = ()
    typed: bool = False


_OWNERS = ReferencePath("metadata.ownerReferences.*", "", use="own", typed=True)
_HOOK = ReferencePath("webhooks.*.clientConfig.service", "Service", use="hook", key=("port",))
_CLAIM = (
    ReferencePath("spec.storageClassName", "StorageClass", "storage.k8s.io", "class", ""),
    ReferencePath("spec.volumeName", "PersistentVolume", "", "name", ""),
    ReferencePath("spec.volumeAttributesClassName", "VolumeAttributesClass", "storage.k8s.io", "class", ""),
    ReferencePath("spec.dataSource", "PersistentVolumeClaim", "", "name", typed=True),
)
_ROUTE = (
    ReferencePath("spec.parentRefs.*", "Gateway", _GATEWAY, "name", typed=True),
    ReferencePath("spec.rules.*.backendRefs.*", "Service", "", "backend", key=("port",), typed=True),
    ReferencePath("spec.rules.*.filters.*.requestMirror.backendRef", "Service", "", "backend", key=("port",), typed=True),
)
_POD = (
    ReferencePath("priorityClassName", "PriorityClass", "scheduling.k8s.io", "class", ""),
    ReferencePath("runtimeClassName", "RuntimeClass", "node.k8s.io", "class", ""),
    ReferencePath("volumes.*.persistentVolumeClaim", "PersistentVolumeClaim", "", "volume", "claimName"),
    ReferencePath("volumes.*.ephemeral.volumeClaimTemplate.spec.storageClassName", "StorageClass", "storage.k8s.io", "class", ""),
    *(
        ReferencePath(f"volumes.*.{each}", "Secret", "", "volume")
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
    ReferencePath("volumes.*.azureFile", "Secret", "", "volume", "secretName"),
    ReferencePath("resourceClaims.*.resourceClaimName", "ResourceClaim", "resource.k8s.io", "name", ""),
    ReferencePath("resourceClaims.*.resourceClaimTemplateName", "ResourceClaimTemplate", "resource.k8s.io", "name", ""),
)
_INGRESS = (
    ReferencePath("spec.rules.*.http.paths.*.backend.service", "Service", "", "backend", key=("port.name", "port.number")),
    ReferencePath("spec.defaultBackend.service", "Service", "", "backend", key=("port.name", "port.number")),
    ReferencePath("spec.ingressClassName", "IngressClass", "networking.k8s.io", "class", ""),
    ReferencePath("spec.tls.*", "Secret", "", "name", "secretName"),
)
_OLD_INGRESS = (
    ReferencePath("spec.rules.*.http.paths.*.backend", "Service", "", "backend", "serviceName", ("servicePort",)),
    ReferencePath("spec.backend", "Service", "", "backend", "serviceName", ("servicePort",)),
)
_BINDING = (
    ReferencePath("roleRef", "ClusterRole", _RBAC, "role", typed=True),
    ReferencePath("subjects.*", "", "", "subject", typed=True),
)
_ISSUER_PATHS = (ReferencePath("spec.issuerRef", "Issuer", _ISSUER, "name", typed=True),)
_STORE_PATHS = (ReferencePath("spec.secretStoreRef", "SecretStore", _STORE, "name", typed=True),)
_REFERENCE_PATHS: dict[tuple[str, str], tuple[ReferencePath, ...]] = {
    ("networking.k8s.io", "Ingress"): (*_INGRESS, *_OLD_INGRESS),
    ("extensions", "Ingress"): _OLD_INGRESS,
    ("autoscaling", "HorizontalPodAutoscaler"): (ReferencePath("spec.scaleTargetRef", "", use="target", typed=True),),
    ("autoscaling.k8s.io", "VerticalPodAutoscaler"): (ReferencePath("spec.targetRef", "", use="target", typed=True),),
    ("keda.sh", "ScaledObject"): (
        ReferencePath("spec.scaleTargetRef", "Deployment", "apps", "target", typed=True),
        ReferencePath("spec.triggers.*.authenticationRef", "TriggerAuthentication", "keda.sh", typed=True),
    ),
    ("keda.sh", "ScaledJob"): (ReferencePath("spec.triggers.*.authenticationRef", "TriggerAuthentication", "keda.sh", typed=True),),
    (_RBAC, "RoleBinding"): _BINDING,
    (_RBAC, "ClusterRoleBinding"): _BINDING,
    ("", "ServiceAccount"): (ReferencePath("secrets.*", "Secret", "", "pull"), ReferencePath("imagePullSecrets.*", "Secret", "", "pull")),
    ("", "PersistentVolumeClaim"): _CLAIM,
    ("", "PersistentVolume"): (
        *(ReferencePath(f"spec.csi.{each}SecretRef", "Secret") for each in (
            "controllerPublish", "controllerExpand", "nodeStage", "nodePublish", "nodeExpand",
        )),
        *(ReferencePath(f"spec.{each}.secretRef", "Secret") for each in ("cephfs", "rbd", "flexVolume", "iscsi", "scaleIO", "storageos")),
        ReferencePath("spec.azureFile", "Secret", name="secretName"),
        ReferencePath("spec.claimRef", "PersistentVolumeClaim"),
    ),
    ("apps", "StatefulSet"): (
        ReferencePath("spec.serviceName", "Service", "", "own", ""),
        ReferencePath("spec.volumeClaimTemplates.*.spec.storageClassName", "StorageClass", "storage.k8s.io", "class", ""),
    ),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): (_HOOK,),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): (_HOOK,),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): (
        ReferencePath("spec.policyName", "ValidatingAdmissionPolicy", "admissionregistration.k8s.io", "name", ""),
    ),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"): (
        ReferencePath("spec.policyName", "MutatingAdmissionPolicy", "admissionregistration.k8s.io", "name", ""),
    ),
    ("apiregistration.k8s.io", "APIService"): (ReferencePath("spec.service", "Service", "", "hook", key=("port",)),),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): (
        ReferencePath("spec.conversion.webhook.clientConfig.service", "Service", "", "hook", key=("port",)),
    ),
    **{(_GATEWAY, f"{protocol}Route"): _ROUTE for protocol in ("HTTP", "GRPC", "TLS", "TCP", "UDP")},
    (_GATEWAY, "Gateway"): (
        ReferencePath("spec.gatewayClassName", "GatewayClass", _GATEWAY, "class", ""),
        ReferencePath("spec.listeners.*.tls.certificateRefs.*", "Secret", "", "name", typed=True),
    ),
    (_ISSUER, "Certificate"): _ISSUER_PATHS,
    (_ISSUER, "CertificateRequest"): _ISSUER_PATHS,
    (_STORE, "ExternalSecret"): _STORE_PATHS,
    ("kustomize.toolkit.fluxcd.io", "Kustomization"): (
        ReferencePath("spec.sourceRef", "GitRepository", _SOURCE, typed=True),
        ReferencePath("spec.dependsOn.*", "Kustomization", "kustomize.toolkit.fluxcd.io"),
        ReferencePath("spec.postBuild.substituteFrom.*", "ConfigMap", typed=True),
        ReferencePath("spec.decryption.secretRef", "Secret"),
        ReferencePath("spec.kubeConfig.secretRef", "Secret"),
        ReferencePath("spec.serviceAccountName", "ServiceAccount", name=""),
    ),
    ("helm.toolkit.fluxcd.io", "HelmRelease"): (
        ReferencePath("spec.chart.spec.sourceRef", "HelmRepository", _SOURCE, typed=True),
        ReferencePath("spec.chartRef", "OCIRepository", _SOURCE, typed=True),
        ReferencePath("spec.dependsOn.*", "HelmRelease", "helm.toolkit.fluxcd.io"),
        ReferencePath("spec.valuesFrom.*", "ConfigMap", key=("valuesKey",), typed=True),
        ReferencePath("spec.kubeConfig.secretRef", "Secret"),
        ReferencePath("spec.serviceAccountName", "ServiceAccount", name=""),
    ),
    (_SOURCE, "HelmChart"): (ReferencePath("spec.sourceRef", "HelmRepository", _SOURCE, typed=True),),
    ("image.toolkit.fluxcd.io", "ImagePolicy"): (ReferencePath("spec.imageRepositoryRef", "ImageRepository", "image.toolkit.fluxcd.io"),),
    ("image.toolkit.fluxcd.io", "ImageUpdateAutomation"): (ReferencePath("spec.sourceRef", "GitRepository", _SOURCE, typed=True),),
    ("notification.toolkit.fluxcd.io", "Alert"): (ReferencePath("spec.providerRef", "Provider", "notification.toolkit.fluxcd.io"),),
    ("argoproj.io", "Application"): (ReferencePath("spec.project", "AppProject", "argoproj.io", "name", ""),),
}  # fmt: skip


def _split_paths(paths: Iterable[ReferencePath]) -> list[tuple[list[str], ReferencePath]]:
    """Split the paths once: they are followed for every object."""
    return [(path.path.split("."), path) for path in paths]


_REFERENCE_STEPS = {kind: _split_paths(paths) for kind, paths in _REFERENCE_PATHS.items()}
_OWNER_STEPS = _split_paths([_OWNERS])[0]
# By the field of the Pod or volume that every such reference needs: most Pods have none of them.
_POD_STEPS = [(steps[2] if steps[0] == "volumes" else steps[0], steps, path) for steps, path in _split_paths(_POD)]


def object_references(resource: Resource, locator: Locator) -> list[Reference]:
    """Return the references of an object, without those of its Pods."""
    found: list[Reference] = []
    kind = (resource.group, resource.kind)
    for steps, path in _REFERENCE_STEPS.get(kind, ()):
        found += _follow_path(steps, path, resource.node, resource, locator)
    metadata = resource["metadata"]
    if resource.kind == "Secret" and resource.api_version == "v1" and resource["type"].text == _TOKEN:
        account = metadata["annotations"][_ACCOUNT]
        if account.text:
            found.append(Reference("", "ServiceAccount", resource.namespace, account.text, locator.place(account)))
    if "ownerReferences" in metadata:
        steps, path = _OWNER_STEPS
        found += _follow_path(steps, path, resource.node, resource, locator)
    return found


def pod_references(pod: Pod, locator: Locator) -> list[Reference]:
    """Return the references of a Pod."""
    found: list[Reference] = []
    for container in pod.containers:
        _environment_references(container, locator, found)
    fields = {key for key, _ in pod.node.entries}
    for volume in pod["volumes"]:
        fields.update([key for key, _ in volume.entries])
        _volume_references(pod, locator, "ConfigMap", volume["configMap"], "name", found)
        _volume_references(pod, locator, "Secret", volume["secret"], "secretName", found)
        if "projected" in volume:
            for source in volume["projected"]["sources"]:
                _volume_references(pod, locator, "ConfigMap", source["configMap"], "name", found)
                _volume_references(pod, locator, "Secret", source["secret"], "name", found)
    for secret in pod["imagePullSecrets"]:
        _add_reference(pod, locator, "Secret", secret, "pull", found)
    account = pod["serviceAccountName"] if pod["serviceAccountName"].text else pod["serviceAccount"]
    if account.text:
        found.append(Reference("", "ServiceAccount", pod.resource.namespace, account.text, locator.place(account), use="account"))
    for field, steps, path in _POD_STEPS:
        if field in fields:
            named = _follow_path(steps, path, pod.node, pod.resource, locator)
            # A StatefulSet replaces a volume by the claim that it creates from the template of the same name.
            found += [each for each in named if each.kind != "PersistentVolumeClaim" or not _is_replaced(pod, each.name)]
    return found


def _is_replaced(pod: Pod, claim: str) -> bool:
    templates = {template["metadata"]["name"].text for template in pod.resource["spec"]["volumeClaimTemplates"]}
    users = (volume for volume in pod["volumes"] if volume["persistentVolumeClaim"]["claimName"].text == claim)
    return bool(templates) and all(volume["name"].text in templates for volume in users)


def _follow_path(steps: list[str], path: ReferencePath, root: Node, resource: Resource, locator: Locator) -> list[Reference]:
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
        named = node[path.name] if path.name else node
        kind, group = (_kind_and_group(path, node, resource)) if path.typed else (path.kind, path.group)
        if not named.text or not kind:
            continue
        key = next((at for way in path.key if (at := node.at(*way.split("."))) and at.value.__class__ in (int, str)), None)
        namespace = "" if kind in _CLUSTER_SCOPED else node["namespace"].text or resource.namespace
        found.append(Reference(
            group, kind, namespace, named.text, locator.place(named), str(key.value) if key is not None else "",
            locator.place(key) if key is not None else None, node["optional"].boolean is True, path.use,
        ))  # fmt: skip
    return found


def _kind_and_group(path: ReferencePath, node: Node, resource: Resource) -> tuple[str, str]:
    """Return kind and group of a reference, with the defaults of its path."""
    kind = node["kind"].text or path.kind
    for field in ("group", "apiGroup"):
        if node[field].exists:
            return kind, node[field].text
    if node["apiVersion"].text:
        return kind, node["apiVersion"].text.rpartition("/")[0]
    return kind, path.group


def _environment_references(container: Container, locator: Locator, found: list[Reference]) -> None:
    for entry in container["env"]:
        origin = entry["valueFrom"]
        if origin.is_map:
            _add_key_reference(container.pod, locator, "ConfigMap", origin["configMapKeyRef"], found)
            _add_key_reference(container.pod, locator, "Secret", origin["secretKeyRef"], found)
    for source in container["envFrom"]:
        # With a prefix, the keys are not the names of the variables.
        use: Use = "env" if source["prefix"].text else "envFrom"
        _add_reference(container.pod, locator, "ConfigMap", source["configMapRef"], use, found)
        _add_reference(container.pod, locator, "Secret", source["secretRef"], use, found)


def _add_key_reference(pod: Pod, locator: Locator, kind: str, source: Node, found: list[Reference]) -> None:
    if source.is_map:
        _add_reference(pod, locator, kind, source, "env", found, key=source["key"])


def _volume_references(pod: Pod, locator: Locator, kind: str, source: Node, name: str, found: list[Reference]) -> None:
    if not source.is_map:
        return
    volume, items = source.parent, source["items"]
    mounts: list[Node] = []
    if volume is not None and volume["name"].text and not len(items):
        mounts = [m for c in pod.containers for m in c["volumeMounts"] if m["name"].text == volume["name"].text]
    partly = bool(len(items)) or (bool(mounts) and all(mount["subPath"].text for mount in mounts))
    _add_reference(pod, locator, kind, source, "volume", found, name, partly=partly)
    for item in items:
        _add_reference(pod, locator, kind, source, "volume", found, name, item["key"])
    for mount in mounts:
        # For a subPath without a matching key, the kubelet creates an empty folder.
        path = mount["subPath"]
        if path.text and "/" not in path.text.strip("/"):
            _add_reference(pod, locator, kind, source, "subPath", found, name, path)


def _add_reference(
    pod: Pod, locator: Locator, kind: str, owner: Node, use: Use, found: list[Reference], name: str = "name", key: Node | None = None,
    partly: bool = False,
) -> None:  # fmt: skip
    node = owner[name]
    if node.text and (key is None or key.text):
        found.append(Reference(
            "", kind, pod.resource.namespace, node.text, locator.place(node), key.text.strip("/") if key is not None else "",
            locator.place(key) if key is not None else None, owner["optional"].boolean is True, use, partly,
        ))  # fmt: skip

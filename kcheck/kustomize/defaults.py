"""The fields that kustomize's settings are about without further configuration.

Source: the default transformer configurations of kustomize 5.5 (api/internal/konfig/builtinpluginconsts).
"""

from __future__ import annotations

from kcheck.kustomize.fields import NameReference, Spec, spec
from kcheck.kustomize.identity import Gvk

_APPS, _RBAC, _ADMISSION = "apps", "rbac.authorization.k8s.io", "admissionregistration.k8s.io"
# Where kinds have their pods.
_PODS = {
    "Pod": "spec", "PodTemplate": "template/spec", "Deployment": "spec/template/spec", "ReplicaSet": "spec/template/spec",
    "DaemonSet": "spec/template/spec", "StatefulSet": "spec/template/spec", "Job": "spec/template/spec",
    "CronJob": "spec/jobTemplate/spec/template/spec", "ReplicationController": "spec/template/spec",
}  # fmt: skip
_CONFIGURED = ("Pod", "PodTemplate", "Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job", "CronJob")
_CLASSED = ("Pod", "StatefulSet", "Deployment", "ReplicationController", "CronJob", "Job", "DaemonSet")


def _in_pods(kinds: tuple[str, ...], *paths: str, version: str = "") -> list[Spec]:
    return [spec(f"{_PODS[kind]}/{path}", kind, version=version if kind == "Pod" else "") for kind in kinds for path in paths]


def _of(kind: str, group: str, *paths: str) -> list[Spec]:
    return [spec(path, kind, group) for path in paths]


def _by_containers(kind: str, name: str) -> list[str]:
    containers = ("containers", "initContainers")
    return [
        *(f"{each}/env/valueFrom/{kind}KeyRef/name" for each in containers), *(f"{each}/envFrom/{kind}Ref/name" for each in containers),
        f"volumes/projected/sources/{kind}/name", name,
    ]  # fmt: skip


def _refer(kind: str, fields: list[Spec], group: str = "", version: str = "") -> NameReference:
    return NameReference(Gvk(group, version, kind), tuple(fields))


_AFFINITY = [
    f"spec/template/spec/affinity/{side}/{way}/matchLabels"
    for side in ("podAffinity", "podAntiAffinity")
    for way in (
        "preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector",
        "requiredDuringSchedulingIgnoredDuringExecution/labelSelector",
    )
] + ["spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels"]

_METADATA = (
    spec("metadata/{}", create=True),
    spec("spec/template/metadata/{}", "ReplicationController", version="v1", create=True),
    *(spec("spec/template/metadata/{}", kind, create=True) for kind in ("Deployment", "ReplicaSet", "DaemonSet")),
    spec("spec/template/metadata/{}", "Job", "batch", create=True),
    *(spec(f"spec/jobTemplate/{path}metadata/{{}}", "CronJob", "batch", create=True) for path in ("", "spec/template/")),
)  # fmt: skip


def _metadata(field: str) -> list[Spec]:
    return [each._replace(path=tuple(word.format(field) for word in each.path)) for each in _METADATA]


TEMPLATE_LABELS: tuple[Spec, ...] = (
    *_metadata("labels"),
    spec("spec/template/metadata/labels", "StatefulSet", _APPS, create=True),
    spec("spec/volumeClaimTemplates[]/metadata/labels", "StatefulSet", _APPS, create=True),
)
COMMON_LABELS: tuple[Spec, ...] = (
    *(spec("spec/selector", kind, version="v1", create=True) for kind in ("Service", "ReplicationController")),
    *(spec("spec/selector/matchLabels", kind, create=True) for kind in ("Deployment", "ReplicaSet", "DaemonSet")),
    spec("spec/selector/matchLabels", "StatefulSet", _APPS, create=True),
    *(spec(path, kind, _APPS) for kind in ("Deployment", "StatefulSet") for path in _AFFINITY),
    spec("spec/selector/matchLabels", "Job", "batch"),
    spec("spec/jobTemplate/spec/selector/matchLabels", "CronJob", "batch"),
    spec("spec/selector/matchLabels", "PodDisruptionBudget", "policy"),
    *(
        spec(f"spec/{path}podSelector/matchLabels", "NetworkPolicy", "networking.k8s.io")
        for path in ("", "ingress/from/", "egress/to/")
    ),
    *TEMPLATE_LABELS,
)  # fmt: skip
COMMON_ANNOTATIONS: tuple[Spec, ...] = (
    *_metadata("annotations"),
    spec("spec/template/metadata/annotations", "StatefulSet", create=True),
)
NAMESPACE: tuple[Spec, ...] = (
    spec("metadata/name", "Namespace", create=True),
    spec("spec/service/namespace", "APIService", "apiregistration.k8s.io", create=True),
    spec("spec/conversion/webhook/clientConfig/service/namespace", "CustomResourceDefinition", "apiextensions.k8s.io"),
)
NAMES: tuple[Spec, ...] = (spec("metadata/name"),)
IMAGES: tuple[Spec, ...] = tuple(
    spec(f"{pod}/{containers}[]/image", create=True)
    for pod in ("spec", "spec/template/spec")
    for containers in ("containers", "initContainers")
)
REPLICAS: tuple[Spec, ...] = tuple(
    spec("spec/replicas", kind, create=True) for kind in ("Deployment", "ReplicationController", "ReplicaSet", "StatefulSet")
)

_VARIABLE_PODS = ("CronJob", "DaemonSet", "Deployment", "Job", "Pod", "ReplicaSet", "StatefulSet")
VARIABLES: tuple[Spec, ...] = (
    *_in_pods(
        _VARIABLE_PODS,
        *(
            f"{each}/{path}"
            for each in ("containers", "initContainers")
            for path in ("args", "command", "env/value", "volumeMounts/mountPath")
        ),
    ),
    spec("spec/jobTemplate/spec/template/volumes/nfs/server", "CronJob"),
    *_in_pods(("DaemonSet", "Deployment", "Job", "Pod", "ReplicaSet"), "volumes/nfs/server"),
    spec("spec/template/metadata/annotations", "Deployment"),
    *_of("Ingress", "", "spec/rules/host", "spec/tls/hosts", "spec/tls/secretName"),
    *_of("Service", "", "spec/ports/port", "spec/ports/targetPort"),
    spec("spec/volumeClaimTemplates/spec/nfs/server", "StatefulSet"),
    spec("spec/nfs/server", "PersistentVolume"),
    spec("metadata/labels"),
    spec("metadata/annotations"),
)  # fmt: skip

_RULES = [spec("rules/resourceNames", kind) for kind in ("Role", "ClusterRole")]
REFERENCES: tuple[NameReference, ...] = (
    *(
        _refer(kind, [spec("spec/scaleTargetRef/name", "HorizontalPodAutoscaler")])
        for kind in ("Deployment", "ReplicationController", "ReplicaSet", "StatefulSet")
    ),
    _refer("ConfigMap", [
        *_in_pods(_CONFIGURED, *_by_containers("configMap", "volumes/configMap/name"), version="v1"),
        spec("spec/configSource/configMap", "Node"), *_RULES,
        spec("metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap", "Ingress"),
    ], version="v1"),
    _refer("Secret", [
        *_in_pods(_CONFIGURED, *_by_containers("secret", "volumes/secret/secretName"), "imagePullSecrets/name", version="v1"),
        *_of(
            "Ingress", "", "spec/tls/secretName", "metadata/annotations/ingress.kubernetes.io\\/auth-secret",
            "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-secret",
            "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-tls-secret",
        ),
        spec("imagePullSecrets/name", "ServiceAccount"),
        *(spec(f"parameters/{name}", "StorageClass") for name in ("secretName", "adminSecretName", "userSecretName", "secretRef")),
        *_RULES, spec("spec/template/spec/containers/env/valueFrom/secretKeyRef/name", "Service", "serving.knative.dev", "v1"),
        spec("spec/azureFile/secretName", "PersistentVolume"),
    ], version="v1"),
    _refer("Service", [
        spec("spec/serviceName", "StatefulSet", _APPS),
        *_of(
            "Ingress", "", "spec/rules/http/paths/backend/serviceName", "spec/backend/serviceName",
            "spec/rules/http/paths/backend/service/name", "spec/defaultBackend/service/name",
        ),
        spec("spec/service/name", "APIService", "apiregistration.k8s.io"),
        *(spec("webhooks/clientConfig/service", f"{kind}WebhookConfiguration", _ADMISSION) for kind in ("Validating", "Mutating")),
    ], version="v1"),
    _refer("Role", [spec("roleRef/name", "RoleBinding", _RBAC)], _RBAC),
    _refer("ClusterRole", [spec("roleRef/name", kind, _RBAC) for kind in ("RoleBinding", "ClusterRoleBinding")], _RBAC),
    _refer("ServiceAccount", [
        *(spec("subjects", kind, _RBAC) for kind in ("RoleBinding", "ClusterRoleBinding")), *_in_pods(_CLASSED, "serviceAccountName"),
    ], version="v1"),
    _refer("PersistentVolumeClaim", _in_pods(_CLASSED, "volumes/persistentVolumeClaim/claimName"), version="v1"),
    _refer("PersistentVolume", [spec("spec/volumeName", "PersistentVolumeClaim"), _RULES[1]], version="v1"),
    _refer("StorageClass", [
        *(spec("spec/storageClassName", kind) for kind in ("PersistentVolume", "PersistentVolumeClaim")),
        spec("spec/volumeClaimTemplates/spec/storageClassName", "StatefulSet"),
    ], "storage.k8s.io", "v1"),
    _refer("PriorityClass", _in_pods(_CLASSED, "priorityClassName"), "scheduling.k8s.io", "v1"),
    _refer("IngressClass", [spec("spec/ingressClassName", "Ingress")], "networking.k8s.io/v1", "v1"),
    _refer("ValidatingAdmissionPolicy", [spec("spec/policyName", "ValidatingAdmissionPolicyBinding", _ADMISSION)], _ADMISSION),
)  # fmt: skip

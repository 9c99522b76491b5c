"""The defaults of built-in API types.

Sources: the SetDefaults functions of pkg/apis/*/v*/defaults.go in kubernetes/kubernetes, of Kubernetes 1.25 to 1.37, the `+default`
markers of the Go types, and pkg/apis/core/v1/conversion.go for fields that have another value in the API server.

A function receives a decoded value, in which fields that are not pointers are absent or zero if they are empty, and changes it. The API
server sets some defaults only in Pods and not in Pod templates: they belong to the type of the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any

from kcheck.defaulting.go_types import GoType
from kcheck.defaulting.plain_values import Value, copy_of, map_in, maps_in
from kcheck.defaulting.pod_resources import default_pod_level_resources
from kcheck.defaulting.scalars import base64_of
from kcheck.kube.feature_gates import is_enabled
from kcheck.kube.image import BadImage
from kcheck.kube.image import parse as parse_image

Setter = Callable[[Value], None]

_AZURE = {"cachingMode": "ReadWrite", "kind": "Shared", "fsType": "ext4", "readOnly": False}
_RBD = {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}
_ISCSI = {"iscsiInterface": "default"}
_SCALE_IO = {"storageMode": "ThinProvisioned", "fsType": "xfs"}
_FILE_MODE = {"defaultMode": 0o644}
_MATCH: dict[str, Any] = {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}
_WEBHOOK: dict[str, Any] = {"failurePolicy": "Fail", **_MATCH, "timeoutSeconds": 10}
_FAIL = {"failurePolicy": "Fail"}
_ROUTE = {"port": 443}
_QUEUING = {"handSize": 8, "queues": 64, "queueLengthLimit": 50}

# Defaults that depend on nothing else. An empty value of a field that is a pointer is not replaced.
_FIELD_DEFAULTS: dict[str, dict[str, Any]] = {
    "core/v1 AzureDiskVolumeSource": _AZURE,
    "core/v1 RBDVolumeSource": _RBD,
    "core/v1 RBDPersistentVolumeSource": _RBD,
    "core/v1 ISCSIVolumeSource": _ISCSI,
    "core/v1 ISCSIPersistentVolumeSource": _ISCSI,
    "core/v1 ScaleIOVolumeSource": _SCALE_IO,
    "core/v1 ScaleIOPersistentVolumeSource": _SCALE_IO,
    "core/v1 PodSpec": {
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
        "schedulerName": "default-scheduler",
    },
    "core/v1 Probe": {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3},
    "core/v1 SecretVolumeSource": _FILE_MODE,
    "core/v1 ConfigMapVolumeSource": _FILE_MODE,
    "core/v1 DownwardAPIVolumeSource": _FILE_MODE,
    "core/v1 ProjectedVolumeSource": _FILE_MODE,
    "core/v1 ServiceAccountTokenProjection": {"expirationSeconds": 3600},
    "core/v1 HTTPGetAction": {"path": "/", "scheme": "HTTP"},
    "core/v1 HostPathVolumeSource": {"type": ""},
    "core/v1 ObjectFieldSelector": {"apiVersion": "v1"},
    "core/v1 EndpointPort": {"protocol": "TCP"},
    "core/v1 Secret": {"type": "Opaque"},
    "core/v1 PersistentVolumeClaimSpec": {"volumeMode": "Filesystem"},
    "core/v1 ReplicationControllerSpec": {"replicas": 1},
    "apps/v1 DeploymentSpec": {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600},
    "apps/v1 DaemonSetSpec": {"revisionHistoryLimit": 10},
    "apps/v1 ReplicaSetSpec": {"replicas": 1},
    "apps/v1 StatefulSetSpec": {"podManagementPolicy": "OrderedReady", "replicas": 1, "revisionHistoryLimit": 10},
    "apps/v1 StatefulSetPersistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    "batch/v1 PodFailurePolicyOnPodConditionsPattern": {"status": "True"},
    "discovery/v1 EndpointPort": {"name": "", "protocol": "TCP"},
    "discovery/v1beta1 EndpointPort": {"name": "", "protocol": "TCP"},
    "networking/v1 NetworkPolicyPort": {"protocol": "TCP"},
    "networking/v1 IngressClassParametersReference": {"scope": "Cluster"},
    "scheduling/v1 PriorityClass": {"preemptionPolicy": "PreemptLowerPriority"},
    "storage/v1 StorageClass": {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
    "apiextensions/v1 ServiceReference": _ROUTE,
    "apiregistration/v1 ServiceReference": _ROUTE,
    "authentication/v1 TokenRequestSpec": {"expirationSeconds": 3600},
    "certificates/v1beta1 CertificateSigningRequestCondition": {"status": "True"},
}
for _version in ("v1", "v1beta1", "v1alpha1"):
    _FIELD_DEFAULTS |= {
        f"admissionregistration/{_version} ValidatingWebhook": _WEBHOOK,
        f"admissionregistration/{_version} MutatingWebhook": {**_WEBHOOK, "reinvocationPolicy": "Never"},
        f"admissionregistration/{_version} RuleWithOperations": {"scope": "*"},
        f"admissionregistration/{_version} NamedRuleWithOperations": {"scope": "*"},
        f"admissionregistration/{_version} ServiceReference": _ROUTE,
        f"admissionregistration/{_version} MatchResources": _MATCH,
        f"admissionregistration/{_version} ValidatingAdmissionPolicySpec": _FAIL,
        f"admissionregistration/{_version} MutatingAdmissionPolicySpec": _FAIL,
    }
for _version in ("v1", "v1beta1", "v1beta2", "v1beta3"):
    _FIELD_DEFAULTS |= {
        f"flowcontrol/{_version} FlowSchemaSpec": {"matchingPrecedence": 1000},
        f"flowcontrol/{_version} QueuingConfiguration": _QUEUING,
        f"flowcontrol/{_version} ExemptPriorityLevelConfiguration": {"nominalConcurrencyShares": 0, "lendablePercent": 0},
        f"flowcontrol/{_version} LimitedPriorityLevelConfiguration": {
            "assuredConcurrencyShares" if _version in ("v1beta1", "v1beta2") else "nominalConcurrencyShares": 30,
            "lendablePercent": 0,
        },
    }


def field_defaults_of(name: str, go: GoType, fields: Container[str]) -> Iterator[Setter]:
    """Yield a function that sets the defaults of an API type that depend on nothing else. `fields`: its fields in this version."""
    defaults = {**go.defaults, **_FIELD_DEFAULTS.get(name, {})}
    entries = [(key, value, key in go.pointers) for key, value in defaults.items() if key in fields]
    # The zero value is a default only of a pointer.
    entries = [(key, value, pointer) for key, value, pointer in entries if value or pointer]
    if not entries:
        return

    def set_fields(value: Value) -> None:
        for key, default, pointer in entries:
            if value.get(key) is None or (not pointer and not value[key]):
                value[key] = copy_of(default)

    yield set_fields


class Conditions:
    """What defaults depend on besides the value: the Kubernetes version 1.`minor`, and gates that are on in spite of their default."""

    __slots__ = ("enabled_gates", "minor")

    def __init__(self, minor: int, enabled_gates: Container[str]) -> None:
        self.minor = minor
        self.enabled_gates = enabled_gates

    def has_gate(self, gate: str) -> bool:
        """Whether a feature gate is on."""
        return gate in self.enabled_gates or is_enabled(gate, self.minor)


ConditionalSetter = Callable[[Value, Conditions], None]
_SETTERS: dict[str, ConditionalSetter] = {}


def setters_of(name: str, conditions: Conditions) -> Iterator[Setter]:
    """Yield the function that sets the other defaults of an API type."""
    setter = _SETTERS.get(name)
    if setter is not None:
        yield lambda value: setter(value, conditions)


def registrar(table: dict[str, ConditionalSetter]) -> Callable[..., Callable[[ConditionalSetter], ConditionalSetter]]:
    """Return a decorator that adds a function to a table under the names of API types."""

    def name_types(*names: str) -> Callable[[ConditionalSetter], ConditionalSetter]:
        def register(function: ConditionalSetter) -> ConditionalSetter:
            table.update(dict.fromkeys(names, function))
            return function

        return register

    return name_types


_defaults = registrar(_SETTERS)


def pull_policy(image: Any) -> str:
    """The imagePullPolicy of an image reference: Always for the tag latest or none."""
    try:
        return parse_image(image).pull_policy if image.__class__ is str else "IfNotPresent"
    except BadImage:
        return "IfNotPresent"


@_defaults("core/v1 Container", "core/v1 EphemeralContainer")
def _container(value: Value, _: Conditions) -> None:
    if not value.get("imagePullPolicy"):
        value["imagePullPolicy"] = pull_policy(value.get("image"))
    if not value.get("terminationMessagePath"):
        value["terminationMessagePath"] = "/dev/termination-log"
    if not value.get("terminationMessagePolicy"):
        value["terminationMessagePolicy"] = "File"


@_defaults("core/v1 Volume")
def _volume(value: Value, conditions: Conditions) -> None:
    image = value.get("image")
    if len(value) == ("name" in value):
        value["emptyDir"] = {}
    elif image.__class__ is dict and not image.get("pullPolicy") and conditions.has_gate("ImageVolume"):
        image["pullPolicy"] = pull_policy(image.get("reference"))


@_defaults("core/v1 PodSpec")
def _pod_spec(value: Value, conditions: Conditions) -> None:
    if conditions.minor < 28 and value.get("hostNetwork") is True:
        _host_ports(value)
    # The deprecated field has the same value. The server reads it if serviceAccountName is empty.
    name = value.get("serviceAccountName") or value.get("serviceAccount")
    if name:
        value["serviceAccountName"] = value["serviceAccount"] = name
    _drop_restart_policies(value, conditions)
    if not conditions.has_gate("ImageVolume"):
        _drop_image_volumes(value)


def _drop_restart_policies(spec: Value, conditions: Conditions) -> None:
    # The field of init containers is as old as sidecars; that of others came with rules for restarts.
    sidecars, rules = conditions.has_gate("SidecarContainers"), conditions.has_gate("ContainerRestartRules")
    if sidecars and rules:
        return
    for container in maps_in(spec.get("initContainers")):
        if not sidecars or (conditions.minor >= 34 and container.get("restartPolicy") != "Always"):
            container.pop("restartPolicy", None)
    for listed in ("containers", "ephemeralContainers") if conditions.minor >= 34 and not rules else ():
        for container in maps_in(spec.get(listed)):
            container.pop("restartPolicy", None)


def _drop_image_volumes(spec: Value) -> None:
    images = [volume.get("name") for volume in maps_in(spec.get("volumes")) if "image" in volume]
    if not images:
        return
    spec["volumes"] = [volume for volume in maps_in(spec["volumes"]) if "image" not in volume]
    owners = [spec, *(each for listed in ("initContainers", "containers", "ephemeralContainers") for each in maps_in(spec.get(listed)))]
    for owner in owners[1:]:
        owner["volumeMounts"] = [mount for mount in maps_in(owner.get("volumeMounts")) if mount.get("name") not in images]
    for owner, key in ((owner, key) for owner in owners for key in ("volumes", "volumeMounts")):
        if owner.get(key) == []:
            del owner[key]


def _host_ports(spec: Value) -> None:
    for listed in ("containers", "initContainers"):
        for container in maps_in(spec.get(listed)):
            for port in maps_in(container.get("ports")):
                if not port.get("hostPort") and port.get("containerPort"):
                    port["hostPort"] = port["containerPort"]


_INIT_CONTAINERS = ("init-containers", "init-container-statuses")


@_defaults("core/v1 PodTemplateSpec")
def _pod_template(value: Value, _: Conditions) -> None:
    # The API server removes the annotations that described init containers before 1.6.
    annotations = map_in(map_in(value, "metadata"), "annotations")
    for key in [f"pod.{stage}.kubernetes.io/{name}" for stage in ("alpha", "beta") for name in _INIT_CONTAINERS] if annotations else ():
        if annotations.pop(key, None) is not None and not annotations:
            del value["metadata"]["annotations"]


@_defaults("core/v1 Pod")
def _pod(value: Value, conditions: Conditions) -> None:
    _pod_template(value, conditions)
    spec = map_in(value, "spec")
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        spec["terminationGracePeriodSeconds"] = 1
    for listed in ("containers", "initContainers"):
        for container in maps_in(spec.get(listed)):
            _requests_from_limits(map_in(container, "resources"))
            if 27 <= conditions.minor < 33 and "InPlacePodVerticalScaling" in conditions.enabled_gates:
                _resize_policies(container)
    if spec.get("resources").__class__ is dict and conditions.has_gate("PodLevelResources"):
        default_pod_level_resources(spec, conditions.minor)
    spec.setdefault("enableServiceLinks", True)
    if spec.get("hostNetwork") is True:
        _host_ports(spec)


def _requests_from_limits(resources: Value) -> None:
    limits = resources.get("limits")
    if limits.__class__ is dict and limits:
        requests = resources.setdefault("requests", {})
        if requests.__class__ is dict:
            resources["requests"] = {**requests, **{key: each for key, each in limits.items() if key not in requests}}


def _resize_policies(container: Value) -> None:
    requests = map_in(map_in(container, "resources"), "requests")
    policies = container.get("resizePolicy", [])
    known = {policy.get("resourceName") for policy in maps_in(policies)}
    added = [{"resourceName": key, "restartPolicy": "NotRequired"} for key in ("cpu", "memory") if key in requests and key not in known]
    if added:
        container["resizePolicy"] = [*policies, *added]


@_defaults("core/v1 PersistentVolume")
def _persistent_volume(value: Value, _: Conditions) -> None:
    # The same type in a VolumeAttachment has no defaults.
    spec = map_in(value, "spec")
    if not spec.get("persistentVolumeReclaimPolicy"):
        spec["persistentVolumeReclaimPolicy"] = "Retain"
    spec.setdefault("volumeMode", "Filesystem")


@_defaults("core/v1 ReplicationController")
def _replication_controller(value: Value, _: Conditions) -> None:
    spec = map_in(value, "spec")
    labels = map_in(map_in(spec, "template"), "metadata").get("labels")
    if labels:
        if not spec.get("selector"):
            spec["selector"] = dict(labels)
        _labels_of_template(value, labels)


def _labels_of_template(value: Value, labels: Value) -> None:
    metadata = value.setdefault("metadata", {})
    if metadata.__class__ is dict and not metadata.get("labels"):
        metadata["labels"] = dict(labels)


@_defaults("core/v1 Service")
def _service(value: Value, conditions: Conditions) -> None:
    spec = map_in(value, "spec")
    if not spec.get("sessionAffinity"):
        spec["sessionAffinity"] = "None"
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP" and "timeoutSeconds" not in map_in(map_in(spec, "sessionAffinityConfig"), "clientIP"):
        spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}
    if not spec.get("type"):
        spec["type"] = "ClusterIP"
    for port in maps_in(spec.get("ports")):
        if not port.get("protocol"):
            port["protocol"] = "TCP"
        if not port.get("targetPort"):
            port["targetPort"] = port.get("port", 0)
    _traffic_policies(spec, conditions.minor)


def _traffic_policies(spec: Value, minor: int) -> None:
    kind = spec["type"]
    external = kind in ("NodePort", "LoadBalancer") or (minor >= 29 and kind == "ClusterIP" and bool(spec.get("externalIPs")))
    if external and not spec.get("externalTrafficPolicy"):
        spec["externalTrafficPolicy"] = "Cluster"
    if kind in ("NodePort", "LoadBalancer", "ClusterIP"):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)


@_defaults("core/v1 Secret")
def _secret(value: Value, _: Conditions) -> None:
    texts = value.pop("stringData", None)
    if texts:
        value["data"] = {**map_in(value, "data"), **{key: base64_of(text) for key, text in texts.items()}}


@_defaults("core/v1 NodeSpec")
def _node_spec(value: Value, _: Conditions) -> None:
    cidr, cidrs = value.get("podCIDR"), value.get("podCIDRs")
    if cidr and (not cidrs or cidrs[0] != cidr):
        value["podCIDRs"] = [cidr]
    elif cidrs:
        value["podCIDR"] = cidrs[0]


@_defaults("core/v1 Namespace")
def _namespace(value: Value, _: Conditions) -> None:
    metadata = map_in(value, "metadata")
    if metadata.get("name"):
        metadata["labels"] = {**(metadata.get("labels") or {}), "kubernetes.io/metadata.name": metadata["name"]}


@_defaults("core/v1 NodeStatus")
def _node_status(value: Value, _: Conditions) -> None:
    if "allocatable" not in value and value.get("capacity"):
        value["allocatable"] = dict(value["capacity"])


@_defaults("core/v1 LimitRangeItem")
def _limit_range_item(value: Value, _: Conditions) -> None:
    if value.get("type") != "Container":
        return
    default = {**map_in(value, "max"), **map_in(value, "default")}
    request = {**map_in(value, "min"), **default, **map_in(value, "defaultRequest")}
    for key, resources in (("default", default), ("defaultRequest", request)):
        if resources:
            value[key] = resources


@_defaults("apps/v1 Deployment")
def _deployment(value: Value, _: Conditions) -> None:
    strategy = map_in(map_in(value, "spec"), "strategy")
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        if rolling.__class__ is dict:
            rolling.setdefault("maxUnavailable", "25%")
            rolling.setdefault("maxSurge", "25%")


@_defaults("apps/v1 DaemonSet")
def _daemon_set(value: Value, _: Conditions) -> None:
    strategy = map_in(map_in(value, "spec"), "updateStrategy")
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        if rolling.__class__ is dict:
            rolling.setdefault("maxUnavailable", 1)
            rolling.setdefault("maxSurge", 0)


@_defaults("apps/v1 StatefulSet")
def _stateful_set(value: Value, conditions: Conditions) -> None:
    spec = map_in(value, "spec")
    strategy = map_in(spec, "updateStrategy")
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    rolling = strategy.get("rollingUpdate")
    if strategy["type"] == "RollingUpdate" and rolling.__class__ is dict:
        rolling.setdefault("partition", 0)
        if conditions.has_gate("MaxUnavailableStatefulSet"):
            rolling.setdefault("maxUnavailable", 1)
    if conditions.has_gate("StatefulSetAutoDeletePVC"):
        spec.setdefault("persistentVolumeClaimRetentionPolicy", {"whenDeleted": "Retain", "whenScaled": "Retain"})
    # The API server adds the type of a claim when it converts the object.
    for claim in maps_in(spec.get("volumeClaimTemplates")):
        claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
        status = map_in(claim, "status")
        if not status.get("phase"):
            status["phase"] = "Pending"


@_defaults("autoscaling/v1 HorizontalPodAutoscaler")
def _autoscaler_v1(value: Value, _: Conditions) -> None:
    map_in(value, "spec").setdefault("minReplicas", 1)


_SCALE_POLICIES = (
    {"type": "Pods", "value": 4, "periodSeconds": 15},
    {"type": "Percent", "value": 100, "periodSeconds": 15},
)


@_defaults("autoscaling/v2 HorizontalPodAutoscaler", "autoscaling/v2beta2 HorizontalPodAutoscaler")
def _autoscaler(value: Value, _: Conditions) -> None:
    spec = map_in(value, "spec")
    spec.setdefault("minReplicas", 1)
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    behavior = spec.get("behavior")
    if behavior.__class__ is dict:
        _scaling_rules(behavior, "scaleUp", _SCALE_POLICIES)
        map_in(behavior, "scaleUp").setdefault("stabilizationWindowSeconds", 0)
        _scaling_rules(behavior, "scaleDown", _SCALE_POLICIES[1:])


def _scaling_rules(behavior: Value, key: str, policies: Iterable[Value]) -> None:
    rules = behavior.setdefault(key, {})
    if rules.__class__ is dict:
        rules.setdefault("selectPolicy", "Max")
        if not rules.get("policies"):
            rules["policies"] = [dict(policy) for policy in policies]


@_defaults("batch/v1 Job")
def _job(value: Value, conditions: Conditions) -> None:
    spec = map_in(value, "spec")
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", 2**31 - 1 if "backoffLimitPerIndex" in spec else 6)
    labels = map_in(map_in(spec, "template"), "metadata").get("labels")
    if labels:
        _labels_of_template(value, labels)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    if conditions.has_gate("JobPodReplacementPolicy"):
        spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    if conditions.minor >= 29:
        spec.setdefault("manualSelector", False)


@_defaults("batch/v1 JobSpec")
def _job_spec(value: Value, conditions: Conditions) -> None:
    policy = value.get("podFailurePolicy")
    if policy.__class__ is dict and conditions.minor == 28 and not conditions.has_gate("JobBackoffLimitPerIndex"):
        policy["rules"] = [rule for rule in maps_in(policy.get("rules")) if rule.get("action") != "FailIndex"]


@_defaults("batch/v1 CronJob", "batch/v1beta1 CronJob")
def _cron_job(value: Value, _: Conditions) -> None:
    spec = map_in(value, "spec")
    if not spec.get("concurrencyPolicy"):
        spec["concurrencyPolicy"] = "Allow"
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)


@_defaults("networking/v1 NetworkPolicy")
def _network_policy(value: Value, _: Conditions) -> None:
    spec = map_in(value, "spec")
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


@_defaults("rbac/v1 ClusterRoleBinding", "rbac/v1 RoleBinding")
def _role_binding(value: Value, _: Conditions) -> None:
    role = map_in(value, "roleRef")
    if not role.get("apiGroup"):
        role["apiGroup"] = "rbac.authorization.k8s.io"


@_defaults("rbac/v1 Subject")
def _subject(value: Value, _: Conditions) -> None:
    if not value.get("apiGroup") and value.get("kind") in ("User", "Group"):
        value["apiGroup"] = "rbac.authorization.k8s.io"


@_defaults(
    "resource/v1 ExactDeviceRequest", "resource/v1 DeviceSubRequest", "resource/v1beta2 ExactDeviceRequest",
    "resource/v1beta2 DeviceSubRequest", "resource/v1beta1 DeviceSubRequest",
)  # fmt: skip
def _device_request(value: Value, _: Conditions) -> None:
    if not value.get("allocationMode"):
        value["allocationMode"] = "ExactCount"
    if value["allocationMode"] == "ExactCount" and not value.get("count"):
        value["count"] = 1


@_defaults("resource/v1beta1 DeviceRequest", "resource/v1alpha3 DeviceRequest")
def _old_device_request(value: Value, conditions: Conditions) -> None:
    # A request with alternatives has these fields in each of them instead.
    if not value.get("firstAvailable"):
        _device_request(value, conditions)


@_defaults("storage/v1 CSIDriverSpec")
def _csi_driver(value: Value, conditions: Conditions) -> None:
    value.setdefault("attachRequired", True)
    for key in ("podInfoOnMount", "storageCapacity", "requiresRepublish"):
        value.setdefault(key, False)
    value.setdefault("fsGroupPolicy", "ReadWriteOnceWithFSType")
    if not value.get("volumeLifecycleModes"):
        value["volumeLifecycleModes"] = ["Persistent"]
    if conditions.has_gate("SELinuxMountReadWriteOncePod"):
        value.setdefault("seLinuxMount", False)
    if conditions.has_gate("VolumeLimitScaling"):
        value.setdefault("preventPodSchedulingIfMissing", False)


@_defaults("apiextensions/v1 CustomResourceDefinitionSpec")
def _custom_resource_definition(value: Value, _: Conditions) -> None:
    names = map_in(value, "names")
    kind = names.get("kind")
    if kind.__class__ is str and kind:
        if not names.get("singular"):
            names["singular"] = kind.lower()
        if not names.get("listKind"):
            names["listKind"] = kind + "List"
    value.setdefault("conversion", {"strategy": "None"})

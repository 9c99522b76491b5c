"""What the API server does to an object when it is created, besides decoding and defaulting.

Sources: PrepareForCreate of the strategies in pkg/registry and of the packages apiextensions-apiserver and kube-aggregator, the conversions
of pkg/apis/*/v1/conversion.go, and rest.BeforeCreate in k8s.io/apiserver.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcheck.defaulting.decoding import Codec
from kcheck.defaulting.plain_values import Value, map_in, maps_in
from kcheck.defaulting.pod_resources import qos_class
from kcheck.defaulting.type_defaults import ConditionalSetter, Conditions, registrar

SERVER_METADATA = ("uid", "creationTimestamp", "generation", "managedFields", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds")
"""Fields of metadata that the API server sets or clears itself when an object is created."""

# The status of these kinds is not cleared: a Node may be created with one, and that of a review is the response.
_KEEPS_STATUS = frozenset(
    {
        "core/v1 Node",
        "authentication/v1 TokenReview",
        "authentication/v1 SelfSubjectReview",
        "authorization/v1 SubjectAccessReview",
        "authorization/v1 LocalSubjectAccessReview",
        "authorization/v1 SelfSubjectAccessReview",
        "authorization/v1 SelfSubjectRulesReview",
    }
)
_GENERATION = "deprecated.daemonset.template.generation"
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"

_PREPARE: dict[str, ConditionalSetter] = {}
_prepares = registrar(_PREPARE)


def prepare_metadata(value: Value, namespaced: bool | None, namespace: str) -> None:
    """Clear the fields of metadata that clients cannot set, and set the namespace.

    `namespaced`: None if unknown; `namespace`: that of the request, "" if unknown.
    """
    metadata = value.get("metadata")
    if metadata.__class__ is not dict:
        return
    for key in SERVER_METADATA:
        # Before 1.34 templates show an empty creationTimestamp; that of the object itself is always set.
        metadata.pop(key, None)
    owners = metadata.get("ownerReferences")
    if owners.__class__ is list and len(owners) > 1:
        metadata["ownerReferences"] = [each for index, each in enumerate(owners) if each not in owners[:index]]
    if namespaced is False:
        metadata.pop("namespace", None)
    elif namespaced and namespace and not metadata.get("namespace"):
        metadata["namespace"] = namespace


def prepare(value: Value, name: str, codec: Codec) -> None:
    """Change an object as its strategy does at creation. `name`: its API type."""
    if "status" in value and name not in _KEEPS_STATUS and (name != "networking/v1 ServiceCIDR" or codec.minor >= 36):
        clear_status(value, name, codec)
    function = _PREPARE.get(name)
    if function is not None:
        function(value, codec.conditions)


def clear_status(value: Value, name: str, codec: Codec) -> None:
    """Replace the status of an object by an empty one."""
    field = codec.definitions.shape(name).fields.get("status")
    if field is None or field.shape.kind != "object":
        return
    empty = codec.struct(name).plain(None)
    if "status" in empty:
        value["status"] = codec.struct(field.shape.name).plain(None)
    else:
        value.pop("status", None)


@_prepares("core/v1 Pod")
def _pod(value: Value, conditions: Conditions) -> None:
    spec = map_in(value, "spec")
    status: Value = {"phase": "Pending", "qosClass": qos_class(spec, conditions.has_gate("PodLevelResources"))}
    if spec.get("schedulingGates"):
        status["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }
        ]
    value["status"] = status
    labels = map_in(map_in(value, "metadata"), "labels")
    if conditions.has_gate("MatchLabelKeysInPodAffinity"):
        for term in _affinity_terms(spec):
            _merge_label_keys(term, labels)
    if conditions.has_gate("MatchLabelKeysInPodTopologySpreadSelectorMerge"):
        for constraint in maps_in(spec.get("topologySpreadConstraints")):
            _merge_label_keys(constraint, labels)
    if conditions.minor >= 30:
        _app_armor_fields(map_in(map_in(value, "metadata"), "annotations"), spec)


def _affinity_terms(spec: Value) -> Iterator[Value]:
    affinity = map_in(spec, "affinity")
    for key in ("podAffinity", "podAntiAffinity"):
        terms = map_in(affinity, key)
        yield from (map_in(each, "podAffinityTerm") for each in maps_in(terms.get("preferredDuringSchedulingIgnoredDuringExecution")))
        yield from maps_in(terms.get("requiredDuringSchedulingIgnoredDuringExecution"))


def _merge_label_keys(term: Value, labels: Value) -> None:
    """Add the labels of the Pod that a term refers to by key to its labelSelector."""
    selector = term.get("labelSelector")
    if selector.__class__ is not dict:
        return
    added = [
        {"key": key, "operator": operator, "values": [labels[key]]}
        for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
        for key in term.get(field) or ()
        if key in labels
    ]
    if added:
        selector["matchExpressions"] = [*(selector.get("matchExpressions") or ()), *added]


def _app_armor_fields(annotations: Value, spec: Value) -> None:
    """Set the AppArmor profiles that the deprecated annotations name."""
    if not any(key.startswith(_APP_ARMOR) for key in annotations) or map_in(spec, "os").get("name") == "windows":
        return
    of_pod = map_in(spec, "securityContext").get("appArmorProfile")
    for listed in ("initContainers", "containers"):
        for container in maps_in(spec.get(listed)):
            profile = _app_armor_profile(annotations.get(f"{_APP_ARMOR}{container.get('name')}"))
            if profile and profile != of_pod and "appArmorProfile" not in map_in(container, "securityContext"):
                container["securityContext"] = {**map_in(container, "securityContext"), "appArmorProfile": profile}


def _app_armor_profile(annotation: Any) -> Value | None:
    if annotation == "unconfined":
        return {"type": "Unconfined"}
    if annotation == "runtime/default":
        return {"type": "RuntimeDefault"}
    local = annotation.removeprefix("localhost/") if annotation.__class__ is str else annotation
    return {"type": "Localhost", "localhostProfile": local} if local and local != annotation else None


@_prepares("core/v1 PersistentVolume")
def _persistent_volume(value: Value, _: Conditions) -> None:
    value["status"] = {"phase": "Pending"}


@_prepares("core/v1 PersistentVolumeClaim")
def _claim(value: Value, _: Conditions) -> None:
    value["status"] = {"phase": "Pending"}
    spec = map_in(value, "spec")
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if reference.__class__ is dict and reference.get("namespace"):
        # Sources in another namespace need a gate that no version enables.
        del spec["dataSourceRef"]
        reference = None
    if reference is None and source.__class__ is dict:
        group = source.get("apiGroup") or ""
        allowed = ("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot")
        if (group, source.get("kind")) in allowed:
            spec["dataSourceRef"] = dict(source)
        else:
            del spec["dataSource"]
    elif source is None and reference.__class__ is dict:
        spec["dataSource"] = {key: each for key, each in reference.items() if key != "namespace"}


@_prepares("core/v1 Namespace")
def _namespace(value: Value, _: Conditions) -> None:
    value["status"] = {"phase": "Active"}
    spec = map_in(value, "spec")
    finalizers = spec.get("finalizers") or []
    if "kubernetes" not in finalizers:
        value["spec"] = {**spec, "finalizers": [*finalizers, "kubernetes"]}


@_prepares("core/v1 Service")
def _service(value: Value, _: Conditions) -> None:
    spec = map_in(value, "spec")
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    if spec.get("type") == "ExternalName":
        return
    if "ipFamilyPolicy" not in spec:
        selectorless = spec.get("clusterIP") == "None" and not spec.get("selector")
        spec["ipFamilyPolicy"] = "RequireDualStack" if selectorless else "SingleStack"
    families = list(spec.get("ipFamilies") or ())
    addresses = spec.get("clusterIPs")
    more = addresses[len(families) :] if addresses.__class__ is list else []
    families += ["IPv6" if ":" in each else "IPv4" for each in more if each.__class__ is str and each != "None"]
    if families:
        spec["ipFamilies"] = families


@_prepares("core/v1 ServiceAccount")
def _service_account(value: Value, _: Conditions) -> None:
    if value.get("secrets"):
        value["secrets"] = [{key: each[key] for key in each if key == "name"} for each in maps_in(value["secrets"])]


@_prepares("core/v1 Node")
def _node(value: Value, _: Conditions) -> None:
    spec = map_in(value, "spec")
    spec.pop("configSource", None)
    map_in(value, "status").pop("config", None)


@_prepares("apps/v1 DaemonSet")
def _daemon_set(value: Value, _: Conditions) -> None:
    metadata = map_in(value, "metadata")
    annotations = map_in(metadata, "annotations")
    generation = annotations.get(_GENERATION, "")
    if not (generation.__class__ is str and generation.isdigit() and int(generation)):
        metadata["annotations"] = {**annotations, _GENERATION: "1"}


@_prepares("batch/v1 Job")
def _job(value: Value, conditions: Conditions) -> None:
    spec = map_in(value, "spec")
    name = map_in(value, "metadata").get("name")
    if spec.get("manualSelector") is True or not name:
        return
    keys = ("job-name", "batch.kubernetes.io/job-name") if conditions.minor >= 27 else ("job-name",)
    template = map_in(map_in(spec, "template"), "metadata")
    # A Job without labels has those of its template, even the generated ones.
    shared = map_in(value["metadata"], "labels") in ({}, map_in(template, "labels"))
    for metadata in (template, value["metadata"]) if shared else (template,):
        metadata["labels"] = {**dict.fromkeys(keys, name), **map_in(template, "labels")}


@_prepares("discovery/v1 EndpointSlice")
def _endpoint_slice(value: Value, conditions: Conditions) -> None:
    for endpoint in maps_in(value.get("endpoints")):
        endpoint.pop("deprecatedTopology", None)
        if not conditions.has_gate("PreferSameTrafficDistribution"):
            map_in(endpoint, "hints").pop("forNodes", None)


@_prepares("resource/v1 ResourceSlice", "resource/v1beta2 ResourceSlice", "resource/v1beta1 ResourceSlice")
def _resource_slice(value: Value, _: Conditions) -> None:
    for device in maps_in(map_in(value, "spec").get("devices")):
        for attribute in maps_in(list(map_in(map_in(device, "basic") or device, "attributes").values())):
            # The gate DRAListTypeAttributes is off in all versions.
            for key in ("bools", "ints", "strings", "versions"):
                attribute.pop(key, None)


@_prepares("apiregistration/v1 APIService")
def _api_service(value: Value, _: Conditions) -> None:
    if not map_in(value, "spec").get("service"):
        message = "Local APIServices are always available"
        value["status"] = {"conditions": [{"type": "Available", "status": "True", "reason": "Local", "message": message}]}


@_prepares("apiextensions/v1 CustomResourceDefinition")
def _custom_resource_definition(value: Value, _: Conditions) -> None:
    stored = [each.get("name") for each in maps_in(map_in(value, "spec").get("versions")) if each.get("storage") is True]
    if stored:
        map_in(value, "status")["storedVersions"] = stored[:1]


@_prepares("certificates/v1 CertificateSigningRequest")
def _signing_request(value: Value, _: Conditions) -> None:
    spec = map_in(value, "spec")
    for key in ("username", "uid", "groups", "extra"):
        spec.pop(key, None)

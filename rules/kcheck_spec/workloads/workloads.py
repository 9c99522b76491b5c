"""Workloads that keep Pods running: selectors, and fields that their Pod templates do not support.

Source: ValidateDeploymentSpec, ValidateReplicaSetSpec, ValidateStatefulSetSpec, ValidateDaemonSetSpec and their templates
(pkg/apis/apps/validation), ValidateReplicationControllerSpec (pkg/apis/core/validation), the defaults and conversions of both groups.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import (
    Complaint,
    Constraint,
    Correction,
    Node,
    Problem,
    TypedValue,
    constraint,
    declare,
    fields,
    names,
    pattern,
    remove,
    selector,
    validator,
)
from kcheck_spec.objects.common_constraints import dubious_setting, non_negative, not_supported, object_name, one_of, present, require
from kcheck_spec.objects.engine import required_field, unsupported_value
from kcheck_spec.objects.label_selectors import is_well_formed, requirements_of

workload_selector = declare(
    "selector-mismatch", "Workload selector is empty or does not match the labels of its Pod template", fixable=True
)
pod_template = declare("invalid-pod-template", "Pod template conflicts with its controller (restartPolicy, activeDeadlineSeconds)")
workload_annotation = declare(
    "invalid-workload-annotation", "Deployment or DaemonSet has an invalid annotation of extensions/v1beta1", fixable=True
)

# Without DaemonSets, for which the API server checks less.
_SELECTING = ("apps/v1 DeploymentSpec", "apps/v1 ReplicaSetSpec", "apps/v1 StatefulSetSpec")
_LASTING = (*_SELECTING, "apps/v1 DaemonSetSpec", "core/v1 ReplicationControllerSpec")

_POLICIES = ("OrderedReady", "Parallel")
_INTEGER = pattern("[+-]?0*[0-9]{1,18}")
# Label values that YAML reads as strings without quotes.
_PLAIN = pattern("[A-Za-z][A-Za-z0-9._-]*")
_NOT_STRINGS = ("true", "false", "yes", "no", "on", "off", "y", "n", "null")
_ROLLBACK = "deprecated.deployment.rollback.to"
_GENERATION = "deprecated.daemonset.template.generation"
_DEFAULT_DEADLINE = 600

_STATEFUL_SET = "apps/v1 StatefulSetSpec"
# Before 1.34 the API server stored templates of StatefulSets without validation.
_later = Constraint(pod_template, lambda node: None, validated_since=34)
retention = one_of("Retain", "Delete")


def _management(node: Node) -> Problem | None:
    if not node.text or node.text in _POLICIES:
        return None
    return not_supported(node, _POLICIES).replace(reason="Invalid")


def _selector(node: Node) -> Problem | None:
    return None if node else require(node).replace(fix=_selector_change(node))


def _selector_change(node: Node) -> Correction | None:
    """The change that adds a selector with the template labels, as old API versions did."""
    assert node.parent is not None
    labels = node.parent.at("template", "metadata", "labels")
    if not len(labels) or any(not isinstance(each.value, str) for each in labels):
        return None
    return Correction.set(node, {"matchLabels": {key: each.text for key, each in labels.entries}}, safe=False)


@constraint(object_name, since=33)
def _service_name(node: Node) -> Problem | None:
    """A part of the host names of the Pods."""
    wrong = names.dns_label(node.text) if node.text else ""
    return Problem(node, wrong, reason="Invalid") if wrong else None


tables = [
    fields(_SELECTING, selector=Constraint(required_field, _selector, of_absent=True)),
    fields(_LASTING, minReadySeconds=non_negative),
    fields(tuple(each for each in _LASTING[:-1] if each != _STATEFUL_SET), template=()),
    fields(_STATEFUL_SET, template=_later, volumeClaimTemplates=_later),
    fields((*_SELECTING, "core/v1 ReplicationControllerSpec"), replicas=non_negative),
    fields(("apps/v1 DeploymentSpec", "apps/v1 DaemonSetSpec"), revisionHistoryLimit=non_negative),
    fields("apps/v1 DeploymentSpec", progressDeadlineSeconds=non_negative),
    fields("apps/v1 DaemonSetSpec", selector=()),
    fields(
        "apps/v1 StatefulSetSpec",
        serviceName=_service_name,
        podManagementPolicy=Constraint(unsupported_value, _management, closed=True),
    ),
    fields("apps/v1 StatefulSetOrdinals", start=non_negative),
    fields("apps/v1 StatefulSetPersistentVolumeClaimRetentionPolicy", whenDeleted=retention, whenScaled=retention),
    fields("core/v1 ReplicationControllerSpec", template=present),
]


def unmet(labels: Node, wanted: selector.Selector | None, present: dict[str, str]) -> Problem:
    """The problem of template labels that do not match the selector of the workload. `wanted`: None for a missing selector."""
    first = next(iter(wanted.unmet(present)), None) if wanted is not None else None
    fix = None
    if first is None:
        message = Complaint("spec.selector is missing and does not match the template labels", "add spec.selector.matchLabels")
    else:
        message = Complaint(f"template labels do not match selector {first}", _label_hint(first))
        fix = _label_change(labels, first)
    # The missing selector is reported as such.
    return Problem(labels, message, reason="Invalid", echo=wanted is None, fix=fix)


def _label_change(labels: Node, requirement: selector.Requirement) -> Correction | None:
    """The change that sets or removes a template label, if the requirement allows only one value."""
    node = labels[requirement.key]
    if requirement.operator == "In" and len(requirement.values) == 1:
        return Correction.set(node, requirement.values[0], safe=not node.exists)
    return Correction.remove(node, safe=False) if requirement.operator == "DoesNotExist" else None


def _label_hint(requirement: selector.Requirement) -> str:
    """How to change the template labels so that they meet a requirement."""
    key, values = requirement.key, requirement.values
    if requirement.operator == "In" and len(values) == 1:
        return f"set {key}: {_plain_or_quoted(values[0])} in spec.template.metadata.labels"
    if requirement.operator in ("In", "Exists"):
        return f"set {key} in spec.template.metadata.labels" + (f" to one of {', '.join(values)}" if values else "")
    if requirement.operator == "DoesNotExist":
        return f"remove {key} from spec.template.metadata.labels"
    return f"change {key} in spec.template.metadata.labels"


def _plain_or_quoted(value: str) -> str:
    """A label value as YAML: in quotes unless it certainly is a string without them."""
    return value if _PLAIN.fullmatch(value) and value.lower() not in _NOT_STRINGS else f'"{value}"'


@validator(_SELECTING, rule=workload_selector)
def selectors_match_templates(spec: Node) -> Iterator[Problem]:
    """A selector must match the template labels, else new Pods would be created forever, and must not be empty."""
    chosen = spec["selector"]
    if chosen and not chosen.is_map:
        return
    if not is_well_formed(chosen):
        hint = "fix the other findings in spec.selector"
        yield Problem(chosen, "spec.selector is not a valid label selector", help=hint, reason="Invalid", at="key")
        return
    yield from _empty(chosen)
    yield from _mismatch(spec, requirements_of(chosen))


@validator("apps/v1 DaemonSetSpec", rule=workload_selector)
def selectors_of_daemons_match_templates(spec: Node) -> Iterator[Problem]:
    """The same for DaemonSets, where the API server does not report a missing selector as required."""
    chosen = spec["selector"]
    yield from _empty(chosen)
    if (chosen.is_map or not chosen) and is_well_formed(chosen):
        yield from _mismatch(spec, requirements_of(chosen))


@validator("core/v1 ReplicationControllerSpec", rule=workload_selector)
def selectors_of_replication_controllers_match(spec: Node) -> Iterator[Problem]:
    """The selector of a ReplicationController is a plain map. Its default is the template labels."""
    chosen, labels = spec["selector"], spec.at("template", "metadata", "labels")
    if len(chosen):
        if spec["template"]:
            yield from _mismatch(spec, selector.of_map({key: value.text for key, value in chosen.entries}))
    elif not len(labels):
        message = "ReplicationController has neither spec.selector nor template labels"
        yield require(chosen, Complaint(message, "add labels to spec.template.metadata"))


def _empty(chosen: Node) -> Iterator[Problem]:
    if chosen.is_map and not any(len(part) for part in chosen):
        message = "spec.selector is empty and would match all Pods of the namespace"
        yield Problem(chosen, message, help="add matchLabels with labels of the Pod template", reason="Invalid")


def _mismatch(spec: Node, wanted: selector.Selector | None) -> Iterator[Problem]:
    labels = spec.at("template", "metadata", "labels")
    present = {key: value.text for key, value in labels.entries}
    if wanted is None or not wanted.matches(present):
        problem = unmet(labels, wanted, present)
        yield problem if wanted is not None else problem.replace(fix=_selector_change(spec["selector"]))


@validator(_LASTING, rule=pod_template)
def pods_run_on(spec: Node) -> Iterator[Problem]:
    """Pod templates of workloads that keep Pods running support only restartPolicy: Always, and no activeDeadlineSeconds."""
    pod = spec.at("template", "spec")
    policy, deadline = pod["restartPolicy"], pod["activeDeadlineSeconds"]
    kind = spec.parent["kind"].text if spec.parent is not None else ""
    if policy.text in ("OnFailure", "Never"):
        message = Complaint(f'restartPolicy "{policy.text}" is not supported in a {kind}', "use restartPolicy: Always, or use a Job")
        yield Problem(policy, message, reason="NotSupported")
    if deadline:
        message = Complaint(f"activeDeadlineSeconds is not supported in a {kind}", "remove activeDeadlineSeconds, or use a Job")
        yield Problem(deadline, message, reason="Forbidden", at="key")


@validator("apps/v1 DeploymentSpec", rule=pod_template, fields=("progressDeadlineSeconds", "minReadySeconds"))
def deadlines_leave_time_to_get_ready(spec: Node) -> Iterator[Problem]:
    """Deadlines that do not exceed minReadySeconds: no Pod is available in time, so every rollout fails."""
    deadline, ready = spec["progressDeadlineSeconds"], spec["minReadySeconds"]
    seconds = (deadline.integer or 0) if deadline else _DEFAULT_DEADLINE
    least = ready.integer or 0
    if 0 <= seconds <= least:
        shown = f"progressDeadlineSeconds: {seconds}" if deadline else f"progressDeadlineSeconds ({seconds} by default)"
        message = f"{shown} is not greater than minReadySeconds: {least}"
        hint = f"set progressDeadlineSeconds to {least + 1} or more"
        yield Problem(deadline if deadline else ready, message, help=hint, reason="Invalid", field=deadline)


@validator(
    ("apps/v1 DeploymentSpec", "apps/v1 ReplicaSetSpec", "apps/v1 DaemonSetSpec", "core/v1 ReplicationControllerSpec"), rule=pod_template
)
def shared_disks_are_read_only(spec: TypedValue) -> Iterator[Problem]:
    """Disks of GCE are attached to several nodes only if they are read-only. Older API servers reject others with several replicas."""
    replicas = spec.node["replicas"].integer
    if spec.resource.enables("SkipReadOnlyValidationGCE") or (spec.resource.kind != "DaemonSet" and (replicas is None or replicas < 2)):
        return
    for volume in spec.node.at("template", "spec", "volumes"):
        disk = volume["gcePersistentDisk"]
        if disk and not disk["readOnly"].boolean:
            message = Complaint("gcePersistentDisk of Pods on several nodes must be read-only before Kubernetes 1.29", "set readOnly: true")
            yield Problem(disk, message, reason="Invalid", at="key", field=volume.virtual("GCEPersistentDisk", "readOnly"))


@validator("apps/v1 StatefulSetSpec", rule=dubious_setting, fields="revisionHistoryLimit")
def old_revisions_are_dropped(spec: TypedValue) -> Iterator[Problem]:
    """A negative limit keeps all revisions. Source: WarningsOnCreate of StatefulSets, since 1.33."""
    limit = spec.node["revisionHistoryLimit"]
    if (limit.integer or 0) < 0 and not spec.resource.is_before(33):
        yield Problem(limit, f"revisionHistoryLimit: {limit.integer} is negative, so all revisions are kept", help="use 0 or more")


@validator(("apps/v1 Deployment", "apps/v1 DaemonSet"), rule=workload_annotation, fields="metadata")
def former_fields_are_numbers(workload: Node) -> Iterator[Problem]:
    """Former fields of extensions/v1beta1 that are kept as annotations. The API server rejects values that are not integers."""
    annotations = workload.at("metadata", "annotations")
    for name in (_ROLLBACK, _GENERATION):
        kind = "Deployment" if name == _ROLLBACK else "DaemonSet"
        value = annotations[name]
        if workload["kind"].text != kind or not value.exists or (name == _ROLLBACK and not value.text):
            continue
        if not _INTEGER.fullmatch(value.text):
            message = f'value "{value.text}" of annotation "{name}" is not an integer'
            yield Problem(value, message, help=remove("the annotation"), reason="Invalid")
        elif name == _ROLLBACK and int(value.text) < 0:
            message = f'value "{value.text}" of annotation "{name}" is negative'
            yield Problem(value, message, help=remove("the annotation"), reason="Invalid", field="spec.rollback.version")

"""Controllers that keep pods running: which pods are theirs, and what a template of such pods cannot say.

Source: ValidateDeploymentSpec, ValidateReplicaSetSpec, ValidateStatefulSetSpec, ValidateDaemonSetSpec and their templates
(pkg/apis/apps/validation), ValidateReplicationControllerSpec (pkg/apis/core/validation), the defaults and conversions of both groups.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Constraint, Node, Problem, declare, fields, pattern, selector, validator
from kcheck_spec.objects.common_constraints import dns_label, dubious_setting, non_negative, one_of, present, require
from kcheck_spec.objects.label_selectors import is_well_formed, requirements_of
from kcheck_spec.objects.shape import unsupported_value

workload_selector = declare(
    "selector-mismatch",
    "Workload selector is empty or does not match the labels of its Pod template",
)
pod_template = declare("invalid-pod-template", "Pod template conflicts with its controller (restartPolicy, activeDeadlineSeconds)")
workload_annotation = declare("invalid-workload-annotation", "Deployment or DaemonSet has an invalid annotation of extensions/v1beta1")

# A DaemonSet is left out of the first: the server is content with less there.
_SELECTING = ("apps/v1 DeploymentSpec", "apps/v1 ReplicaSetSpec", "apps/v1 StatefulSetSpec")
_LASTING = (*_SELECTING, "apps/v1 DaemonSetSpec", "core/v1 ReplicationControllerSpec")

_POLICIES = ("OrderedReady", "Parallel")
_INTEGER = pattern("[+-]?0*[0-9]{1,18}")
_ROLLBACK = "deprecated.deployment.rollback.to"
_GENERATION = "deprecated.daemonset.template.generation"
_DEFAULT_DEADLINE = 600

retention = one_of("Retain", "Delete")


def _management(node: Node) -> Problem | None:
    if not node.text or node.text in _POLICIES:
        return None
    return Problem(node, f"{node.text} is not supported here", help=f"write one of {', '.join(_POLICIES)}", reason="Invalid")


tables = [
    fields(_SELECTING, selector=present),
    fields(_LASTING, minReadySeconds=non_negative),
    fields(_LASTING[:-1], template=()),
    fields((*_SELECTING, "core/v1 ReplicationControllerSpec"), replicas=non_negative),
    fields(("apps/v1 DeploymentSpec", "apps/v1 DaemonSetSpec"), revisionHistoryLimit=non_negative),
    fields("apps/v1 DeploymentSpec", progressDeadlineSeconds=non_negative),
    fields("apps/v1 DaemonSetSpec", selector=()),
    fields(
        "apps/v1 StatefulSetSpec",
        serviceName=dns_label,
        podManagementPolicy=Constraint(unsupported_value, _management, closed=True),
    ),
    fields("apps/v1 StatefulSetOrdinals", start=non_negative),
    fields("apps/v1 StatefulSetPersistentVolumeClaimRetentionPolicy", whenDeleted=retention, whenScaled=retention),
    fields("core/v1 ReplicationControllerSpec", template=present),
]


def unmet(labels: Node, wanted: selector.Selector | None, present: dict[str, str]) -> Problem:
    """The problem of labels of a template that the selector of its controller does not match."""
    first = next(iter(wanted.unmet(present)), None) if wanted is not None else None
    if first is None:
        message = Complaint("nothing selects the pods of this template", "give the controller a selector for their labels")
    else:
        message = Complaint(f"the selector asks for {first}, which these labels do not meet", "let the two agree")
    return Problem(labels, message, reason="Invalid")


@validator(_SELECTING, rule=workload_selector)
def selectors_match_templates(spec: Node) -> Iterator[Problem]:
    """A controller that could not find its pods would make new ones for ever; an empty selector would take those of others."""
    chosen = spec["selector"]
    if chosen and not chosen.is_map:
        return
    if not is_well_formed(chosen):
        yield Problem(chosen, "the server can make no selector of this", help="mend what is wrong in it", reason="Invalid", at="key")
        return
    yield from _empty(chosen)
    yield from _mismatch(spec, requirements_of(chosen))


@validator("apps/v1 DaemonSetSpec", rule=workload_selector)
def selectors_of_daemons_match_templates(spec: Node) -> Iterator[Problem]:
    """The same, but the server does not say of a missing selector that it is required."""
    chosen = spec["selector"]
    yield from _empty(chosen)
    if (chosen.is_map or not chosen) and is_well_formed(chosen):
        yield from _mismatch(spec, requirements_of(chosen))


@validator("core/v1 ReplicationControllerSpec", rule=workload_selector)
def selectors_of_replication_controllers_match(spec: Node) -> Iterator[Problem]:
    """The selector is a plain map here, and by default the labels of the template."""
    chosen, labels = spec["selector"], spec.at("template", "metadata", "labels")
    if len(chosen):
        if spec["template"]:
            yield from _mismatch(spec, selector.of_map({key: value.text for key, value in chosen.entries}))
    elif not len(labels):
        yield require(
            chosen, Complaint("neither a selector nor labels of the template say which pods these are", "add labels to the template")
        )


def _empty(chosen: Node) -> Iterator[Problem]:
    if chosen.is_map and not any(len(part) for part in chosen):
        yield Problem(chosen, "an empty selector would select every pod of the namespace", help="add matchLabels", reason="Invalid")


def _mismatch(spec: Node, wanted: selector.Selector | None) -> Iterator[Problem]:
    labels = spec.at("template", "metadata", "labels")
    present = {key: value.text for key, value in labels.entries}
    if wanted is None or not wanted.matches(present):
        yield unmet(labels, wanted, present)


@validator(_LASTING, rule=pod_template)
def pods_run_on(spec: Node) -> Iterator[Problem]:
    """Pods that a controller keeps running do not end by themselves."""
    pod = spec.at("template", "spec")
    policy, deadline = pod["restartPolicy"], pod["activeDeadlineSeconds"]
    if policy.text in ("OnFailure", "Never"):
        message = Complaint(f"the pods of this controller run on, so {policy.text} is not supported here", "write Always, or make it a Job")
        yield Problem(policy, message, reason="NotSupported")
    if deadline:
        message = Complaint(
            "the pods of this controller run on, so they have no deadline", "take activeDeadlineSeconds away, or make it a Job"
        )
        yield Problem(deadline, message, reason="Forbidden", at="key")


@validator("apps/v1 DeploymentSpec", rule=pod_template, fields=("progressDeadlineSeconds", "minReadySeconds"))
def deadlines_leave_time_to_get_ready(spec: Node) -> Iterator[Problem]:
    """A rollout in which no pod can count as available in time always fails."""
    deadline, ready = spec["progressDeadlineSeconds"], spec["minReadySeconds"]
    seconds = (deadline.integer or 0) if deadline else _DEFAULT_DEADLINE
    least = ready.integer or 0
    if 0 <= seconds <= least:
        after = f"{seconds} seconds" if deadline else f"{seconds} seconds (the default)"
        message = f"a rollout fails after {after}, and no pod is available before {least}"
        yield Problem(
            deadline if deadline else ready,
            message,
            help=f"give progressDeadlineSeconds more than {least}",
            reason="Invalid",
            field=deadline,
        )


@validator("apps/v1 StatefulSetSpec", rule=dubious_setting, fields="revisionHistoryLimit")
def old_revisions_are_dropped(spec: Node) -> Iterator[Problem]:
    """Source: WarningsOnCreate of stateful sets."""
    limit = spec["revisionHistoryLimit"]
    if (limit.integer or 0) < 0:
        yield Problem(limit, f"{limit.integer} keeps every revision for ever", help="write 0 or more")


@validator(("apps/v1 Deployment", "apps/v1 DaemonSet"), rule=workload_annotation, fields="metadata")
def former_fields_are_numbers(workload: Node) -> Iterator[Problem]:
    """Fields of extensions/v1beta1 that lived on as annotations. The server reads them and refuses what is no number."""
    annotations = workload.at("metadata", "annotations")
    for name in (_ROLLBACK, _GENERATION):
        kind = "Deployment" if name == _ROLLBACK else "DaemonSet"
        value = annotations[name]
        if workload["kind"].text != kind or not value.exists or (name == _ROLLBACK and not value.text):
            continue
        if not _INTEGER.fullmatch(value.text):
            yield Problem(
                value,
                f"the server reads {name} as a number, which {value.text!r} is not",
                help="take the annotation away",
                reason="Invalid",
            )
        elif name == _ROLLBACK and int(value.text) < 0:
            message = f"there is no revision {value.text} to roll back to"
            yield Problem(value, message, help="take the annotation away", reason="Invalid", field="spec.rollback.version")

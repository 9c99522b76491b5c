"""Jobs: completions, indexes, restart policy and selector.

Source: ValidateJob, validateGeneratedSelector and validateJobSpec (pkg/apis/batch/validation), SetDefaults_Job (pkg/apis/batch/v1),
generateSelector (pkg/registry/batch/job), WarningsForJobSpec (pkg/api/job).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Constraint, Node, Problem, declare, fields, help_of, labels, names, remove, selector, validator
from kcheck_spec.objects.common_constraints import dubious_setting, non_negative, object_name, one_of, require
from kcheck_spec.objects.label_selectors import is_well_formed, requirements_of
from kcheck_spec.objects.labels import label_syntax
from kcheck_spec.workloads.workloads import pod_template, unmet

job_selector = declare("invalid-job-selector", "Job sets a selector or label that the API server generates (manualSelector)", fixable=True)
indexed_job = declare("invalid-indexed-job", "Job fields conflict with completionMode (Indexed, backoffLimitPerIndex)")

_MAX_INDEXES = 100_000
"""Limit of parallelism and maxFailedIndexes: more indexes make the status too long."""
_MAX_AT_ONCE = 10_000
"""The same limit where completions is greater than _MAX_INDEXES."""
_MAX_MANAGER_BYTES = 63
_MAX_LABEL_LENGTH = 63
_SHOWN = 80
"""How many characters of a long hostname a message shows."""

_NAMES = ("job-name", "batch.kubernetes.io/job-name")
_UIDS = ("controller-uid", "batch.kubernetes.io/controller-uid")
_UNKNOWN_UID = "00000000-0000-0000-0000-000000000000"
"""Placeholder for the uid that the API server will set."""


def _managers(node: Node) -> Iterator[Problem]:
    if not node.text:
        yield require(node)
        return
    if wrong := names.domain_path(node.text):
        yield Problem(node, wrong, reason="Invalid")
    size = len(node.text.encode())
    if size > _MAX_MANAGER_BYTES:
        yield Problem(node, f"managedBy is {size} bytes long, but the maximum is {_MAX_MANAGER_BYTES}", reason="TooLong")


tables = [
    fields(
        "batch/v1 JobSpec",
        parallelism=non_negative,
        completions=non_negative,
        activeDeadlineSeconds=non_negative,
        backoffLimit=non_negative,
        backoffLimitPerIndex=non_negative,
        maxFailedIndexes=non_negative,
        ttlSecondsAfterFinished=non_negative,
        completionMode=one_of("NonIndexed", "Indexed", empty=False),
        managedBy=Constraint(object_name, _managers),
        template=(),
    ),
]


def name_of(node: Node) -> str:
    """The name of an object, an example of a generated one for generateName, "" where both are absent."""
    name, prefix = node.at("metadata", "name"), node.at("metadata", "generateName")
    return name.text or (names.generated(prefix.text) if prefix.text else "")


def is_indexed(spec: Node) -> bool:
    return spec["completionMode"].text == "Indexed"


def completions_of(spec: Node) -> int | None:
    """The completions of a Job, None where they are unknown. The API server sets a default in Jobs, but not in a jobTemplate."""
    completions = spec["completions"]
    if completions or spec["parallelism"] or (spec.parent is not None and spec.parent.name == "jobTemplate"):
        return completions.integer
    return 1


@validator("batch/v1 JobSpec", rule=pod_template)
def pods_of_jobs_end(spec: Node) -> Iterator[Problem]:
    """Pods of a Job must be able to succeed (not Always) and, for a podFailurePolicy, to fail (not OnFailure)."""
    policy = spec.at("template", "spec", "restartPolicy")
    if policy.text in ("", "Always"):
        message = 'restartPolicy "Always" is not supported in a Job' if policy.text else "restartPolicy of the Pod template is missing"
        hint = "set restartPolicy: Never" if spec["podFailurePolicy"] else "set restartPolicy: Never or OnFailure"
        yield require(policy, Complaint(message, hint))
    elif policy.text == "OnFailure" and spec["podFailurePolicy"]:
        message = 'restartPolicy "OnFailure" is not allowed with podFailurePolicy'
        yield Problem(policy, message, help="use restartPolicy: Never", reason="Invalid")


@validator("batch/v1 JobSpec", rule=indexed_job)
def indexes_are_counted(spec: Node) -> Iterator[Problem]:
    """Fields about single indexes require completionMode: Indexed, which requires completions."""
    per_index, most_failed = spec["backoffLimitPerIndex"], spec["maxFailedIndexes"]
    if most_failed and not per_index:
        yield require(per_index, Complaint("maxFailedIndexes requires backoffLimitPerIndex", "add backoffLimitPerIndex"))
    if is_indexed(spec):
        yield from _indexed(spec)
        return
    # For an unknown completionMode, which is reported elsewhere, the API server reports only the success policy.
    single = (per_index, most_failed) if spec["completionMode"].text == "NonIndexed" or not spec["completionMode"] else ()
    wanted = "set completionMode: Indexed" if completions_of(spec) is not None else "set completionMode: Indexed and completions"
    for node in (*single, spec["successPolicy"]):
        if node:
            message = f"{node.name} requires completionMode: Indexed"
            yield Problem(node, message, help=f"{wanted}, or remove {node.name}", reason="Invalid", at="key")


def _indexed(spec: Node) -> Iterator[Problem]:
    completions, most_failed = completions_of(spec), spec["maxFailedIndexes"]
    parallelism, failed = spec["parallelism"].integer or 0, most_failed.integer or 0
    if completions is None:
        yield require(spec["completions"], Complaint("completionMode: Indexed requires completions", "add completions"))
    if parallelism > _MAX_INDEXES:
        yield _too_great(spec["parallelism"], _MAX_INDEXES, "for completionMode: Indexed")
    if most_failed and completions is not None and failed > completions:
        yield Problem(
            most_failed,
            f"maxFailedIndexes: {failed} is greater than the completions of the Job ({completions})",
            help=f"use at most {completions}",
            reason="Invalid",
        )
    if failed > _MAX_INDEXES:
        yield _too_great(most_failed, _MAX_INDEXES, "for completionMode: Indexed")
    if (completions or 0) > _MAX_INDEXES and spec["backoffLimitPerIndex"]:
        many = f"with backoffLimitPerIndex and more than {_MAX_INDEXES} completions"
        if not most_failed:
            hint = f"add maxFailedIndexes with a value of at most {_MAX_AT_ONCE}"
            yield require(most_failed, Complaint(f"maxFailedIndexes is required {many}", hint))
        if parallelism > _MAX_AT_ONCE:
            yield _too_great(spec["parallelism"], _MAX_AT_ONCE, many)
        if failed > _MAX_AT_ONCE:
            yield _too_great(most_failed, _MAX_AT_ONCE, many)


def _too_great(node: Node, most: int, context: str) -> Problem:
    message = f"{node.name}: {node.integer} is greater than {most}, the maximum {context}"
    return Problem(node, message, help=f"use at most {most}", reason="Invalid")


@validator("batch/v1 JobSpec", rule=dubious_setting)
def indexes_can_be_tracked(spec: Node) -> Iterator[Problem]:
    """Accepted, but the list of completed indexes may not fit into the status."""
    completions, parallelism = spec["completions"], spec["parallelism"]
    if is_indexed(spec) and (completions.integer or 0) > _MAX_INDEXES and (parallelism.integer or 0) > _MAX_AT_ONCE:
        message = f"with parallelism: {parallelism.integer} and completions: {completions.integer}, completed indexes can get lost"
        yield Problem(parallelism, message, help=f"use a parallelism of at most {_MAX_AT_ONCE}", field=spec)


@validator("batch/v1 Job", rule=object_name)
def names_leave_room_for_indexes(job: Node) -> Iterator[Problem]:
    """The hostname of a Pod is the name of the Job with the index."""
    name, spec = name_of(job), job["spec"]
    completions = completions_of(spec) or 0
    host = f"{name}-{completions - 1}"
    if name and is_indexed(spec) and completions > 0 and names.dns_label(host) and not names.dns_subdomain(name):
        wrong = names.dns_label(host)
        length = _MAX_LABEL_LENGTH - len(f"-{completions - 1}")
        message = f'hostname "{host[:_SHOWN]}" of the last Pod of the Job is not valid: {wrong}'
        hint = f"use a DNS label of at most {length} characters as the name of the Job"
        yield Problem(job.at("metadata", "name"), message, help=hint, reason="Invalid")


@validator("batch/v1 Job", rule=label_syntax)
def names_fit_into_labels(job: Node) -> Iterator[Problem]:
    """The API server labels the Pods with the name of the Job, and the Job, too, where it has the labels of its Pods."""
    own, template = job.at("metadata", "labels"), job.at("spec", "template", "metadata", "labels")
    wrong = labels.value(name_of(job))
    if not wrong or job.at("spec", "manualSelector").boolean or all(name in template for name in _NAMES):
        return
    name = job.at("metadata", "name")
    message = Complaint(f"name of the Job is not a valid value of the label job-name: {wrong}", help_of(wrong))
    yield Problem(name, message, reason="Invalid", field=job.at("spec", "template", "labels"))
    if template and not len(own):
        yield Problem(name, message, reason="Invalid", field=own)


@validator("batch/v1 Job", rule=job_selector)
def jobs_select_their_pods(job: Node) -> Iterator[Problem]:
    """Without manualSelector the API server adds labels and a selector. Written labels and selectors must match them."""
    spec = job["spec"]
    chosen, labelled = spec["selector"], spec.at("template", "metadata", "labels")
    pods = {key: value.text for key, value in labelled.entries}
    if spec["manualSelector"].boolean:
        if not chosen:
            yield require(chosen, Complaint("manualSelector: true requires selector", "add selector, or remove manualSelector"))
        if is_well_formed(chosen):
            yield from _mismatch(labelled, requirements_of(chosen), pods)
        return
    added = {**dict.fromkeys(_NAMES, name_of(job)), **dict.fromkeys(_UIDS, _UNKNOWN_UID)}
    for key, value in added.items():
        if pods.setdefault(key, value) != value:
            message = f'label "{key}" is set by the API server'
            # A selector may require the label.
            help = "remove the label" if chosen else remove("the label")
            yield Problem(labelled[key], message, help=help, reason="Invalid", at="key")
    if not is_well_formed(chosen):
        return
    wanted = requirements_of(chosen) or selector.EVERYTHING
    if _UIDS[1] not in chosen["matchLabels"]:
        wanted = selector.Selector((*wanted.requirements, selector.Requirement(_UIDS[1], "In", (_UNKNOWN_UID,))))
    if not wanted.matches(added):
        message = "selector of a Job is generated by the API server"
        yield Problem(chosen, message, help="remove selector, or set manualSelector: true", reason="Invalid", at="key")
    if pods[_UIDS[1]] != _UNKNOWN_UID and not wanted.matches(pods):
        message = f'template labels do not match the generated selector, which selects by "{_UIDS[1]}"'
        yield Problem(labelled, message, help=f'remove the label "{_UIDS[1]}"', reason="Invalid")
    else:
        # The label cannot be set, because its value is generated.
        yield from (problem.replace(fix=None) for problem in _mismatch(labelled, wanted, pods))


def _mismatch(labelled: Node, wanted: selector.Selector | None, pods: dict[str, str]) -> Iterator[Problem]:
    if wanted is None or not wanted.matches(pods):
        yield unmet(labelled, wanted, pods)

"""Jobs: how many pods, how many failures, and which pods are theirs.

Source: ValidateJob, validateGeneratedSelector and validateJobSpec (pkg/apis/batch/validation), SetDefaults_Job (pkg/apis/batch/v1),
generateSelector (pkg/registry/batch/job), WarningsForJobSpec (pkg/api/job).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Constraint, Node, Problem, declare, fields, help_of, labels, names, selector, validator
from kcheck_spec.objects.common_constraints import dubious_setting, non_negative, object_name, one_of, require
from kcheck_spec.objects.label_selectors import is_well_formed, requirements_of
from kcheck_spec.objects.labels import label_syntax
from kcheck_spec.workloads.workloads import pod_template, unmet

job_selector = declare("invalid-job-selector", "Job sets a selector or label that the API server generates (manualSelector)")
indexed_job = declare("invalid-indexed-job", "Job fields conflict with completionMode (Indexed, backoffLimitPerIndex)")

_MOST_INDEXES = 100_000
"""More of them at once, or failed, make the status too long."""
_MOST_AT_ONCE = 10_000
"""The same where there are more completions than that."""
_LONGEST_MANAGER = 63

_NAMES = ("job-name", "batch.kubernetes.io/job-name")
_UIDS = ("controller-uid", "batch.kubernetes.io/controller-uid")
_UNKNOWN_UID = "00000000-0000-0000-0000-000000000000"
"""Stands for the uid that the server will give the job."""


def _managers(node: Node) -> Iterator[Problem]:
    if not node.text:
        yield require(node)
        return
    if wrong := names.domain_path(node.text):
        yield Problem(node, wrong, reason="Invalid")
    size = len(node.text.encode())
    if size > _LONGEST_MANAGER:
        yield Problem(
            node, f"a controller's name has at most {_LONGEST_MANAGER} bytes, this has {size}", help="shorten it", reason="TooLong"
        )


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
    """The name of an object as it will be, "" where there is none."""
    name, prefix = node.at("metadata", "name"), node.at("metadata", "generateName")
    return name.text or (names.generated(prefix.text) if prefix.text else "")


def is_indexed(spec: Node) -> bool:
    return spec["completionMode"].text == "Indexed"


def completions_of(spec: Node) -> int | None:
    """How often the job must succeed, None where nobody says so. The server fills it in for a job, and not in the template of one."""
    completions = spec["completions"]
    if completions or spec["parallelism"] or (spec.parent is not None and spec.parent.name == "jobTemplate"):
        return completions.integer
    return 1


@validator("batch/v1 JobSpec", rule=pod_template)
def pods_of_jobs_end(spec: Node) -> Iterator[Problem]:
    """A pod that is always restarted never succeeds; one that restarts its containers itself never fails."""
    policy = spec.at("template", "spec", "restartPolicy")
    if policy.text in ("", "Always"):
        yield require(
            policy, Complaint("the pods of a job must end, and are restarted Always by default", "write restartPolicy: Never or OnFailure")
        )
    elif policy.text == "OnFailure" and spec["podFailurePolicy"]:
        yield Problem(
            policy, "with a podFailurePolicy the job restarts pods, not the node", help="write restartPolicy: Never", reason="Invalid"
        )


@validator("batch/v1 JobSpec", rule=indexed_job)
def indexes_are_counted(spec: Node) -> Iterator[Problem]:
    """What concerns single indexes needs Indexed, and Indexed needs their number."""
    per_index, most_failed = spec["backoffLimitPerIndex"], spec["maxFailedIndexes"]
    if most_failed and not per_index:
        yield require(
            per_index, Complaint("maxFailedIndexes counts indexes that backoffLimitPerIndex gives up", "add backoffLimitPerIndex")
        )
    if is_indexed(spec):
        yield from _indexed(spec)
        return
    # Of another word, which is refused as such, the server says only that it is not Indexed.
    single = (per_index, most_failed) if spec["completionMode"].text == "NonIndexed" or not spec["completionMode"] else ()
    for node in (*single, spec["successPolicy"]):
        if node:
            message = f"{node.name} is for jobs with indexes"
            yield Problem(node, message, help="add completionMode: Indexed, or take it away", reason="Invalid", at="key")


def _indexed(spec: Node) -> Iterator[Problem]:
    completions, most_failed = completions_of(spec), spec["maxFailedIndexes"]
    parallelism, failed = spec["parallelism"].integer or 0, most_failed.integer or 0
    if completions is None:
        yield require(spec["completions"], Complaint("completionMode: Indexed needs the number of indexes", "add completions"))
    if parallelism > _MOST_INDEXES:
        yield _too_much(spec["parallelism"], _MOST_INDEXES, "with completionMode: Indexed")
    if most_failed and completions is not None and failed > completions:
        yield _too_much(most_failed, completions, "the number of completions")
    if failed > _MOST_INDEXES:
        yield _too_much(most_failed, _MOST_INDEXES, "with completionMode: Indexed")
    if (completions or 0) > _MOST_INDEXES and spec["backoffLimitPerIndex"]:
        many = f"with backoffLimitPerIndex and more than {_MOST_INDEXES:,} completions"
        if not most_failed:
            yield require(
                most_failed, Complaint(f"{many}, the failed indexes need a limit", f"add maxFailedIndexes, {_MOST_AT_ONCE} at most")
            )
        if parallelism > _MOST_AT_ONCE:
            yield _too_much(spec["parallelism"], _MOST_AT_ONCE, many)
        if failed > _MOST_AT_ONCE:
            yield _too_much(most_failed, _MOST_AT_ONCE, many)


def _too_much(node: Node, most: int, why: str) -> Problem:
    return Problem(node, f"{node.integer} is too much", help=f"write {most} at most, {why}", reason="Invalid")


@validator("batch/v1 JobSpec", rule=dubious_setting)
def indexes_can_be_tracked(spec: Node) -> Iterator[Problem]:
    """Accepted, but the list of indexes that are done may not fit into the status."""
    completions, parallelism = spec["completions"], spec["parallelism"]
    if is_indexed(spec) and (completions.integer or 0) > _MOST_INDEXES and (parallelism.integer or 0) > _MOST_AT_ONCE:
        message = "with so many completions Kubernetes can lose track of the indexes"
        yield Problem(parallelism, message, help=f"write parallelism {_MOST_AT_ONCE} at most", field=spec)


@validator("batch/v1 Job", rule=object_name)
def names_leave_room_for_indexes(job: Node) -> Iterator[Problem]:
    """The hostname of a pod is the name of its job with the index."""
    name, spec = name_of(job), job["spec"]
    completions = completions_of(spec) or 0
    host = f"{name}-{completions - 1}"
    if name and is_indexed(spec) and completions > 0 and names.dns_label(host) and not names.dns_subdomain(name):
        wrong = names.dns_label(host)
        message = Complaint(f"the last pod of this job would be called {host[:80]}, which is no hostname: {wrong}", help_of(wrong))
        yield Problem(job.at("metadata", "name"), message, reason="Invalid")


@validator("batch/v1 Job", rule=label_syntax)
def names_fit_into_labels(job: Node) -> Iterator[Problem]:
    """The server labels the pods with the name of the job; and the job, too, if its labels are those of its pods."""
    own, template = job.at("metadata", "labels"), job.at("spec", "template", "metadata", "labels")
    wrong = labels.value(name_of(job))
    if not wrong or job.at("spec", "manualSelector").flag or all(name in template for name in _NAMES):
        return
    name = job.at("metadata", "name")
    message = Complaint(f"the pods of a job are labelled with its name: {wrong}", help_of(wrong))
    yield Problem(name, message, reason="Invalid", field=job.at("spec", "template", "labels"))
    if template and not len(own):
        yield Problem(name, message, reason="Invalid", field=own)


@validator("batch/v1 Job", rule=job_selector)
def jobs_select_their_pods(job: Node) -> Iterator[Problem]:
    """Without manualSelector the server adds labels and a selector; what is written besides must agree with them."""
    spec = job["spec"]
    chosen, labelled = spec["selector"], spec.at("template", "metadata", "labels")
    pods = {key: value.text for key, value in labelled.entries}
    if spec["manualSelector"].flag:
        if not chosen:
            yield require(chosen, Complaint("with manualSelector: true the job needs a selector", "add it, or take manualSelector away"))
        if is_well_formed(chosen):
            yield from _mismatch(labelled, requirements_of(chosen), pods)
        return
    added = {**dict.fromkeys(_NAMES, name_of(job)), **dict.fromkeys(_UIDS, _UNKNOWN_UID)}
    for key, value in added.items():
        if pods.setdefault(key, value) != value:
            message = f"the server sets the label {key} itself"
            yield Problem(labelled[key], message, help="take it away", reason="Invalid", at="key")
    if not is_well_formed(chosen):
        return
    wanted = requirements_of(chosen) or selector.EVERYTHING
    if _UIDS[1] not in chosen["matchLabels"]:
        wanted = selector.Selector((*wanted.requirements, selector.Requirement(_UIDS[1], "In", (_UNKNOWN_UID,))))
    if not wanted.matches(added):
        yield Problem(
            chosen, "the server makes the selector of a job", help="take this away, or set manualSelector: true", reason="Invalid", at="key"
        )
    if pods[_UIDS[1]] != _UNKNOWN_UID and not wanted.matches(pods):
        yield Problem(labelled, f"the job finds its pods by {_UIDS[1]}", help="take the label away, the server sets it", reason="Invalid")
    else:
        yield from _mismatch(labelled, wanted, pods)


def _mismatch(labelled: Node, wanted: selector.Selector | None, pods: dict[str, str]) -> Iterator[Problem]:
    if wanted is None or not wanted.matches(pods):
        yield unmet(labelled, wanted, pods)

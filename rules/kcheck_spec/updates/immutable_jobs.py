"""The Pod template of a Job, and how many Pods it completes.

Source: ValidateJobUpdate (pkg/apis/batch/validation), PrepareForUpdate and the options of the strategy (pkg/registry/batch/job).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcheck.api import ERROR, ObjectChange, Problem, is_equal, rule

_TEMPLATE = ("spec", "template")
_SCHEDULING = ("nodeSelector", "tolerations", "schedulingGates")
_GENERATED_LABELS = ("controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name")
_HELP = "use another name for the Job, or delete the old one first"


@rule("immutable-job", "Pod template or completions of a Job change", severity=ERROR, family="spec", groups=("jobs",), kinds="batch Job")
def immutable_job(change: ObjectChange) -> Iterator[Problem]:
    """A Job keeps its template."""
    yield from _completions(change)
    yield from _labels(change)
    yield from _template(change)


def _completions(change: ObjectChange) -> Iterator[Problem]:
    path = ("spec", "completions")
    if not change.changes(*path):
        return
    node = change.node(*path)
    if change.applied("spec", "completionMode") != "Indexed":
        yield Problem(node, "spec.completions of a Job cannot change after creation", help=_HELP, reason="Invalid", at="key")
    elif not is_equal(change.applied(*path), change.applied("spec", "parallelism")):
        help = "set spec.parallelism to the same number"
        yield Problem(node, "spec.completions can only change together with spec.parallelism", help=help, reason="Invalid", at="key")


def _labels(change: ObjectChange) -> Iterator[Problem]:
    """The API server adds labels to the template. They are lost with metadata that the old manifest set and the new one does not."""
    path = (*_TEMPLATE, "metadata", "labels")
    generated = "batch.kubernetes.io/job-name"
    if change.stored("spec", "manualSelector") is True or generated not in (change.stored(*path) or {}):
        return
    labels = change.applied(*path) or {}
    missing = [name for name in _GENERATED_LABELS if name not in labels and generated not in labels]
    help = "keep a label in spec.template.metadata.labels"
    for name in missing:
        message = f'label "{name}", which the API server has added, would be removed from spec.template.metadata'
        yield Problem(change.node(*path, name), message, help=help, reason="Required")
    if missing:
        message = "spec.selector of the Job would not match the labels of spec.template"
        yield Problem(change.node(*path), message, help=help, reason="Invalid", at="key")


def _template(change: ObjectChange) -> Iterator[Problem]:
    old, new = change.stored(*_TEMPLATE) or {}, change.applied(*_TEMPLATE) or {}
    suspended = change.stored("spec", "suspend") is True
    if suspended:
        old, new = _without_scheduling(old), _without_scheduling(new)
    if is_equal(old, new):
        return
    if suspended and change.applied("spec", "suspend") is True:
        message = "spec.template of a suspended Job cannot change, except for labels, annotations and scheduling"
    else:
        message = "spec.template of a Job cannot change after creation"
    field = change.node(*_TEMPLATE, "spec") if suspended else None
    yield Problem(change.node(*_TEMPLATE), message, help=_HELP, reason="Invalid", at="key", field=field)


def _without_scheduling(template: dict[str, Any]) -> dict[str, Any]:
    """A template without what may change before a suspended Job starts."""
    metadata = {key: each for key, each in (template.get("metadata") or {}).items() if key not in ("labels", "annotations")}
    pod = {key: each for key, each in (template.get("spec") or {}).items() if key not in _SCHEDULING}
    affinity = pod.get("affinity")
    if isinstance(affinity, dict):
        pod["affinity"] = {key: each for key, each in affinity.items() if key != "nodeAffinity"} or None
    return {"metadata": metadata, "spec": pod}

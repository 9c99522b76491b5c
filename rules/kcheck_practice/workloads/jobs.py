"""Rules about the start, the end and the cleanup of Jobs and CronJobs.

Sources: the pages "Jobs", "CronJob" and "Automatic Cleanup for Finished Jobs" of the Kubernetes documentation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Pod, Problem, Resource, remove, rule

_HOOKS = ("helm.sh/hook", "argocd.argoproj.io/hook")
_CONTROLLERS = ("apps Deployment", "apps StatefulSet", "apps DaemonSet", "apps ReplicaSet", "core ReplicationController")


@rule(
    "missing-starting-deadline",
    "CronJob has no startingDeadlineSeconds",
    groups=("reliability", "jobs"),
    default=False,
    kinds="batch CronJob",
)
def cron_job_deadline(resource: Resource) -> Iterator[Problem]:
    """Yields a problem for a CronJob without a deadline: after an outage the controller starts the most recent missed run, however late.

    The controller of Kubernetes 1.20 and earlier starts no more Jobs after more than 100 missed runs (getRecentUnmetScheduleTimes in
    pkg/controller/cronjob).
    """
    spec = resource["spec"]
    if spec["jobTemplate"] and not spec["startingDeadlineSeconds"]:
        message = f"{resource.title} has no startingDeadlineSeconds, so a missed run may start at any later time"
        yield Problem(
            spec["schedule"] if spec["schedule"] else spec,
            message,
            help="set spec.startingDeadlineSeconds, for example to 600",
            field=spec["startingDeadlineSeconds"],
        )


@rule("short-starting-deadline", "CronJob has a startingDeadlineSeconds below 10 seconds", kinds="batch CronJob",
      groups=("reliability", "jobs"))  # fmt: skip
def short_cron_deadline(resource: Resource) -> Iterator[Problem]:
    """Yields a problem for a deadline below 10 seconds, the interval in which the CronJob controller looks for Jobs to start."""
    node = resource["spec"]["startingDeadlineSeconds"]
    if node.integer is not None and 0 <= node.integer < 10:
        message = f"startingDeadlineSeconds: {node.integer} is shorter than the 10-second interval of the CronJob controller"
        yield Problem(node, message, help="set startingDeadlineSeconds to 10 or more")


@rule(
    "job-ttl-seconds-after-finished",
    "Job has no ttlSecondsAfterFinished, or the Job template of a CronJob has one",
    kinds=("batch CronJob", "batch Job"),
    groups=("jobs",),
    default=False,
    fixable=True,
)
def finished_jobs(resource: Resource) -> Iterator[Problem]:
    """Yields a problem for a Job that is never deleted, and for a CronJob whose Jobs are deleted before its history limits apply."""
    if resource.is_a("batch CronJob"):
        node = resource.node.at("spec", "jobTemplate", "spec", "ttlSecondsAfterFinished")
        if node:
            message = f"ttlSecondsAfterFinished deletes Jobs of {resource.title} that its history limits keep"
            yield Problem(node, message, help=remove("ttlSecondsAfterFinished"), at="key")
    elif resource["spec"]["template"] and not resource["spec"]["ttlSecondsAfterFinished"]:
        yield Problem(
            resource.node.at("metadata", "name"),
            f"{resource.title} has no ttlSecondsAfterFinished, so the finished Job and its Pods are not deleted",
            help="set spec.ttlSecondsAfterFinished, for example to 3600",
            field=resource["spec"]["ttlSecondsAfterFinished"],
        )


@rule(
    "suspended-job",
    "Job or CronJob is suspended (suspend: true)",
    severity=INFO,
    groups=("jobs",),
    default=False,
    kinds=("batch CronJob", "batch Job"),
)
def suspended_job(resource: Resource) -> Iterator[Problem]:
    """Yields a problem for suspend: true. Jobs with labels of Kueue are accepted, as Kueue starts suspended Jobs."""
    node = resource["spec"]["suspend"]
    if node.boolean and not any(key.startswith("kueue.x-k8s.io/") for key in resource.labels):
        message = f"{resource.title} is suspended and starts no {'Pods' if resource.kind == 'Job' else 'Jobs'}"
        yield Problem(node, message, help=f"remove suspend: true, or remove the {resource.kind}")


@rule("standalone-job", "Job is not created by a CronJob", severity=INFO, groups=("jobs",), default=False, kinds="batch Job")
def job_outside_cron_job(resource: Resource) -> Iterator[Problem]:
    """Yields a problem for a Job without an owner. Hooks of Helm and Argo CD are accepted."""
    managed = resource["metadata"]["ownerReferences"] or any(key in resource.annotations for key in _HOOKS)
    if not managed:
        message = f"{resource.title} is not created by a CronJob"
        yield Problem(resource["kind"], message, help="move spec to spec.jobTemplate.spec of a CronJob")


@rule(
    "missing-active-deadline",
    "Job, or Pod with restartPolicy Never or OnFailure, has no activeDeadlineSeconds",
    groups=("jobs", "reliability"),
    default=False,
)
def no_deadline(
    pod: Pod,
    *,
    maximum: Annotated[int, "the highest activeDeadlineSeconds that is accepted; 0 accepts any number"] = 0,
) -> Iterator[Problem]:
    """Yields a problem for Jobs, and for Pods that may end (restartPolicy Never or OnFailure), without a deadline or with a long one.

    The deadline of a Job applies to all its Pods and retries together.
    """
    resource = pod.resource
    if not resource.is_a("batch Job", "batch CronJob") and pod["restartPolicy"].text not in ("Never", "OnFailure"):
        return
    job = resource.node.at("spec", "jobTemplate", "spec") if resource.kind == "CronJob" else resource["spec"]
    deadlines = [node for node in (pod["activeDeadlineSeconds"], job["activeDeadlineSeconds"]) if node]
    if not deadlines:
        name = resource.node.at("metadata", "name")
        subject = resource.title
        have = f"Jobs of {subject} have" if resource.kind == "CronJob" else f"{subject} has"
        message = f"{have} no activeDeadlineSeconds and may run forever"
        path = {"CronJob": "spec.jobTemplate.spec.", "Job": "spec.", "Pod": "spec."}.get(resource.kind, "")
        remedy = f"set {path}activeDeadlineSeconds to {maximum} or less" if maximum else f"add {path}activeDeadlineSeconds"
        yield Problem(name, message, help=remedy, field=job["activeDeadlineSeconds"])
    for node in deadlines:
        if maximum and node.integer is not None and node.integer > maximum:
            message = f"activeDeadlineSeconds: {node.integer} exceeds the maximum of {maximum}"
            yield Problem(node, message, help=f"set activeDeadlineSeconds to {maximum} or less")


@rule("restart-policy-never", "Pod has restartPolicy: Never", severity=INFO, groups=("reliability",), default=False)
def restart_never(pod: Pod) -> Iterator[Problem]:
    """Yields a problem for restartPolicy: Never. A Job with Never creates new Pods for failed ones, up to its backoffLimit.

    Jobs with podFailurePolicy or backoffLimitPerIndex are accepted, because they require Never.
    """
    node = pod["restartPolicy"]
    hint = _restart_help(pod)
    if node.text == "Never" and hint:
        yield Problem(node, "with restartPolicy: Never, the kubelet does not restart failed containers", help=hint)


def _restart_help(pod: Pod) -> str:
    """What to set restartPolicy to: what the API server accepts for the kind of the object; empty where it accepts only Never."""
    resource = pod.resource
    if resource.is_a(*_CONTROLLERS):
        return "set restartPolicy to Always"
    if not resource.is_a("batch Job", "batch CronJob"):
        return "set restartPolicy to Always or OnFailure"
    job = resource.node.at("spec", "jobTemplate", "spec") if resource.kind == "CronJob" else resource["spec"]
    return "" if job["podFailurePolicy"] or job["backoffLimitPerIndex"] else "set restartPolicy to OnFailure"

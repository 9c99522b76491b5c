"""Jobs and CronJobs: when they start, end and go away. Sources: the documentation's pages "Jobs", "CronJob" and "Automatic Cleanup for
Finished Jobs".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Complaint, Pod, Problem, Resource, rule

_HOOKS = ("helm.sh/hook", "argocd.argoproj.io/hook")


@rule(
    "missing-starting-deadline",
    "CronJob has no startingDeadlineSeconds",
    groups=("reliability", "jobs"),
    default=False,
    kinds="batch CronJob",
)
def cron_job_deadline(resource: Resource) -> Iterator[Problem]:
    """Without a deadline, the controller counts missed starts since the last one, and gives up after a hundred."""
    spec = resource["spec"]
    if spec["jobTemplate"] and not spec["startingDeadlineSeconds"]:
        message = f"CronJob {resource.name} stops for good after 100 missed starts"
        yield Problem(
            spec["schedule"] if spec["schedule"] else spec,
            message,
            help="add startingDeadlineSeconds",
            field=spec["startingDeadlineSeconds"],
        )


@rule("short-starting-deadline", "CronJob has a startingDeadlineSeconds below 10 seconds", kinds="batch CronJob",
      groups=("reliability", "jobs"))  # fmt: skip
def short_cron_deadline(resource: Resource) -> Iterator[Problem]:
    """The controller looks every ten seconds, so that a shorter deadline is over before it does."""
    node = resource["spec"]["startingDeadlineSeconds"]
    if node.integer is not None and 0 <= node.integer < 10:
        yield Problem(
            node, f"{node.integer} seconds may be over before the controller looks, which it does every 10", help="write 10 or more"
        )


@rule(
    "job-ttl-seconds-after-finished",
    "Job has no ttlSecondsAfterFinished, or the Job template of a CronJob has one",
    kinds=("batch CronJob", "batch Job"),
    groups=("jobs",),
    default=False,
)
def finished_jobs(resource: Resource) -> Iterator[Problem]:
    """A CronJob cleans up by its history limits; a Job by itself needs a time to live."""
    if resource.is_a("batch CronJob"):
        node = resource.node.at("spec", "jobTemplate", "spec", "ttlSecondsAfterFinished")
        if node:
            message = Complaint("the history limits of a CronJob clean up its Jobs", "take ttlSecondsAfterFinished away")
            yield Problem(node, message, at="key")
    elif resource["spec"]["template"] and not resource["spec"]["ttlSecondsAfterFinished"]:
        message = Complaint(f"Job {resource.name} and its pods stay for ever when it is done", "add ttlSecondsAfterFinished")
        yield Problem(resource.node.at("metadata", "name"), message, field=resource["spec"]["ttlSecondsAfterFinished"])


@rule(
    "suspended-job",
    "Job or CronJob is suspended (suspend: true)",
    severity=INFO,
    groups=("jobs",),
    default=False,
    kinds=("batch CronJob", "batch Job"),
)
def suspended_job(resource: Resource) -> Iterator[Problem]:
    """Queues such as Kueue's start suspended Jobs; nobody starts the others."""
    node = resource["spec"]["suspend"]
    if node.flag and not any(key.startswith("kueue.x-k8s.io/") for key in resource.labels):
        yield Problem(node, f"{resource.kind} {resource.name} is suspended and does not run", help="take suspend away, or the object")


@rule("standalone-job", "Job is not created by a CronJob", severity=INFO, groups=("jobs",), default=False, kinds="batch Job")
def job_outside_cron_job(resource: Resource) -> Iterator[Problem]:
    """For clusters where work is to be planned; hooks of Helm and Argo CD are not meant."""
    planned = resource["metadata"]["ownerReferences"] or any(key in resource.annotations for key in _HOOKS)
    if not planned:
        yield Problem(resource["kind"], f"Job {resource.name} runs whenever it is applied", help="make it a CronJob")


@rule(
    "missing-active-deadline",
    "Job, or Pod with restartPolicy Never or OnFailure, has no activeDeadlineSeconds",
    groups=("jobs", "reliability"),
    default=False,
)
def no_deadline(
    pod: Pod,
    *,
    maximum: Annotated[int, "seconds that are allowed at most, 0 for any number"] = 0,
) -> Iterator[Problem]:
    """Asked of Jobs and of Pods that are to end; a deadline of the Job holds for all its tries together."""
    resource = pod.resource
    if not resource.is_a("batch Job", "batch CronJob") and pod["restartPolicy"].text not in ("Never", "OnFailure"):
        return
    job = resource.node.at("spec", "jobTemplate", "spec") if resource.kind == "CronJob" else resource["spec"]
    found = [node for node in (pod["activeDeadlineSeconds"], job["activeDeadlineSeconds"]) if node]
    if not found:
        name = resource.node.at("metadata", "name")
        message = f"{resource.kind} {resource.name} may go on for ever when something hangs"
        yield Problem(name, message, help="add activeDeadlineSeconds", field=job["activeDeadlineSeconds"])
    for node in found:
        if maximum and node.integer is not None and node.integer > maximum:
            yield Problem(node, f"{node.integer} seconds are more than the {maximum} that are allowed", help=f"write {maximum} or less")


@rule("restart-policy-never", "Pod has restartPolicy: Never", severity=INFO, groups=("reliability",), default=False)
def restart_never(pod: Pod) -> Iterator[Problem]:
    """An absent policy means Always. Jobs with Never make new pods for failed ones, up to their backoffLimit."""
    node = pod["restartPolicy"]
    if node.text == "Never":
        yield Problem(node, "the kubelet never starts containers of this pod again", help="write Always or OnFailure")

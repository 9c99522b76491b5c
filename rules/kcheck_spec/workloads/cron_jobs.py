"""CronJobs: when they run, and the jobs that they make.

Source: ValidateCronJobCreate, validateCronJobSpec, validateTimeZone and ValidateJobTemplateSpec (pkg/apis/batch/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, cron, declare, fields, names, time_zones, validator
from kcheck_spec.objects.common_constraints import non_negative, object_name, one_of, required, text
from kcheck_spec.workloads.jobs import job_selector, name_of

cron_schedule = declare("invalid-cron-schedule", "CronJob has an invalid schedule")
time_zone = declare("invalid-time-zone", "CronJob has an unknown timeZone")

# A job is called after its CronJob, with a time of 11 characters at the end.
_LONGEST_NAME = 63 - 11

tables = [
    fields(
        "batch/v1 CronJobSpec",
        schedule=(required, text(cron.schedule, cron_schedule)),
        timeZone=text(time_zones.zone, time_zone, empty=False),
        startingDeadlineSeconds=non_negative,
        successfulJobsHistoryLimit=non_negative,
        failedJobsHistoryLimit=non_negative,
        concurrencyPolicy=one_of("Allow", "Forbid", "Replace"),
    ),
]


@validator("batch/v1 CronJob", rule=object_name)
def names_leave_room_for_jobs(cron_job: Node) -> Iterator[Problem]:
    """The name of a job has 63 characters at most."""
    name = name_of(cron_job)
    if len(name) > _LONGEST_NAME and not names.dns_subdomain(name):
        message = f"a CronJob's name has at most {_LONGEST_NAME} characters, this has {len(name)}: the jobs made of it add a time to it"
        yield Problem(cron_job.at("metadata", "name"), message, reason="Invalid")


@validator("batch/v1 JobTemplateSpec", rule=job_selector)
def jobs_find_their_pods_themselves(template: Node) -> Iterator[Problem]:
    """Every job selects by a label of its own, which no template can know."""
    selector, manual = template["spec"]["selector"], template["spec"]["manualSelector"]
    if selector:
        yield Problem(selector, "every job of a CronJob makes its own selector", help="take this away", reason="Invalid", at="key")
    if manual.flag:
        yield Problem(manual, "every job of a CronJob makes its own selector", help="take manualSelector away", reason="NotSupported")

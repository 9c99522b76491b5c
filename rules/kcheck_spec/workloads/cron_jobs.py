"""CronJobs: schedule, time zone and job template.

Source: ValidateCronJobCreate, validateCronJobSpec, validateTimeZone and ValidateJobTemplateSpec (pkg/apis/batch/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, cron, declare, fields, names, remove, time_zones, validator
from kcheck_spec.objects.common_constraints import non_negative, object_name, one_of, required, text
from kcheck_spec.workloads.jobs import job_selector, name_of

cron_schedule = declare("invalid-cron-schedule", "CronJob has an invalid schedule")
time_zone = declare("invalid-time-zone", "CronJob has an unknown timeZone", fixable=True)

# The name of a Job is the name of its CronJob with a suffix of 11 characters.
_MAX_NAME_LENGTH = 63 - 11

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
    """The name of a Job has 63 characters at most."""
    name = name_of(cron_job)
    if len(name) > _MAX_NAME_LENGTH and not names.dns_subdomain(name):
        message = f"CronJob name has {len(name)} characters, but the maximum is {_MAX_NAME_LENGTH}, because its Jobs append a suffix"
        yield Problem(cron_job.at("metadata", "name"), message, reason="Invalid")


@validator("batch/v1 JobTemplateSpec", rule=job_selector)
def jobs_find_their_pods_themselves(template: Node) -> Iterator[Problem]:
    """Every Job selects its Pods by a generated label, which the template cannot know."""
    selector, manual = template["spec"]["selector"], template["spec"]["manualSelector"]
    if selector:
        message = "selector is not allowed in jobTemplate, because the selector of each Job is generated"
        yield Problem(selector, message, help=remove("selector"), reason="Invalid", at="key")
    if manual.boolean:
        yield Problem(manual, "manualSelector: true is not allowed in jobTemplate", help=remove("manualSelector"), reason="NotSupported")

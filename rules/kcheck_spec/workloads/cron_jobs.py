"""CronJobs: schedule, time zone and job template.

Source: ValidateCronJobCreate, validateCronJobSpec, validateTimeZone and ValidateJobTemplateSpec (pkg/apis/batch/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, TypedValue, cron, declare, fields, names, remove, time_zones, validator
from kcheck_spec.objects.common_constraints import deprecated_field, non_negative, object_name, one_of, required, text
from kcheck_spec.workloads.jobs import job_selector, name_of

cron_schedule = declare("invalid-cron-schedule", "CronJob has an invalid schedule")
time_zone = declare("invalid-time-zone", "CronJob has an unknown timeZone", fixable=True)

# The name of a Job is the name of its CronJob with a suffix of 11 characters.
_MAX_NAME_LENGTH = 63 - 11
# The first version that rejects TZ= and CRON_TZ= in schedules.
_WITHOUT_ZONE = 29

tables = [
    fields(
        "batch/v1 CronJobSpec",
        schedule=required,
        timeZone=text(time_zones.zone, time_zone, empty=False),
        startingDeadlineSeconds=non_negative,
        successfulJobsHistoryLimit=non_negative,
        failedJobsHistoryLimit=non_negative,
        concurrencyPolicy=one_of("Allow", "Forbid", "Replace"),
    ),
]


@validator("batch/v1 CronJobSpec", rule=cron_schedule, fields="schedule")
def schedules_are_readable(value: TypedValue) -> Iterator[Problem]:
    """Five fields or a macro. Before 1.29 a time zone could precede them, unless timeZone is set."""
    spec, zoned = value.node, value.resource.is_before(_WITHOUT_ZONE)
    schedule = spec["schedule"]
    if not schedule.text:
        return
    if wrong := cron.schedule(schedule.text, zoned):
        yield Problem(schedule, wrong, reason="Invalid")
    if zoned and "TZ" in schedule.text and spec["timeZone"]:
        message = "schedule contains a time zone, which is not allowed with timeZone"
        yield Problem(schedule, message, help="remove the time zone from schedule", reason="Invalid")


@validator("batch/v1 CronJobSpec", rule=deprecated_field, fields="schedule")
def schedules_have_no_zone(value: TypedValue) -> Iterator[Problem]:
    """Before 1.29 a time zone in the schedule was accepted with a warning."""
    schedule = value.node["schedule"]
    if "TZ" in schedule.text and value.resource.is_before(_WITHOUT_ZONE):
        message = f'the time zone in schedule "{schedule.text}" is not supported, and is rejected since Kubernetes 1.29'
        yield Problem(schedule, message, help="remove it and set spec.timeZone")


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

"""The configuration file of kube-scheduler as a whole: profiles, numbers, which of several schedulers leads.

Source: ValidateKubeSchedulerConfiguration (pkg/scheduler/apis/config/validation), the defaults of pkg/scheduler/apis/config/v1,
component-base/config/validation, and NewLeaderElector (client-go, tools/leaderelection). It is validated when the program starts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcheck.api import Complaint, Node, Problem, Resource, constraint, declare, durations, fields, validator
from kcheck_spec.objects.common_constraints import in_range, non_negative, number_range, positive, require, unique
from kcheck_spec.objects.custom_resources import deprecated_version
from kcheck_spec.objects.shape import wrong_type

scheduler_profile = declare("invalid-scheduler-profile", "KubeSchedulerConfiguration has invalid profiles (schedulerName, queueSort)")
leader_election = declare("invalid-leader-election", "Invalid leaderElection of a component (leaseDuration, renewDeadline, retryPeriod)")

CONFIGURATIONS = tuple(f"kubescheduler/{version} KubeSchedulerConfiguration" for version in ("v1", "v1beta2", "v1beta3"))
PROFILES = tuple(f"kubescheduler/{version} KubeSchedulerProfile" for version in ("v1", "v1beta3"))

percentage = in_range(0, 100)

_SECOND = 10**9
_DEFAULTS = {"leaseDuration": 15 * _SECOND, "renewDeadline": 10 * _SECOND, "retryPeriod": 2 * _SECOND}
# How much longer than the period a try may be put off.
_JITTER = 1.2

# The version 1.N in which each was deprecated.
_DEPRECATED = {"v1beta2": 25, "v1beta3": 26}


@constraint(wrong_type)
def duration(node: Node) -> Problem | None:
    """A span of time as Go writes it."""
    return _unreadable(node)


@constraint(wrong_type, of_absent=True)
def plain_duration(node: Node) -> Problem | None:
    """The same in a field that is no pointer: to the decoder null is a text of no length there."""
    if node.exists and node.value is None:
        return Problem(node, "null is no duration", help="write one, such as 15s, or take the field away", reason="TypeInvalid", at="key")
    return _unreadable(node)


def _unreadable(node: Node) -> Problem | None:
    try:
        durations.parse(node.text)
    except durations.BadDuration as error:
        return Problem(node, error.message, reason="TypeInvalid") if node.value.__class__ is str else None
    return None


def nanoseconds(node: Node, default: int = 0) -> int:
    """The length of a span of time; the default where there is none, it is 0 or nobody can read it."""
    try:
        return durations.parse(node.text) or default
    except durations.BadDuration:
        return default


tables = [
    fields(
        CONFIGURATIONS,
        parallelism=positive,
        percentageOfNodesToScore=percentage,
        podInitialBackoffSeconds=positive,
    ),
    fields(PROFILES, percentageOfNodesToScore=percentage),
    fields("componentbase/v1alpha1 ClientConnectionConfiguration", burst=non_negative),
    fields("componentbase/v1alpha1 LeaderElectionConfiguration", **dict.fromkeys(_DEFAULTS, plain_duration)),
]


@validator(CONFIGURATIONS, rule=deprecated_version)
def version_is_the_last(config: Resource) -> Iterator[Problem]:
    """The versions before v1 were deprecated before they were removed."""
    group, _, version = config.api_version.rpartition("/")
    since = _DEPRECATED.get(version, config.minor + 1)
    if since <= config.minor:
        yield Problem(
            config["apiVersion"], f"{config.api_version} {config.kind} is deprecated since Kubernetes 1.{since}", help=f"use {group}/v1"
        )


@validator(CONFIGURATIONS, rule=number_range)
def backoff_grows(config: Node) -> Iterator[Problem]:
    """The longest wait of a pod that does not fit is no shorter than its first."""
    first, most = config["podInitialBackoffSeconds"], config["podMaxBackoffSeconds"]
    least, limit = first.integer if first else 1, most.integer if most else 10
    if least is not None and limit is not None and limit < least:
        message = f"pods wait {least} seconds at first and {limit} at most"
        yield Problem(most if most else first, message, help=f"write podMaxBackoffSeconds: {max(least, 10)}", reason="Invalid", field=most)


@validator(CONFIGURATIONS, rule=scheduler_profile)
def profiles_have_names(config: Node) -> Iterator[Problem]:
    """Pods choose a profile by its name. A single profile is default-scheduler, unless it says otherwise."""
    profiles = config["profiles"]
    for profile in profiles:
        name = profile["schedulerName"]
        if not name.text and (len(profiles) > 1 or name):
            yield require(name, Complaint("a profile among several needs a name of its own", "add schedulerName"))
    named = [profile for profile in profiles if profile["schedulerName"].text]
    yield from unique(
        named,
        lambda profile: profile["schedulerName"].text,
        lambda profile: Complaint(f"another profile is called {profile['schedulerName'].text} already", "give this one a name of its own"),
        "schedulerName",
    )


@validator(CONFIGURATIONS, rule=scheduler_profile)
def profiles_sort_alike(config: Node) -> Iterator[Problem]:
    """There is one queue of pods for all profiles."""
    profiles = list(config["profiles"])
    for profile in profiles[1:]:
        sort = profile.at("plugins", "queueSort")
        if _sorting(profile) != _sorting(profiles[0]):
            shown = sort if sort else profile["plugins"]
            yield Problem(
                shown, "all profiles share one queue", help="write the same queueSort in each", reason="Invalid", at="key", field=sort
            )


def _sorting(profile: Node) -> list[Any]:
    """What a profile says of the queue: plugins, and the arguments of the one that sorts."""
    point = profile.at("plugins", "queueSort")
    chosen = [each["name"].text for each in point["enabled"]]
    arguments = [each["args"].plain() for each in profile["pluginConfig"] if each["name"].text in chosen[:1]]
    return [chosen, [each["name"].text for each in point["disabled"]], arguments]


@validator("componentbase/v1alpha1 LeaderElectionConfiguration", rule=leader_election)
def leaders_have_time(election: Node) -> Iterator[Problem]:
    """A leader renews its lease before that ends, and can try more than once. Without an election nobody looks."""
    if election["leaderElect"].flag is False:
        return
    lease, renew, retry = (nanoseconds(election[key], default) for key, default in _DEFAULTS.items())
    for key, value in zip(_DEFAULTS, (lease, renew, retry), strict=True):
        if value < 0:
            yield Problem(
                election[key], f"{key} {election[key].text} has passed already", help="write a positive duration", reason="Invalid"
            )
    if lease <= renew:
        message = Complaint(
            f"leaseDuration must be longer than renewDeadline ({_shown(renew)})", f"write {_shown(max(renew, 0) * 3 // 2 or _SECOND)}"
        )
        yield _of("leaseDuration", "renewDeadline", election, message)
    elif renew <= _JITTER * retry:
        message = Complaint("renewDeadline leaves no second try", f"write more than 1.2 times retryPeriod ({_shown(retry)})")
        yield _of("renewDeadline", "retryPeriod", election, message)
    lock = election["resourceLock"]
    if lock.text not in ("", "leases"):
        yield Problem(lock, f"{lock.text} can no longer be a lock", help="write leases", reason="Invalid")


def _of(field: str, other: str, election: Node, message: str) -> Problem:
    """A problem of two fields, shown where one of them is written."""
    return Problem(election[field] if election[field] else election[other], message, reason="Invalid", field=election[field])


def _shown(value: int) -> str:
    return f"{value / _SECOND:g}s"

"""The configuration file of kube-scheduler: version, profiles, numbers and leader election.

Source: ValidateKubeSchedulerConfiguration (pkg/scheduler/apis/config/validation), the defaults of pkg/scheduler/apis/config/v1,
component-base/config/validation, and NewLeaderElector (client-go, tools/leaderelection). kube-scheduler validates the file at startup.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcheck.api import Complaint, Node, Problem, Resource, Suggestion, constraint, declare, durations, fields, use, validator
from kcheck_spec.objects.common_constraints import in_range, non_negative, number_range, positive, require, unique
from kcheck_spec.objects.engine import deprecated_version, wrong_type

scheduler_profile = declare("invalid-scheduler-profile", "KubeSchedulerConfiguration has invalid profiles (schedulerName, queueSort)")
leader_election = declare(
    "invalid-leader-election", "Invalid leaderElection of a component (leaseDuration, renewDeadline, retryPeriod)", fixable=True
)

CONFIGURATIONS = tuple(f"kubescheduler/{version} KubeSchedulerConfiguration" for version in ("v1", "v1beta2", "v1beta3"))
PROFILES = tuple(f"kubescheduler/{version} KubeSchedulerProfile" for version in ("v1", "v1beta3"))

percentage = in_range(0, 100)

_SECOND = 10**9
_DEFAULTS = {"leaseDuration": 15 * _SECOND, "renewDeadline": 10 * _SECOND, "retryPeriod": 2 * _SECOND}
# The factor by which leader election may delay a retry (leaderelection.JitterFactor).
_JITTER = 1.2

# The version 1.N in which each was deprecated.
_DEPRECATED = {"v1beta2": 25, "v1beta3": 26}


@constraint(wrong_type)
def duration(node: Node) -> Problem | None:
    """A duration in the syntax of Go, such as 15s."""
    return _unparsable(node)


@constraint(wrong_type, of_absent=True)
def plain_duration(node: Node) -> Problem | None:
    """A duration in a field that is not a pointer, where the decoder reads null as an empty string and fails."""
    if node.exists and node.value is None:
        message = f"{node.name} is null, which is not a valid duration"
        return Problem(node, message, help="set it to a duration such as 15s, or remove it", reason="TypeInvalid", at="key")
    return _unparsable(node)


def _unparsable(node: Node) -> Problem | None:
    try:
        durations.parse(node.text)
    except durations.BadDuration as error:
        return Problem(node, error.message, reason="TypeInvalid") if node.value.__class__ is str else None
    return None


def nanoseconds(node: Node, default: int = 0) -> int:
    """The nanoseconds of a duration; the default where it is missing, 0 or invalid."""
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
    """Yield versions before v1 that are deprecated."""
    group, _, version = config.api_version.rpartition("/")
    since = _DEPRECATED.get(version, config.minor + 1)
    if since <= config.minor:
        message = f"{config.api_version} {config.kind} is deprecated since Kubernetes 1.{since}"
        yield Problem(config["apiVersion"], message, help=use(f"{group}/v1"))


@validator(CONFIGURATIONS, rule=number_range)
def backoff_grows(config: Node) -> Iterator[Problem]:
    """Yield a podMaxBackoffSeconds below podInitialBackoffSeconds. The defaults are 10 and 1."""
    first, most = config["podInitialBackoffSeconds"], config["podMaxBackoffSeconds"]
    least, limit = first.integer if first else 1, most.integer if most else 10
    if least is not None and limit is not None and limit < least:
        message = f"podMaxBackoffSeconds ({limit}) is less than podInitialBackoffSeconds ({least})"
        yield Problem(most if most else first, message, help=f"set podMaxBackoffSeconds: {max(least, 10)}", reason="Invalid", field=most)


@validator(CONFIGURATIONS, rule=scheduler_profile)
def profiles_have_names(config: Node) -> Iterator[Problem]:
    """Yield profiles with a missing or duplicate schedulerName. A single profile defaults to default-scheduler."""
    profiles = config["profiles"]
    for profile in profiles:
        name = profile["schedulerName"]
        if not name.text and (len(profiles) > 1 or name):
            message = "schedulerName is required because there are several profiles" if len(profiles) > 1 else "schedulerName is empty"
            yield require(name, Complaint(message, "set it to a unique name" if len(profiles) > 1 else "set it to a name, or remove it"))
    named = [profile for profile in profiles if profile["schedulerName"].text]
    yield from unique(
        named,
        lambda profile: profile["schedulerName"].text,
        lambda profile: Complaint(f'duplicate schedulerName "{profile["schedulerName"].text}"', "rename one of them"),
        "schedulerName",
    )


@validator(CONFIGURATIONS, rule=scheduler_profile)
def profiles_sort_alike(config: Node) -> Iterator[Problem]:
    """Yield profiles whose queueSort differs from that of the first. All profiles share one queue."""
    profiles = list(config["profiles"])
    for profile in profiles[1:]:
        sort = profile.at("plugins", "queueSort")
        if _sorting(profile) != _sorting(profiles[0]):
            shown = sort if sort else profile["plugins"]
            message = "plugins.queueSort differs from that of the first profile, but all profiles share one queue"
            yield Problem(shown, message, help="use the same queueSort in each profile", reason="Invalid", at="key", field=sort)


def _sorting(profile: Node) -> list[Any]:
    """What determines the order of the queue: the queueSort plugins of a profile, and the arguments of the enabled one."""
    point = profile.at("plugins", "queueSort")
    chosen = [each["name"].text for each in point["enabled"]]
    arguments = [each["args"].plain() for each in profile["pluginConfig"] if each["name"].text in chosen[:1]]
    return [chosen, [each["name"].text for each in point["disabled"]], arguments]


@validator("componentbase/v1alpha1 LeaderElectionConfiguration", rule=leader_election)
def leaders_have_time(election: Node) -> Iterator[Problem]:
    """Yield durations that leave a leader no time to renew its lease, and locks other than leases. Skipped for leaderElect: false."""
    if election["leaderElect"].boolean is False:
        return
    lease, renew, retry = (nanoseconds(election[key], default) for key, default in _DEFAULTS.items())
    for key, value in zip(_DEFAULTS, (lease, renew, retry), strict=True):
        if value < 0:
            message = f"{key} {election[key].text} is negative"
            yield Problem(election[key], message, help="set it to a positive duration", reason="Invalid")
    if lease <= renew:
        message = f"leaseDuration {_shown(lease)} is not longer than renewDeadline {_shown(renew)}"
        help = f"set leaseDuration: {_shown(max(renew, 0) * 3 // 2 or _SECOND)}"
        yield _of("leaseDuration", "renewDeadline", election, Complaint(message, help))
    elif renew <= _JITTER * retry:
        message = f"renewDeadline {_shown(renew)} is not more than 1.2 times retryPeriod {_shown(retry)}, so a renewal cannot be retried"
        yield _of("renewDeadline", "retryPeriod", election, Complaint(message, "increase renewDeadline or reduce retryPeriod"))
    lock = election["resourceLock"]
    if lock.text not in ("", "leases"):
        yield Problem(
            lock, f'resourceLock "{lock.text}" is not supported', help=Suggestion("set it to leases", "leases", safe=True), reason="Invalid"
        )


def _of(field: str, other: str, election: Node, message: str) -> Problem:
    """A problem of two fields, at the first of them that exists."""
    return Problem(election[field] if election[field] else election[other], message, reason="Invalid", field=election[field])


def _shown(value: int) -> str:
    return f"{value / _SECOND:g}s"

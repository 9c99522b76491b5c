"""What pages cannot show of kube-scheduler's configuration: versions, defaults, and combinations of plug-ins."""

from __future__ import annotations

import pytest

from kcheck.testing import check_text


def reported(rest: str, version: str = "1.36") -> list[tuple[str, str, str]]:
    text = f"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n{rest}"
    return [(f.rule, f.place.field, f.reason) for f in check_text(text, kubernetes=version)]


def plugins(rest: str, version: str = "1.36") -> list[tuple[str, str, str]]:
    return reported(f"profiles: [{{plugins: {{{rest}}}}}]\n", version)


@pytest.mark.parametrize(
    ("rest", "field"),
    [
        ("parallelism: 0", "parallelism"),
        ("percentageOfNodesToScore: 101", "percentageOfNodesToScore"),
        ("profiles: [{percentageOfNodesToScore: -1}]", "profiles[0].percentageOfNodesToScore"),
        ("podInitialBackoffSeconds: 0", "podInitialBackoffSeconds"),
        ("podInitialBackoffSeconds: 11", "podMaxBackoffSeconds"),
        ("podMaxBackoffSeconds: 0", "podMaxBackoffSeconds"),
        ("clientConnection: {burst: -1}", "clientConnection.burst"),
    ],
)
def test_numbers_have_their_ranges(rest: str, field: str) -> None:
    assert reported(f"{rest}\n") == [("number-out-of-range", field, "Invalid")]


def test_defaults_hold_where_nothing_is_written() -> None:
    assert reported("profiles: []\n") == []
    assert reported("profiles: [{}]\n") == []
    assert reported("podInitialBackoffSeconds: 10\nleaderElection: {retryPeriod: 0s}\n") == []
    assert reported("leaderElection: {leaderElect: false, leaseDuration: 1s, resourceLock: endpoints}\n") == []


@pytest.mark.parametrize(
    ("value", "rule"),
    [("5", "wrong-type"), ("5x", "wrong-type"), ("''", "wrong-type"), ("null", "wrong-type"), ("-5s", "invalid-leader-election")],
)
def test_durations_are_those_of_go(value: str, rule: str) -> None:
    assert reported(f"leaderElection: {{retryPeriod: {value}}}\n") == [
        (rule, "leaderElection.retryPeriod", "TypeInvalid" if rule == "wrong-type" else "Invalid")
    ]


def test_plugins_go_with_versions() -> None:
    for version, since in (("1.28", "SelectorSpread"), ("1.31", "EBSLimits")):
        assert plugins(f"filter: {{enabled: [{{name: {since}}}]}}", version) == []
        assert plugins(f"filter: {{enabled: [{{name: {since}}}]}}") == [
            ("invalid-scheduler-plugin", "profiles[0].plugins.filter.enabled[0]", "Invalid")
        ]
    # To turn off what is not there does no harm.
    assert plugins("filter: {disabled: [{name: EBSLimits}]}") == []


@pytest.mark.parametrize(
    "rest",
    [
        "multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: DefaultBinder}]}",
        "multiPoint: {disabled: [{name: '*'}], enabled: [{name: Mine}]}",
        "multiPoint: {disabled: [{name: '*'}]}, queueSort: {enabled: [{name: Mine}]}, bind: {enabled: [{name: Mine}]}",
        "queueSort: {disabled: [{name: '*'}], enabled: [{name: Mine}]}",
        "multiPoint: {disabled: [{name: PrioritySort}]}, queueSort: {enabled: [{name: Mine}]}",
        "queueSort: {enabled: [{name: PrioritySort}]}",
        "bind: {enabled: [{name: Mine}]}",
    ],
)
def test_something_sorts_and_something_binds(rest: str) -> None:
    assert plugins(rest) == []


@pytest.mark.parametrize(
    ("rest", "points"),
    [
        ("multiPoint: {disabled: [{name: '*'}]}", ["multiPoint.disabled", "multiPoint.disabled"]),
        ("multiPoint: {disabled: [{name: '*'}], enabled: [{name: NodeName}]}", ["multiPoint.disabled", "multiPoint.disabled"]),
        ("queueSort: {disabled: [{name: PrioritySort}]}", ["queueSort.disabled"]),
        ("multiPoint: {enabled: [{name: Mine}]}, bind: {disabled: [{name: '*'}]}", ["bind.disabled"]),
        ("queueSort: {enabled: [{name: Mine}]}", ["queueSort.enabled"]),
        ("queueSort: {enabled: [{name: Mine}, {name: Yours}], disabled: [{name: '*'}]}", ["queueSort.enabled"]),
    ],
)
def test_nothing_sorts_or_binds_or_too_much(rest: str, points: list[str]) -> None:
    assert plugins(rest) == [("invalid-scheduler-plugin", f"profiles[0].plugins.{point}", "Invalid") for point in points]


def test_spreading_constraints_of_all_pods_have_no_selector_and_need_none() -> None:
    constraint = "maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway"
    args = "profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List, defaultConstraints: [%s]}}]}]\n"
    where = "profiles[0].pluginConfig[0].args.defaultConstraints"
    assert reported(args % f"{{{constraint}}}") == []
    assert reported(args % f"{{{constraint}}}, {{{constraint}}}") == [("invalid-scheduler-plugin-args", f"{where}[1]", "Duplicate")]
    assert reported(args % f"{{{constraint}, labelSelector: {{}}}}") == [
        ("invalid-scheduler-plugin-args", f"{where}[0].labelSelector", "Forbidden")
    ]
    assert reported(args % "{topologyKey: 'a b', whenUnsatisfiable: Never}") == [
        ("invalid-topology-spread", f"{where}[0].maxSkew", "Invalid"),
        ("invalid-scheduler-plugin-args", f"{where}[0].topologyKey", "Invalid"),
        ("invalid-topology-spread", f"{where}[0].whenUnsatisfiable", "NotSupported"),
    ]


def test_added_affinity_is_read_when_the_scheduler_starts() -> None:
    """In a pod the API server takes the first and warns of the second."""
    args = "profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: {%sDuringSchedulingIgnoredDuringExecution: %s}}}]}]\n"
    where = "profiles[0].pluginConfig[0].args.addedAffinity"
    terms = "{nodeSelectorTerms: [{matchExpressions: [{key: cores, operator: Gt, values: [%s]}]}]}"
    field = "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values[0]"
    assert reported(args % ("required", terms % "'8'")) == []
    assert reported(args % ("required", terms % "many")) == [("invalid-scheduler-plugin-args", f"{where}.{field}", "Invalid")]
    preference = "[{weight: 1, preference: {matchExpressions: [{key: pool, operator: In, values: [a/b]}]}}]"
    field = "preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values[0]"
    assert ("invalid-scheduler-plugin-args", f"{where}.{field}", "Invalid") in reported(args % ("preferred", preference))


def test_a_curve_of_volumes_needs_a_feature() -> None:
    shape = "[{utilization: 0, score: 0}, {utilization: 100, score: 11}]"
    args = f"profiles: [{{pluginConfig: [{{name: VolumeBinding, args: {{shape: {shape}}}}}]}}]\n"
    where = "profiles[0].pluginConfig[0].args.shape"
    assert reported(args) == [("ineffective-setting", where, ""), ("invalid-scheduler-plugin-args", f"{where}[1].score", "Invalid")]

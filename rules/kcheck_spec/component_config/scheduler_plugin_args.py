"""Arguments of the plug-ins of kube-scheduler. Those of plug-ins that are not its own are theirs.

Source: PluginConfig.decodeNestedObjects (k8s.io/kube-scheduler/config/v1) and validation_pluginargs.go (pkg/scheduler/apis/config/
validation). What NodeAffinity adds is the same node affinity as in pods, and is judged by the same checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kcheck.api import Complaint, Node, Problem, Resource, constraint, declare, fields, labels, names, pattern, validator
from kcheck_spec.component_config.scheduler import CONFIGURATIONS, duration, nanoseconds
from kcheck_spec.component_config.scheduler_plugins import scheduler_plugin
from kcheck_spec.objects.common_constraints import dubious_setting, in_range, non_negative, not_supported, one_of, require, unique
from kcheck_spec.workloads.topology_spread import action, domain, skew

scheduler_arguments = declare("invalid-scheduler-plugin-args", "KubeSchedulerConfiguration has invalid plugin arguments (pluginConfig)")

# The plug-ins that take arguments.
_TAKING = frozenset(
    {
        "DefaultPreemption", "DynamicResources", "InterPodAffinity", "NodeAffinity", "NodeResourcesBalancedAllocation",
        "NodeResourcesFit", "PodTopologySpread", "VolumeBinding",
    }
)  # fmt: skip
_RATIO = "RequestedToCapacityRatio"
_STRATEGIES = ("LeastAllocated", "MostAllocated", _RATIO)
_SECOND = 10**9
_NUMBER = pattern(r"[0-9]{1,18}")


@constraint(scheduler_arguments, of_absent=True)
def _strategy(node: Node) -> Problem | None:
    """How nodes are scored. Where there is a strategy it has a type."""
    if node.text in _STRATEGIES or (node and node.value.__class__ is not str):
        return None
    return not_supported(node, _STRATEGIES)


tables = [
    fields(
        "kubescheduler/v1 DefaultPreemptionArgs",
        minCandidateNodesPercentage=in_range(0, 100, scheduler_arguments),
        minCandidateNodesAbsolute=in_range(0, None, scheduler_arguments),
    ),
    fields("kubescheduler/v1 DynamicResourcesArgs", filterTimeout=duration, bindingTimeout=duration),
    fields("kubescheduler/v1 InterPodAffinityArgs", hardPodAffinityWeight=in_range(0, 100, scheduler_arguments)),
    fields("kubescheduler/v1 PodTopologySpreadArgs", defaultingType=one_of("System", "List", of=scheduler_arguments)),
    fields("kubescheduler/v1 ScoringStrategy", type=_strategy),
    fields("kubescheduler/v1 TopologySpreadConstraint", maxSkew=skew, topologyKey=domain, whenUnsatisfiable=action),
    fields(
        "kubescheduler/v1 UtilizationShapePoint",
        utilization=in_range(0, 100, scheduler_arguments),
        score=in_range(0, 10, scheduler_arguments),
    ),
    fields("kubescheduler/v1 VolumeBindingArgs", bindTimeoutSeconds=non_negative),
]


@validator(CONFIGURATIONS, rule=scheduler_plugin)
def arguments_are_given_once(config: Resource) -> Iterator[Problem]:
    """A profile configures a plug-in once."""
    for profile in config["profiles"]:
        yield from unique(
            profile["pluginConfig"],
            lambda each: each["name"].text,
            lambda each: Complaint(f"{each['name'].text} is configured above already", "put the arguments of a plug-in together"),
        )


@validator(CONFIGURATIONS, rule=scheduler_arguments)
def arguments_are_those_of_the_plugin(config: Resource) -> Iterator[Problem]:
    """Arguments may say what they are; then it must be true."""
    for profile in config["profiles"]:
        for each in profile["pluginConfig"]:
            name, kind, version = each["name"].text, each["args"]["kind"], each["args"]["apiVersion"]
            if name not in _TAKING:
                continue
            if kind.text not in ("", f"{name}Args"):
                yield Problem(kind, f"{kind.text} are not the arguments of {name}", help=f"write {name}Args", reason="Invalid")
            if version.text not in ("", config.api_version):
                yield Problem(
                    version,
                    f"these are arguments of {version.text}",
                    help=f"write {config.api_version}, as the file has it",
                    reason="Invalid",
                )


@validator("kubescheduler/v1 DefaultPreemptionArgs", rule=scheduler_arguments)
def some_nodes_are_candidates(args: Node) -> Iterator[Problem]:
    """Both limits at 0 leave no node."""
    share, number = args["minCandidateNodesPercentage"], args["minCandidateNodesAbsolute"]
    if share.integer == 0 and number.integer == 0:
        for each in (share, number):
            yield Problem(each, "no node would be a candidate", help="write more than 0 here or there", reason="Invalid")


@validator("kubescheduler/v1 DynamicResourcesArgs", rule=scheduler_arguments)
def timeouts_are_spans(args: Node) -> Iterator[Problem]:
    """No limit is 0 for the filter; binding takes some time."""
    filtering, binding = args["filterTimeout"], args["bindingTimeout"]
    if nanoseconds(filtering) < 0:
        yield Problem(filtering, f"{filtering.text} has passed already", help="write a duration, or 0s for no limit", reason="Invalid")
    if binding and nanoseconds(binding, _SECOND if not binding.text else 0) < _SECOND:
        yield Problem(binding, f"{binding.text} is too short", help="write 1s or more", reason="Invalid")


@validator("kubescheduler/v1 NodeAffinityArgs", rule=scheduler_arguments)
def added_affinity_can_be_met(args: Node) -> Iterator[Problem]:
    """What the API server only warns of in a pod: kube-scheduler reads all values when it starts."""
    affinity = args["addedAffinity"]
    required = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    preferred = [each["preference"] for each in affinity["preferredDuringSchedulingIgnoredDuringExecution"]]
    for requirement in (each for term in (*required, *preferred) for each in term["matchExpressions"]):
        for value in requirement["values"]:
            if requirement["operator"].text in ("Gt", "Lt") and not _NUMBER.fullmatch(value.text):
                yield Problem(value, f"{value.text or 'nothing'} is compared as a number", help="write a whole one", reason="Invalid")
    for requirement in (each for term in preferred for each in term["matchExpressions"]):
        for value in requirement["values"]:
            if requirement["operator"].text in ("In", "NotIn") and (wrong := labels.value(value.text)):
                yield Problem(value, wrong, reason="Invalid")


@validator("kubescheduler/v1 NodeResourcesBalancedAllocationArgs", rule=scheduler_arguments)
def balanced_resources_weigh_the_same(args: Node) -> Iterator[Problem]:
    """Each resource once, and none before the others."""
    yield from _differ(args["resources"])
    for each in args["resources"]:
        if each["weight"].integer not in (None, 0, 1):
            yield Problem(each["weight"], "what is to be balanced weighs the same", help="write 1", reason="Invalid")


def _differ(resources: Node) -> Iterator[Problem]:
    yield from unique(
        resources, lambda r: r["name"].text, lambda r: Complaint(f"{r['name'].text} is listed already", "take one away"), "name"
    )


@validator("kubescheduler/v1 NodeResourcesFitArgs", rule=scheduler_arguments)
def ignored_resources_have_names(args: Node) -> Iterator[Problem]:
    """Names of resources, and the domains of others."""
    for each in args["ignoredResources"]:
        if wrong := names.qualified_name(each.text):
            yield Problem(each, wrong, reason="Invalid")
    for each in args["ignoredResourceGroups"]:
        if "/" in each.text:
            yield Problem(each, f"{each.text} is a resource, not a group", help=f"write {each.text.partition('/')[0]}", reason="Invalid")
        elif wrong := names.qualified_name(each.text):
            yield Problem(each, wrong, reason="Invalid")


@validator("kubescheduler/v1 ScoringStrategy", rule=scheduler_arguments)
def strategies_are_whole(strategy: Node) -> Iterator[Problem]:
    """Weights of resources, and the curve that one of the strategies needs."""
    for each in strategy["resources"]:
        weight = each["weight"].integer
        if weight is not None and not 0 <= weight <= 100:
            yield Problem(each["weight"], f"{weight} is out of range", help="write a weight from 1 to 100", reason="Invalid")
    ratio = strategy["requestedToCapacityRatio"]
    if strategy["type"].text == _RATIO:
        if not ratio:
            yield require(ratio, Complaint(f"{_RATIO} scores along a curve", "add requestedToCapacityRatio with its shape"))
        else:
            yield from _curve(ratio["shape"])
    elif ratio and strategy["type"].text in _STRATEGIES:
        message = f"only the type {_RATIO} has a curve"
        yield Problem(ratio, message, help="write that type, or take the curve away", reason="Forbidden", at="key")


def _curve(shape: Node) -> Iterator[Problem]:
    """Points from left to right."""
    if not len(shape):
        yield require(shape, Complaint("a curve has points", "add utilization and score"))
    before: int | None = None
    for point in shape:
        at = point["utilization"].integer or 0
        if before is not None and at <= before:
            yield Problem(
                point["utilization"], f"{at} comes after {before}", help="write the points in the order of utilization", reason="Invalid"
            )
            return
        before = at


@validator("kubescheduler/v1 PodTopologySpreadArgs", rule=scheduler_arguments)
def default_constraints_hold_for_all_pods(args: Node) -> Iterator[Problem]:
    """Constraints of one's own need defaultingType List, and leave the selector to the pods."""
    constraints, kind = args["defaultConstraints"], args["defaultingType"]
    if len(constraints) and kind.text in ("", "System"):
        message = "System brings its own constraints"
        yield Problem(
            kind if kind else constraints,
            message,
            help="write defaultingType: List, or take defaultConstraints away",
            reason="Invalid",
            at="value" if kind else "key",
            field=kind,
        )
    for each in constraints:
        key, selector = each["topologyKey"], each["labelSelector"]
        if key.text and (wrong := labels.key(key.text)):
            yield Problem(key, wrong, reason="Invalid")
        if selector:
            yield Problem(selector, "every pod brings its own selector here", help="take it away", reason="Forbidden", at="key")
    yield from _once(constraints)


def _once(constraints: Iterable[Node]) -> Iterator[Problem]:
    yield from unique(
        constraints,
        lambda each: (each["topologyKey"].text, each["whenUnsatisfiable"].text),
        lambda each: Complaint(
            f"another constraint says {each['whenUnsatisfiable'].text} for {each['topologyKey'].text}", "make one of the two"
        ),
    )


@validator("kubescheduler/v1 VolumeBindingArgs", rule=scheduler_arguments)
def volume_curves_go_up(args: Node) -> Iterator[Problem]:
    """The same curve as that of NodeResourcesFit."""
    if len(args["shape"]):
        yield from _curve(args["shape"])


@validator("kubescheduler/v1 VolumeBindingArgs", rule=dubious_setting)
def volume_curves_need_a_gate(args: Node) -> Iterator[Problem]:
    """Without the feature kube-scheduler does not start with it."""
    if args["shape"]:
        message = "kube-scheduler refuses shape without the feature gate StorageCapacityScoring"
        yield Problem(args["shape"], message, help="turn that on, or take it away", at="key")

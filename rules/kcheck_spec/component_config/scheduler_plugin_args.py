"""Arguments of the plugins of kube-scheduler. Arguments of out-of-tree plugins are not checked.

Source: PluginConfig.decodeNestedObjects (k8s.io/kube-scheduler/config/v1) and validation_pluginargs.go (pkg/scheduler/apis/config/
validation). NodeAffinityArgs.addedAffinity is the node affinity of Pods and is checked by the same rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kcheck.api import (
    Complaint,
    Node,
    Problem,
    Resource,
    Suggestion,
    constraint,
    declare,
    fields,
    labels,
    names,
    pattern,
    remove,
    use,
    validator,
)
from kcheck_spec.component_config.scheduler import CONFIGURATIONS, duration, nanoseconds
from kcheck_spec.component_config.scheduler_plugins import scheduler_plugin
from kcheck_spec.objects.common_constraints import dubious_setting, in_range, non_negative, not_supported, one_of, require, unique
from kcheck_spec.workloads.topology_spread import action, domain, skew

scheduler_arguments = declare(
    "invalid-scheduler-plugin-args", "KubeSchedulerConfiguration has invalid plugin arguments (pluginConfig)", fixable=True
)

# The plugins that take arguments.
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
    """The type of a scoring strategy, which is required where there is a strategy."""
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
    """Yield plugins with more than one entry in the pluginConfig of a profile."""
    for profile in config["profiles"]:
        yield from unique(
            profile["pluginConfig"],
            lambda each: each["name"].text,
            lambda each: Complaint(f'duplicate pluginConfig for plugin "{each["name"].text}"', "merge the args of both entries"),
        )


@validator(CONFIGURATIONS, rule=scheduler_arguments)
def arguments_are_those_of_the_plugin(config: Resource) -> Iterator[Problem]:
    """Yield arguments whose optional kind or apiVersion does not match the plugin or the file."""
    for profile in config["profiles"]:
        for each in profile["pluginConfig"]:
            name, kind, version = each["name"].text, each["args"]["kind"], each["args"]["apiVersion"]
            if name not in _TAKING:
                continue
            if kind.text not in ("", f"{name}Args"):
                message = f'args.kind "{kind.text}" does not match plugin "{name}"'
                yield Problem(kind, message, help=Suggestion(f"set it to {name}Args", f"{name}Args", safe=True), reason="Invalid")
            if version.text not in ("", config.api_version):
                message = f'args.apiVersion "{version.text}" differs from the apiVersion of this file'
                yield Problem(
                    version, message, help=Suggestion(f"set it to {config.api_version}", config.api_version, safe=True), reason="Invalid"
                )


@validator("kubescheduler/v1 DefaultPreemptionArgs", rule=scheduler_arguments)
def some_nodes_are_candidates(args: Node) -> Iterator[Problem]:
    """Yield a DefaultPreemption whose limits are both 0, so that no node is a candidate."""
    share, number = args["minCandidateNodesPercentage"], args["minCandidateNodesAbsolute"]
    if share.integer == 0 and number.integer == 0:
        for each in (share, number):
            message = "minCandidateNodesPercentage and minCandidateNodesAbsolute are both 0, so preemption has no candidate nodes"
            yield Problem(each, message, help="set one of them to more than 0", reason="Invalid")


@validator("kubescheduler/v1 DynamicResourcesArgs", rule=scheduler_arguments)
def timeouts_are_spans(args: Node) -> Iterator[Problem]:
    """Yield a negative filterTimeout (0 means no limit), and a bindingTimeout below one second."""
    filtering, binding = args["filterTimeout"], args["bindingTimeout"]
    if nanoseconds(filtering) < 0:
        message = f"filterTimeout {filtering.text} is negative"
        yield Problem(filtering, message, help="set it to a positive duration, or to 0s for no limit", reason="Invalid")
    if binding and nanoseconds(binding, _SECOND if not binding.text else 0) < _SECOND:
        yield Problem(binding, f"bindingTimeout {binding.text} is less than 1s", help="set it to 1s or more", reason="Invalid")


@validator("kubescheduler/v1 NodeAffinityArgs", rule=scheduler_arguments)
def added_affinity_can_be_met(args: Node) -> Iterator[Problem]:
    """Yield values of addedAffinity that kube-scheduler rejects at startup. The API server only warns about them in Pods."""
    affinity = args["addedAffinity"]
    required = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    preferred = [each["preference"] for each in affinity["preferredDuringSchedulingIgnoredDuringExecution"]]
    for requirement in (each for term in (*required, *preferred) for each in term["matchExpressions"]):
        for value in requirement["values"]:
            if requirement["operator"].text in ("Gt", "Lt") and not _NUMBER.fullmatch(value.text):
                message = f'value "{value.text}" of operator {requirement["operator"].text} is not an integer'
                yield Problem(value, message, help="use an integer", reason="Invalid")
    for requirement in (each for term in preferred for each in term["matchExpressions"]):
        for value in requirement["values"]:
            if requirement["operator"].text in ("In", "NotIn") and (wrong := labels.value(value.text)):
                yield Problem(value, wrong, reason="Invalid")


@validator("kubescheduler/v1 NodeResourcesBalancedAllocationArgs", rule=scheduler_arguments)
def balanced_resources_weigh_the_same(args: Node) -> Iterator[Problem]:
    """Yield duplicate resources, and weights other than 1."""
    yield from _duplicates(args["resources"])
    for each in args["resources"]:
        if each["weight"].integer not in (None, 0, 1):
            message = f"weight {each['weight'].integer} is not allowed for NodeResourcesBalancedAllocation"
            yield Problem(each["weight"], message, help="set it to 1", reason="Invalid")


def _duplicates(resources: Node) -> Iterator[Problem]:
    yield from unique(
        resources, lambda r: r["name"].text, lambda r: Complaint(f'duplicate resource "{r["name"].text}"', "remove one of them"), "name"
    )


@validator("kubescheduler/v1 NodeResourcesFitArgs", rule=scheduler_arguments)
def ignored_resources_have_names(args: Node) -> Iterator[Problem]:
    """Yield invalid ignoredResources (qualified names) and ignoredResourceGroups (domains)."""
    for each in args["ignoredResources"]:
        if wrong := names.qualified_name(each.text):
            yield Problem(each, wrong, reason="Invalid")
    for each in args["ignoredResourceGroups"]:
        if "/" in each.text:
            message = f'ignoredResourceGroups entry "{each.text}" is a resource, not a group'
            yield Problem(each, message, help=use(each.text.partition("/")[0]), reason="Invalid")
        elif wrong := names.qualified_name(each.text):
            yield Problem(each, wrong, reason="Invalid")


@validator("kubescheduler/v1 ScoringStrategy", rule=scheduler_arguments)
def strategies_are_whole(strategy: Node) -> Iterator[Problem]:
    """Yield weights out of range, and a requestedToCapacityRatio that is missing, invalid or of another strategy."""
    for each in strategy["resources"]:
        weight = each["weight"].integer
        if weight is not None and not 0 <= weight <= 100:
            yield Problem(each["weight"], f"weight {weight} is out of range (1-100)", reason="Invalid")
    ratio = strategy["requestedToCapacityRatio"]
    if strategy["type"].text == _RATIO:
        if not ratio:
            yield require(ratio, Complaint(f"requestedToCapacityRatio is required for type: {_RATIO}", "add it with a shape"))
        else:
            yield from _shape_problems(ratio["shape"])
    elif ratio and strategy["type"].text in _STRATEGIES:
        message = f"requestedToCapacityRatio is only allowed for type: {_RATIO}"
        yield Problem(ratio, message, help=f"set type: {_RATIO}, or remove requestedToCapacityRatio", reason="Forbidden", at="key")


def _shape_problems(shape: Node) -> Iterator[Problem]:
    """Yield a shape without points, or the first point whose utilization does not increase."""
    if not len(shape):
        yield require(shape, Complaint("shape has no points", "add at least one point with utilization and score"))
    before: int | None = None
    for point in shape:
        at = point["utilization"].integer or 0
        if before is not None and at <= before:
            message = f"utilization {at} is not greater than that of the point before ({before})"
            yield Problem(point["utilization"], message, help="sort the points of shape by increasing utilization", reason="Invalid")
            return
        before = at


@validator("kubescheduler/v1 PodTopologySpreadArgs", rule=scheduler_arguments)
def default_constraints_hold_for_all_pods(args: Node) -> Iterator[Problem]:
    """Yield defaultConstraints without defaultingType: List, with a labelSelector, an invalid topologyKey or a duplicate."""
    constraints, kind = args["defaultConstraints"], args["defaultingType"]
    if len(constraints) and kind.text in ("", "System"):
        yield Problem(
            kind if kind else constraints,
            "defaultConstraints is not allowed for defaultingType: System" + ("" if kind else " (the default)"),
            help="set defaultingType: List, or remove defaultConstraints",
            reason="Invalid",
            at="value" if kind else "key",
            field=kind,
        )
    for each in constraints:
        key, selector = each["topologyKey"], each["labelSelector"]
        if key.text and (wrong := labels.key(key.text)):
            yield Problem(key, wrong, reason="Invalid")
        if selector:
            message = "labelSelector is not allowed in defaultConstraints: kube-scheduler computes it for each Pod"
            yield Problem(selector, message, help=remove(), reason="Forbidden", at="key")
    yield from _duplicate_constraints(constraints)


def _duplicate_constraints(constraints: Iterable[Node]) -> Iterator[Problem]:
    yield from unique(
        constraints,
        lambda each: (each["topologyKey"].text, each["whenUnsatisfiable"].text),
        lambda each: Complaint(
            f'duplicate constraint for topologyKey "{each["topologyKey"].text}" and whenUnsatisfiable {each["whenUnsatisfiable"].text}',
            "remove one of them",
        ),
    )


@validator("kubescheduler/v1 VolumeBindingArgs", rule=scheduler_arguments)
def volume_curves_go_up(args: Node) -> Iterator[Problem]:
    """Yield problems of shape, which has the form of that of NodeResourcesFit."""
    if len(args["shape"]):
        yield from _shape_problems(args["shape"])


@validator("kubescheduler/v1 VolumeBindingArgs", rule=dubious_setting)
def volume_curves_need_a_gate(args: Node) -> Iterator[Problem]:
    """Yield shape: kube-scheduler does not start with it unless the feature gate is enabled."""
    if args["shape"]:
        message = "shape requires the feature gate StorageCapacityScoring of kube-scheduler"
        yield Problem(args["shape"], message, help="enable the feature gate, or remove shape", at="key")

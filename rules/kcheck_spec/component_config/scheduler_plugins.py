"""Which plug-ins of kube-scheduler run, and where.

Source: mergePlugins (pkg/scheduler/apis/config/v1/default_plugins.go), validatePluginConfig (pkg/scheduler/apis/config/validation) and
NewFramework (pkg/scheduler/framework/runtime). A scheduler may be built with plug-ins of its own, so an unknown name proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import WARNING, Complaint, Node, Problem, Resource, declare, nearest, validator
from kcheck_spec.component_config.scheduler import CONFIGURATIONS, PROFILES
from kcheck_spec.objects.common_constraints import unique

scheduler_plugin = declare("invalid-scheduler-plugin", "KubeSchedulerConfiguration enables or disables plugins incorrectly")
scheduler_plugin_name = declare(
    "unknown-scheduler-plugin", "KubeSchedulerConfiguration names an unknown plugin, probably misspelled", severity=WARNING
)

_ALL = "*"
_SORT, _BIND = "PrioritySort", "DefaultBinder"

# The plug-ins of kube-scheduler itself and the points where each does something, in one version or another, up to 1.37. multiPoint stands
# for all of them.
_POINTS = {
    "DefaultBinder": "bind",
    "DefaultPreemption": "preEnqueue postFilter podGroupPostFilter",
    "DeferredPodScheduling": "preFilter filter permit",
    "DynamicResources": "preEnqueue preFilter filter postFilter score reserve preBind podGroupPostFilter",
    "GangScheduling": "preEnqueue permit",
    "ImageLocality": "score",
    "InterPodAffinity": "preFilter filter preScore score",
    "NodeAffinity": "preFilter filter preScore score",
    "NodeDeclaredFeatures": "preFilter filter",
    "NodeName": "preFilter filter",
    "NodePorts": "preFilter filter",
    "NodeResourcesBalancedAllocation": "preScore score",
    "NodeResourcesFit": "preFilter filter preScore score placementScore",
    "NodeUnschedulable": "preFilter filter",
    "NodeVolumeLimits": "preFilter filter",
    "PodGroupPodsCount": "placementScore",
    "PodTopologySpread": "preFilter filter preScore score",
    "PrioritySort": "queueSort",
    "SchedulingGates": "preEnqueue",
    "TaintToleration": "preFilter filter preScore score",
    "TopologyPlacementGenerator": "placementGenerate",
    "VolumeBinding": "preFilter filter preScore score reserve preBind",
    "VolumeRestrictions": "preFilter filter",
    "VolumeZone": "preFilter filter",
}
_KNOWN = {name: frozenset(points.split()) for name, points in _POINTS.items()}
# The points that are judged: what a later version adds is its own.
_JUDGED = frozenset[str]().union(*_KNOWN.values(), {"postBind"})

# What there was once: the first version 1.N without it, and what does its work.
_FIT = "NodeResourcesFit with a scoringStrategy"
_LIMITS = (32, "NodeVolumeLimits")
_GONE = {
    "NodeLabel": (25, "NodeAffinity"),
    "NodePreferAvoidPods": (25, "taints of nodes"),
    "NodeResourcesLeastAllocated": (25, _FIT),
    "NodeResourcesMostAllocated": (25, _FIT),
    "RequestedToCapacityRatio": (25, _FIT),
    "ServiceAffinity": (25, "InterPodAffinity"),
    "SelectorSpread": (29, "PodTopologySpread"),
    "AzureDiskLimits": _LIMITS,
    "CinderLimits": _LIMITS,
    "EBSLimits": _LIMITS,
    "GCEPDLimits": _LIMITS,
}


@validator(CONFIGURATIONS, rule=scheduler_plugin)
def plugins_exist(config: Resource) -> Iterator[Problem]:
    """Plug-ins that are enabled or configured have not been taken out of kube-scheduler."""
    for profile in config["profiles"]:
        enabled = [each for _, plugins in profile["plugins"].entries for each in plugins["enabled"]]
        for each in (*enabled, *profile["pluginConfig"]):
            since, instead = _GONE.get(each["name"].text, (0, ""))
            if instead and not config.is_before(since):
                message = f"kube-scheduler has no plug-in {each['name'].text} any more"
                yield Problem(each["name"], message, help=f"use {instead}", reason="Invalid", field=each)


@validator(PROFILES, rule=scheduler_plugin)
def plugins_fit_their_points(profile: Node) -> Iterator[Problem]:
    """A plug-in runs once at a point, and only where it has something to do."""
    for point, plugins in profile["plugins"].entries:
        yield from unique(
            plugins["enabled"],
            lambda each: each["name"].text,
            lambda each: Complaint(f"{each['name'].text} runs here already", "take one away"),
        )
        for each in plugins["enabled"]:
            name, weight = each["name"], each["weight"]
            works = _KNOWN.get(name.text)
            if works is not None and point in _JUDGED - works:
                message = f"{name.text} does nothing at {point}"
                yield Problem(name, message, help=f"take it away, or put it under {_listed(works)}", reason="Invalid", field=each)
            elif (weight.integer or 0) < 0 and (point == "score" or (point == "multiPoint" and "score" in (works or ()))):
                yield Problem(
                    weight, f"a weight of {weight.integer} counts against what is scored", help="write 1 or more", reason="Invalid"
                )


def _listed(points: frozenset[str]) -> str:
    return " or ".join(sorted(points))


@validator(PROFILES, rule=scheduler_plugin)
def one_plugin_sorts(profile: Node) -> Iterator[Problem]:
    """The queue is in one order. What a point enables comes on top of what is on by default."""
    plugins, enabled = profile["plugins"], profile.at("plugins", "queueSort", "enabled")
    if len(enabled) > 1:
        yield Problem(enabled[1], "the queue has one order", help="enable one plug-in at queueSort", reason="Invalid", field=enabled)
    elif len(enabled) == 1 and enabled[0]["name"].text != _SORT and _is_on(plugins, "queueSort", _SORT):
        message = f"{_SORT} orders the queue, too"
        yield Problem(enabled[0]["name"], message, help=f"disable it here (disabled: [{{name: {_SORT}}}])", reason="Invalid", field=enabled)
    elif not len(enabled):
        yield from _nothing(plugins, "queueSort", _SORT, "puts pods in order")


@validator(PROFILES, rule=scheduler_plugin)
def some_plugin_binds(profile: Node) -> Iterator[Problem]:
    """Somebody must tell pods their node."""
    if not len(profile.at("plugins", "bind", "enabled")):
        yield from _nothing(profile["plugins"], "bind", _BIND, "binds pods to nodes")


def _nothing(plugins: Node, point: str, usual: str, what: str) -> Iterator[Problem]:
    """The problem of a point that enables nothing itself, where nothing else does its work."""
    others = _names(plugins["multiPoint"]["enabled"]) - {usual}
    able = (each for each in others if point in _KNOWN.get(each, {point}))
    if not any(_is_on(plugins, point, each) for each in (usual, *able)):
        own = plugins[point]["disabled"]
        message = f"nothing {what}"
        yield Problem(
            own if len(own) else plugins["multiPoint"]["disabled"],
            message,
            help=f"enable a plug-in at {point}, or leave {usual} on",
            reason="Invalid",
            at="key",
        )


def _is_on(plugins: Node, point: str, plugin: str) -> bool:
    """Whether a plug-in runs at a point by default or under multiPoint."""
    everywhere, off = plugins["multiPoint"], {plugin, _ALL}
    there = plugin in _names(everywhere["enabled"]) or off.isdisjoint(_names(everywhere["disabled"]))
    return there and off.isdisjoint(_names(plugins[point]["disabled"]))


def _names(plugins: Node) -> set[str]:
    return {each["name"].text for each in plugins}


@validator(PROFILES, rule=scheduler_plugin_name)
def names_are_spelt_right(profile: Node) -> Iterator[Problem]:
    """A plug-in that is disabled or configured under a wrong name is left as it was without a word."""
    listed = [each for _, plugins in profile["plugins"].entries for side in ("enabled", "disabled") for each in plugins[side]]
    for each in (*listed, *profile["pluginConfig"]):
        name = each["name"]
        if name.text and name.text not in (_ALL, *_KNOWN, *_GONE):
            near = nearest(name.text, _KNOWN, limit=2)
            if near:
                yield Problem(name, f"kube-scheduler itself has no plug-in {name.text}", help=f"did you mean {near}?")

"""The plugins that kube-scheduler runs at each extension point.

Source: mergePlugins (pkg/scheduler/apis/config/v1/default_plugins.go), validatePluginConfig (pkg/scheduler/apis/config/validation) and
NewFramework (pkg/scheduler/framework/runtime). A scheduler can be built with out-of-tree plugins, so an unknown name may be valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kcheck.api import WARNING, Complaint, Node, Problem, Resource, declare, did_you_mean, nearest, validator
from kcheck_spec.component_config.scheduler import CONFIGURATIONS, PROFILES
from kcheck_spec.objects.common_constraints import unique

scheduler_plugin = declare("invalid-scheduler-plugin", "KubeSchedulerConfiguration enables or disables plugins incorrectly")
scheduler_plugin_name = declare(
    "unknown-scheduler-plugin", "KubeSchedulerConfiguration names an unknown plugin, probably misspelled", severity=WARNING, fixable=True
)

_ALL = "*"
_SORT, _BIND = "PrioritySort", "DefaultBinder"

# The in-tree plugins of kube-scheduler and the extension points that each implements in any version up to 1.37. multiPoint means all.
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
# The known extension points; those that a later version adds are not checked.
_CHECKED_POINTS = frozenset[str]().union(*_KNOWN.values(), {"postBind"})

# Removed plugins: the first version 1.N without them, and their replacement.
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
    """Yield enabled and configured plugins that kube-scheduler has removed."""
    for profile in config["profiles"]:
        enabled = [each for _, plugins in profile["plugins"].entries for each in plugins["enabled"]]
        for each in (*enabled, *profile["pluginConfig"]):
            since, instead = _GONE.get(each["name"].text, (0, ""))
            if instead and not config.is_before(since):
                message = f'plugin "{each["name"].text}" was removed in Kubernetes 1.{since}'
                yield Problem(each["name"], message, help=f"use {instead}", reason="Invalid", field=each)


def _enabled_twice(point: str, plugin: Node) -> Complaint:
    return Complaint(f'plugin "{plugin["name"].text}" is enabled twice at {point}', "remove one of them")


@validator(PROFILES, rule=scheduler_plugin)
def plugins_fit_their_points(profile: Node) -> Iterator[Problem]:
    """Yield plugins that are enabled twice at an extension point, that do not implement it, or that have a negative weight."""
    for point, plugins in profile["plugins"].entries:
        yield from unique(
            plugins["enabled"],
            lambda each: each["name"].text,
            partial(_enabled_twice, point),
        )
        for each in plugins["enabled"]:
            name, weight = each["name"], each["weight"]
            works = _KNOWN.get(name.text)
            if works is not None and point in _CHECKED_POINTS - works:
                message = f'plugin "{name.text}" does not implement {point}'
                yield Problem(name, message, help=f"remove it, or move it to {_listed(works)}", reason="Invalid", field=each)
            elif (weight.integer or 0) < 0 and (point == "score" or (point == "multiPoint" and "score" in (works or ()))):
                message = f'weight {weight.integer} of plugin "{name.text}" is negative'
                yield Problem(weight, message, help="set it to 1 or more", reason="Invalid")


def _listed(points: frozenset[str]) -> str:
    return " or ".join(sorted(points))


@validator(PROFILES, rule=scheduler_plugin)
def one_plugin_sorts(profile: Node) -> Iterator[Problem]:
    """Yield profiles without exactly one queueSort plugin. Enabled plugins are added to those that are enabled by default."""
    plugins, enabled = profile["plugins"], profile.at("plugins", "queueSort", "enabled")
    if len(enabled) > 1:
        message = "more than one queueSort plugin is enabled"
        yield Problem(enabled[1], message, help="enable only one plugin at queueSort", reason="Invalid", field=enabled)
    elif len(enabled) == 1 and enabled[0]["name"].text != _SORT and _is_on(plugins, "queueSort", _SORT):
        message = f'queueSort plugin "{enabled[0]["name"].text}" is enabled together with the default plugin "{_SORT}"'
        help = f"disable {_SORT}: add queueSort.disabled: [{{name: {_SORT}}}]"
        yield Problem(enabled[0]["name"], message, help=help, reason="Invalid", field=enabled)
    elif not len(enabled):
        yield from _without_plugin(plugins, "queueSort", _SORT)


@validator(PROFILES, rule=scheduler_plugin)
def some_plugin_binds(profile: Node) -> Iterator[Problem]:
    """Yield profiles without a bind plugin, which assigns Pods to nodes."""
    if not len(profile.at("plugins", "bind", "enabled")):
        yield from _without_plugin(profile["plugins"], "bind", _BIND)


def _without_plugin(plugins: Node, point: str, usual: str) -> Iterator[Problem]:
    """The problem of an extension point where no plugin is enabled, neither by default nor under multiPoint."""
    others = _names(plugins["multiPoint"]["enabled"]) - {usual}
    able = (each for each in others if point in _KNOWN.get(each, {point}))
    if not any(_is_on(plugins, point, each) for each in (usual, *able)):
        own = plugins[point]["disabled"]
        yield Problem(
            own if len(own) else plugins["multiPoint"]["disabled"],
            f"the profile has no {point} plugin",
            help=f"enable a plugin at {point}, or do not disable {usual}",
            reason="Invalid",
            at="key",
        )


def _is_on(plugins: Node, point: str, plugin: str) -> bool:
    """Whether a plugin runs at an extension point by default or under multiPoint."""
    everywhere, off = plugins["multiPoint"], {plugin, _ALL}
    there = plugin in _names(everywhere["enabled"]) or off.isdisjoint(_names(everywhere["disabled"]))
    return there and off.isdisjoint(_names(plugins[point]["disabled"]))


def _names(plugins: Node) -> set[str]:
    return {each["name"].text for each in plugins}


@validator(PROFILES, rule=scheduler_plugin_name)
def names_are_spelt_right(profile: Node) -> Iterator[Problem]:
    """Yield unknown plugins with a name similar to an in-tree plugin. kube-scheduler silently ignores them in disabled and pluginConfig."""
    listed = [each for _, plugins in profile["plugins"].entries for side in ("enabled", "disabled") for each in plugins[side]]
    for each in (*listed, *profile["pluginConfig"]):
        name = each["name"]
        if name.text and name.text not in (_ALL, *_KNOWN, *_GONE):
            near = nearest(name.text, _KNOWN, limit=2)
            if near:
                yield Problem(name, f'unknown plugin "{name.text}"', help=did_you_mean(near))

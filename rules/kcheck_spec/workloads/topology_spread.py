"""Topology spread constraints and node selectors.

Source: validateTopologySpreadConstraints (pkg/apis/core/validation/validation.go), mutateTopologySpreadConstraints
(pkg/registry/core/pod/strategy.go), and the warnings of pkg/api/pod/warnings.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Pod, Problem, constraint, declare, fields, validator
from kcheck_spec.objects.common_constraints import deprecated_field, dubious_setting, not_supported, one_of, require
from kcheck_spec.objects.labels import label_map, label_syntax
from kcheck_spec.workloads.affinity_terms import deprecated_label
from kcheck_spec.workloads.pod_affinity import key_problems, label_keys

topology_spread = declare("invalid-topology-spread", "Pod has an invalid topologySpreadConstraints entry", fixable=True)

_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_MERGE = "MatchLabelKeysInPodTopologySpreadSelectorMerge"
_policy = one_of("Honor", "Ignore", of=topology_spread, empty=False)


@constraint(topology_spread, of_absent=True)
def skew(node: Node) -> Problem | None:
    """How many Pods more one domain may have than another: at least 1."""
    if not node:
        return Problem(node, "maxSkew of the constraint is missing", help="add maxSkew, for example maxSkew: 1", reason="Invalid")
    number = node.integer
    if number is None or number > 0:
        return None
    return Problem(node, f"maxSkew: {number} is less than 1", help="use 1 or more", reason="Invalid")


@constraint(topology_spread, of_absent=True)
def domain(node: Node) -> Problem | None:
    """The node label whose values are the topology domains."""
    if node.text:
        return None
    return require(node, Complaint("topologyKey of the constraint is missing", "add topologyKey, for example topology.kubernetes.io/zone"))


@constraint(topology_spread, of_absent=True)
def action(node: Node) -> Problem | None:
    """What happens to a Pod that would violate the constraint."""
    if node.text in _ACTIONS or (node and node.value.__class__ is not str):
        return None
    return not_supported(node, _ACTIONS)


tables = [
    fields("core/v1 PodSpec", nodeSelector=label_map),
    fields(
        "core/v1 TopologySpreadConstraint",
        maxSkew=skew,
        topologyKey=domain,
        whenUnsatisfiable=action,
        nodeAffinityPolicy=_policy,
        nodeTaintsPolicy=_policy,
    ),
]


@validator("core/v1 PodSpec", rule=topology_spread, fields="topologySpreadConstraints")
def constraints_are_sound(pod: Pod) -> Iterator[Problem]:
    """Wrong minDomains, constraints that occur twice, and label keys that conflict with the selector."""
    listed = list(pod["topologySpreadConstraints"])
    for index, each in enumerate(listed):
        fewest, action_ = each["minDomains"], each["whenUnsatisfiable"]
        if fewest.integer is not None and fewest.integer <= 0:
            yield Problem(fewest, f"minDomains: {fewest.integer} is less than 1", help="use 1 or more", reason="Invalid")
        elif fewest and action_.text != "DoNotSchedule":
            hint = "set whenUnsatisfiable: DoNotSchedule, or remove minDomains"
            message = Complaint("minDomains requires whenUnsatisfiable: DoNotSchedule", hint)
            yield Problem(fewest, message, reason="Invalid", at="key")
        if any(_kind(each) == _kind(other) for other in listed[index + 1 :]):
            same = f'topologyKey "{each["topologyKey"].text}" and whenUnsatisfiable "{action_.text}"'
            message = Complaint(f"another constraint also has {same}", "merge the two constraints")
            yield Problem(each, message, reason="Duplicate", field=each.virtual("{topologyKey, whenUnsatisfiable}"))
        if pod.resource.enables(_MERGE):
            yield from label_keys(each, pod)
        else:
            yield from _unmerged_keys(each)


def _unmerged_keys(constraint: Node) -> Iterator[Problem]:
    """Problems of matchLabelKeys for an API server that does not add them to the selector: they must not be in it."""
    keys, selector = constraint["matchLabelKeys"], constraint["labelSelector"]
    if len(keys) and not selector:
        message = Complaint("matchLabelKeys requires labelSelector", "add labelSelector, or remove matchLabelKeys")
        yield Problem(keys, message, reason="Forbidden", at="key")
    selected = {*(key for key, _ in selector["matchLabels"].entries), *(each["key"].text for each in selector["matchExpressions"])}
    for key in keys:
        if key.text in selected:
            message = Complaint(
                f'label key "{key.text}" of matchLabelKeys is already in labelSelector', f'remove "{key.text}" from one of the two'
            )
            yield Problem(key, message, reason="Invalid")


def _kind(each: Node) -> tuple[str, str]:
    return each["topologyKey"].text, each["whenUnsatisfiable"].text


@validator("core/v1 TopologySpreadConstraint", rule=label_syntax)
def keys_are_labels(each: Node) -> Iterator[Problem]:
    """Keys must be valid label keys."""
    yield from key_problems(each)


@validator("core/v1 TopologySpreadConstraint", rule=dubious_setting)
def selector_is_there(each: Node) -> Iterator[Problem]:
    """A constraint without a selector counts no Pod, not all of them."""
    if not each["labelSelector"]:
        hint = "add labelSelector (labelSelector: {} matches all Pods)"
        yield Problem(each["labelSelector"], "labelSelector is missing, so the constraint counts no Pods", help=hint)


@validator("core/v1 TopologySpreadConstraint", rule=deprecated_field)
def domain_is_up_to_date(each: Node) -> Iterator[Problem]:
    """Node labels that have been renamed."""
    yield from deprecated_label(each["topologyKey"])


@validator(("core/v1 PodSpec", "node/v1 Scheduling"), rule=deprecated_field, fields="nodeSelector")
def node_selector_is_up_to_date(owner: Node) -> Iterator[Problem]:
    """Node labels that have been renamed."""
    for key, value in owner["nodeSelector"].entries:
        yield from deprecated_label(value, key)

"""How evenly pods are spread.

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

topology_spread = declare(
    "invalid-topology-spread",
    "Pod has an invalid topologySpreadConstraints entry",
)

_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_policy = one_of("Honor", "Ignore", of=topology_spread, empty=False)


@constraint(topology_spread, of_absent=True)
def skew(node: Node) -> Problem | None:
    """How much more pods one domain may have than another."""
    if not node:
        return Problem(node, "no skew is allowed yet", help="add maxSkew, such as 1", reason="Invalid")
    number = node.integer
    return (
        None
        if number is None or number > 0
        else Problem(node, f"a skew of {number} is too small", help="write 1 or more", reason="Invalid")
    )


@constraint(topology_spread, of_absent=True)
def domain(node: Node) -> Problem | None:
    """The label of nodes that tells domains apart."""
    return None if node.text else require(node, Complaint("no domain is named", "add topologyKey, such as topology.kubernetes.io/zone"))


@constraint(topology_spread, of_absent=True)
def action(node: Node) -> Problem | None:
    """What happens to a pod that would break the constraint."""
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
    """Number of domains, label keys that go with the selector, and no two constraints of one kind."""
    listed = list(pod["topologySpreadConstraints"])
    for index, each in enumerate(listed):
        fewest, action_ = each["minDomains"], each["whenUnsatisfiable"]
        if fewest.integer is not None and fewest.integer <= 0:
            yield Problem(fewest, f"{fewest.integer} domains are too few", help="write 1 or more", reason="Invalid")
        elif fewest and action_.text != "DoNotSchedule":
            message = Complaint("minDomains goes with DoNotSchedule only", "write whenUnsatisfiable: DoNotSchedule, or take it away")
            yield Problem(fewest, message, reason="Invalid", at="key")
        if any(_kind(each) == _kind(other) for other in listed[index + 1 :]):
            what, where = action_.text or "what to do", each["topologyKey"].text or "the same domain"
            message = Complaint(f"another constraint says {what} for {where}", "make one of the two")
            yield Problem(each, message, reason="Duplicate", field=each.imaginary("{topologyKey, whenUnsatisfiable}"))
        yield from label_keys(each, pod)


def _kind(each: Node) -> tuple[str, str]:
    return each["topologyKey"].text, each["whenUnsatisfiable"].text


@validator("core/v1 TopologySpreadConstraint", rule=label_syntax)
def keys_are_labels(each: Node) -> Iterator[Problem]:
    """Keys are such as labels can have."""
    yield from key_problems(each)


@validator("core/v1 TopologySpreadConstraint", rule=dubious_setting)
def selector_is_there(each: Node) -> Iterator[Problem]:
    """No selector is no pod, and not all of them."""
    if not each["labelSelector"]:
        yield Problem(each["labelSelector"], "without labelSelector the constraint counts no pod", help="add it, or {} for all pods")


@validator("core/v1 TopologySpreadConstraint", rule=deprecated_field)
def domain_is_up_to_date(each: Node) -> Iterator[Problem]:
    """Labels of nodes that have been renamed."""
    yield from deprecated_label(each["topologyKey"])


@validator(("core/v1 PodSpec", "node/v1 Scheduling"), rule=deprecated_field, fields="nodeSelector")
def node_selector_is_up_to_date(owner: Node) -> Iterator[Problem]:
    """Labels of nodes that have been renamed."""
    for key, value in owner["nodeSelector"].entries:
        yield from deprecated_label(value, key)

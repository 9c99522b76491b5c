"""PodDisruptionBudgets. Source: ValidatePodDisruptionBudgetSpec (pkg/apis/policy/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Constraint, Node, Problem, declare, fields, validator
from kcheck_spec.objects.common_constraints import one_of
from kcheck_spec.workloads.update_strategies import wrong_share

disruption_budget = declare("invalid-pdb", "PodDisruptionBudget has an invalid minAvailable or maxUnavailable")


def _share(node: Node) -> Problem | None:
    wrong = wrong_share(node)
    return Problem(node, wrong, reason="Invalid") if wrong else None


tables = [
    fields(
        "policy/v1 PodDisruptionBudgetSpec",
        minAvailable=Constraint(disruption_budget, _share),
        maxUnavailable=Constraint(disruption_budget, _share),
        unhealthyPodEvictionPolicy=one_of("AlwaysAllow", "IfHealthyBudget", empty=False),
    ),
]


@validator("policy/v1 PodDisruptionBudgetSpec", rule=disruption_budget)
def budgets_say_one_thing(spec: Node) -> Iterator[Problem]:
    """A budget has minAvailable or maxUnavailable, not both."""
    if spec["minAvailable"] and spec["maxUnavailable"]:
        message = "PodDisruptionBudget has both minAvailable and maxUnavailable"
        yield Problem(spec["maxUnavailable"], message, help="remove one of the two", reason="Invalid", at="key", field=spec)

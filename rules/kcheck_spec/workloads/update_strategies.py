"""Update strategies of workloads: how Pods are replaced, and how many may be unavailable or added during an update.

Source: ValidateDeploymentStrategy, ValidateDaemonSetUpdateStrategy, the update strategy in ValidateStatefulSetSpec,
ValidatePositiveIntOrPercent, IsNotMoreThan100Percent (pkg/apis/apps/validation), pkg/apis/apps/v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kcheck.api import Complaint, Constraint, Node, Problem, Reason, declare, fields, pattern, quantity, validator
from kcheck_spec.objects.common_constraints import not_supported, require

update_strategy = declare(
    "invalid-update-strategy", "Workload has an invalid update strategy (type, maxUnavailable, maxSurge)", fixable=True
)

_BOTH_ZERO = Complaint("maxUnavailable and maxSurge are both 0, so no Pod can be replaced", "set one of the two above 0")
_NUMBER = pattern("[+-]?0*([0-9]{1,18})")


def wrong_share(node: Node, *, capped: bool = True) -> str:
    """What is wrong with an integer or percentage of Pods, "" for nothing. `capped`: whether more than 100% is an error."""
    if not isinstance(node.value, str):
        return Complaint(f"{node.name}: {node.integer} is negative", "use 0 or more") if (node.integer or 0) < 0 else ""
    percent = quantity.percent(node.text)
    if percent is None:
        quoted = _NUMBER.fullmatch(node.text)
        hint = f"use {node.text} without quotes, or a percentage such as 25%" if quoted else "use an integer or a percentage such as 25%"
        return Complaint(f'{node.name} "{node.text}" is neither an integer nor a percentage', hint)
    return Complaint(f"{node.name}: {node.text} is greater than 100%", "use at most 100%") if capped and percent > 100 else ""


def share(node: Node, default: int) -> int:
    """The integer or the percentage of a node, or `default` for an absent one. Callers only compare the result with 0."""
    if not node:
        return default
    if isinstance(node.value, str):
        number = _NUMBER.fullmatch(node.text)
        return quantity.percent(node.text) or (int(number[1]) if number else 0)
    return node.integer or 0


def _strategy(reason: Reason, *types: str) -> Constraint:
    """The type of a strategy. The API server names the strategy, not the field type."""

    def look(node: Node) -> Problem | None:
        if not node.text or node.text in types:
            return None
        return not_supported(node, types).replace(reason=reason, field=node.parent)

    return Constraint(update_strategy, look, closed=True)


tables = [
    fields("apps/v1 DeploymentStrategy", type=_strategy("NotSupported", "Recreate", "RollingUpdate")),
    fields("apps/v1 DaemonSetUpdateStrategy", type=_strategy("NotSupported", "RollingUpdate", "OnDelete")),
    fields("apps/v1 StatefulSetUpdateStrategy", type=_strategy("Invalid", "RollingUpdate", "OnDelete")),
]


def _is_rolling(strategy: Node) -> bool:
    return strategy["type"].text in ("", "RollingUpdate")


def _sizes(rolling: Node, is_capped: Callable[[str], bool]) -> Iterator[Problem]:
    for name in ("maxUnavailable", "maxSurge"):
        wrong = wrong_share(rolling[name], capped=is_capped(name)) if rolling[name] else ""
        if wrong:
            yield Problem(rolling[name], wrong, reason="Invalid")


@validator("apps/v1 DeploymentStrategy", rule=update_strategy)
def deployments_can_move(strategy: Node) -> Iterator[Problem]:
    """Strategies of Deployments. maxUnavailable and maxSurge are 25% by default. Recreate does not allow rollingUpdate."""
    rolling = strategy["rollingUpdate"]
    if strategy["type"].text == "Recreate" and rolling:
        message, hint = "rollingUpdate is not allowed with type: Recreate", "remove rollingUpdate, or use type: RollingUpdate"
        yield Problem(rolling, message, help=hint, reason="Forbidden", at="key")
    elif _is_rolling(strategy):
        # A maxSurge of more than 100% is valid.
        yield from _sizes(rolling, lambda name: name == "maxUnavailable")
        if not share(rolling["maxUnavailable"], 25) and not share(rolling["maxSurge"], 25):
            yield Problem(rolling["maxUnavailable"], _BOTH_ZERO, reason="Invalid")


@validator("apps/v1 DaemonSetUpdateStrategy", rule=update_strategy)
def daemons_can_move(strategy: Node) -> Iterator[Problem]:
    """Strategies of DaemonSets, which use either maxUnavailable (1 by default) or maxSurge."""
    rolling = strategy["rollingUpdate"]
    if not _is_rolling(strategy):
        return
    yield from _sizes(rolling, lambda _: True)
    missing, extra = share(rolling["maxUnavailable"], 1), share(rolling["maxSurge"], 0)
    if missing and extra:
        message = "maxSurge of a DaemonSet requires maxUnavailable: 0"
        yield Problem(rolling["maxSurge"], message, help="set maxUnavailable: 0, or remove maxSurge", reason="Invalid")
    elif not missing and not extra:
        yield require(rolling["maxUnavailable"], _BOTH_ZERO)


@validator("apps/v1 StatefulSetUpdateStrategy", rule=update_strategy)
def stateful_sets_can_move(strategy: Node) -> Iterator[Problem]:
    """Strategies of StatefulSets. The API server drops maxUnavailable unless a feature gate is on."""
    rolling = strategy["rollingUpdate"]
    partition = rolling["partition"]
    if strategy["type"].text == "OnDelete" and rolling:
        message, hint = "rollingUpdate is not allowed with type: OnDelete", "remove rollingUpdate, or use type: RollingUpdate"
        yield Problem(rolling, message, help=hint, reason="Invalid", at="key")
    elif _is_rolling(strategy) and (partition.integer or 0) < 0:
        yield Problem(partition, f"partition: {partition.integer} is negative", help="use 0 or more", reason="Invalid")

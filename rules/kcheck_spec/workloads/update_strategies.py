"""How controllers replace their pods: strategies, and how many pods may be missing or too many meanwhile.

Source: ValidateDeploymentStrategy, ValidateDaemonSetUpdateStrategy, the update strategy in ValidateStatefulSetSpec,
ValidatePositiveIntOrPercent, IsNotMoreThan100Percent (pkg/apis/apps/validation), pkg/apis/apps/v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kcheck.api import Complaint, Constraint, Node, Problem, Reason, declare, fields, pattern, quantity, validator
from kcheck_spec.objects.common_constraints import not_supported, require

update_strategy = declare("invalid-update-strategy", "Workload has an invalid update strategy (type, maxUnavailable, maxSurge)")

_STANDSTILL = Complaint("with neither a pod less nor one more nothing can be replaced", "write maxUnavailable or maxSurge above 0")
_NUMBER = pattern("[+-]?0*([0-9]{1,18})")


def wrong_share(node: Node, *, capped: bool = True) -> str:
    """What is wrong with a number or percentage of pods, "" where nothing is. `capped`: whether more than 100% makes no sense."""
    if not isinstance(node.value, str):
        return Complaint(f"{node.integer} pods cannot be", "write 0 or more") if (node.integer or 0) < 0 else ""
    percent = quantity.percent(node.text)
    if percent is None:
        write = node.text if _NUMBER.fullmatch(node.text) else "a number such as 1"
        return Complaint(
            f"{node.text!r} is neither a number nor a percentage", f"write {write} without quotes, or a percentage such as 25%"
        )
    return Complaint(f"{node.text} is more than all pods", "write 100% at most") if capped and percent > 100 else ""


def share(node: Node, default: int) -> int:
    """The number or percentage that stands here, whichever it is: what matters is whether it is 0."""
    if not node:
        return default
    if isinstance(node.value, str):
        number = _NUMBER.fullmatch(node.text)
        return quantity.percent(node.text) or (int(number[1]) if number else 0)
    return node.integer or 0


def _strategy(reason: Reason, *types: str) -> Constraint:
    """A type of strategy. The server names the strategy, not its type."""

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
    """A rolling update takes pods away or adds some first, 25% of each by default; Recreate takes all away."""
    rolling = strategy["rollingUpdate"]
    if strategy["type"].text == "Recreate" and rolling:
        message = "Recreate takes all pods away at once"
        yield Problem(rolling, message, help="take rollingUpdate away, or write type: RollingUpdate", reason="Forbidden", at="key")
    elif _is_rolling(strategy):
        # More than 100% too many is fine.
        yield from _sizes(rolling, lambda name: name == "maxUnavailable")
        if not share(rolling["maxUnavailable"], 25) and not share(rolling["maxSurge"], 25):
            yield Problem(rolling["maxUnavailable"], _STANDSTILL, reason="Invalid")


@validator("apps/v1 DaemonSetUpdateStrategy", rule=update_strategy)
def daemons_can_move(strategy: Node) -> Iterator[Problem]:
    """A node has its old pod until the new one is there, or none meanwhile: one of the two, by default one node without."""
    rolling = strategy["rollingUpdate"]
    if not _is_rolling(strategy):
        return
    yield from _sizes(rolling, lambda _: True)
    missing, extra = share(rolling["maxUnavailable"], 1), share(rolling["maxSurge"], 0)
    if missing and extra:
        message = "a node has one pod less or one more during an update, not both"
        yield Problem(rolling["maxSurge"], message, help="write maxUnavailable: 0, or take maxSurge away", reason="Invalid")
    elif not missing and not extra:
        yield require(rolling["maxUnavailable"], _STANDSTILL)


@validator("apps/v1 StatefulSetUpdateStrategy", rule=update_strategy)
def stateful_sets_can_move(strategy: Node) -> Iterator[Problem]:
    """The server drops maxUnavailable, unless a feature gate is on."""
    rolling = strategy["rollingUpdate"]
    partition = rolling["partition"]
    if strategy["type"].text == "OnDelete" and rolling:
        message = "OnDelete replaces only pods that someone deletes"
        yield Problem(rolling, message, help="take rollingUpdate away, or write type: RollingUpdate", reason="Invalid", at="key")
    elif _is_rolling(strategy) and (partition.integer or 0) < 0:
        yield Problem(
            partition, f"pods are numbered from 0, so {partition.integer} is no partition", help="write 0 or more", reason="Invalid"
        )

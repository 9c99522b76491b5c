"""An object for which kcheck and another linter differ, and the decorators of predicates about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from inventory import Key, Object, Ours

Side = Literal["us", "them"]
Predicate = Callable[["Case"], bool]

WORKLOADS = frozenset(
    ("CronJob", "DaemonSet", "Deployment", "DeploymentConfig", "Job", "Pod", "ReplicaSet", "ReplicationController", "StatefulSet")
)


@dataclass
class Case:
    """An object that only one of the two reports.

    `objects`: objects that the peer cannot distinguish; `around`: all objects of the repository; `heard`: those with findings of the peer;
    `cause`: the class that explains the difference.
    """

    check: str
    side: Side
    key: Key
    objects: list[Object]
    findings: list[Ours]
    around: list[Object]
    heard: list[Object]
    cause: str = ""


PREDICATES: dict[str, Predicate] = {}


def of_object(function: Callable[[Object], bool]) -> Callable[[Object], bool]:
    """Declares a predicate about an object. If several objects have the same name, one of them is enough."""
    PREDICATES[function.__name__.replace("_", "-")] = lambda case: any(function(each) for each in case.objects)
    return function


def of_case(function: Predicate) -> Predicate:
    """Declares a predicate that also uses the findings and the other objects of the repository."""
    PREDICATES[function.__name__.replace("_", "-")] = function
    return function


def init_containers(each: Object) -> list[dict[str, Any]]:
    return [c for c in each.pod.get("initContainers") or () if isinstance(c, dict)]


def all_containers(each: Object) -> list[dict[str, Any]]:
    return [*each.containers, *init_containers(each)]

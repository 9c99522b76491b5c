"""An object over which kcheck and a peer differ, and how predicates about it are made."""

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
    """An object that one alone finds fault with. `objects`: those that the peer cannot tell apart; `around`: all of the repository;
    `heard`: of those the ones of which the peer says something; `cause`: the class that explains it.
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
    """Asked of an object. Of several that share a name, one is enough."""
    PREDICATES[function.__name__.replace("_", "-")] = lambda case: any(function(each) for each in case.objects)
    return function


def of_case(function: Predicate) -> Predicate:
    """Asked of the findings and of what else is in the repository, too."""
    PREDICATES[function.__name__.replace("_", "-")] = function
    return function


def init_containers(each: Object) -> list[dict[str, Any]]:
    return [c for c in each.pod.get("initContainers") or () if isinstance(c, dict)]


def all_containers(each: Object) -> list[dict[str, Any]]:
    return [*each.containers, *init_containers(each)]

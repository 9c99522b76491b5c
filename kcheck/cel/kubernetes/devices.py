"""CEL selectors of devices in ResourceClaims and DeviceClasses.

Source: k8s.io/dynamic-resource-allocation/cel.
"""

from __future__ import annotations

from functools import lru_cache

from kcheck.cel.cost.cost import estimate_cost
from kcheck.cel.eval.program import LATEST, Environment, Program
from kcheck.cel.language.issues import Issue
from kcheck.cel.schema.declarations import CelShape
from kcheck.cel.values import types
from kcheck.cel.values.types import BOOL, STRING, Type, map_of

COST_LIMIT = 1_000_000
"""The maximum cost of evaluating a selector for one device (CELSelectorExpressionMaxCost of resource.k8s.io)."""

_ENTRIES = 32
_QUANTITY = Type("opaque", "kubernetes.Quantity")
_CAPACITY_SINCE = 36


def check_selector(expression: str, minor: int = LATEST) -> tuple[Program | None, tuple[Issue, ...]]:
    """The program of a selector that compiles, and its issues. `minor`: the version 1.N of the API server."""
    device, environment = _device(minor)
    found = environment.compile(expression)
    if not isinstance(found, Program):
        return None, found
    if found.type is not BOOL and found.type is not types.ANY:
        return None, (Issue(f"the expression must return bool, not {found.type!r}"),)
    cost = estimate_cost(found.expr, device, "device", minor)
    if cost > COST_LIMIT:
        return found, (Issue(f"the expression is too complex and exceeds the cost limit by {(cost - COST_LIMIT) / COST_LIMIT:.0%}"),)
    return found, ()


@lru_cache(maxsize=16)
def _device(minor: int) -> tuple[CelShape, Environment]:
    domain, name = CelShape("string", {}, STRING, 63, 2), CelShape("string", {}, STRING, 32, 2)
    attribute = CelShape("any", {}, types.ANY, 64, 1)
    capacity = CelShape("quantity", {}, _QUANTITY, 0, 8)
    fields = {
        "driver": CelShape("string", {}, STRING, 63, 2),
        "attributes": _map(domain, _map(name, attribute)),
        "capacity": _map(domain, _map(name, capacity)),
    }
    if minor >= _CAPACITY_SINCE:
        fields["allowMultipleAllocations"] = CelShape("boolean", {}, BOOL, 0, 4)
    device = CelShape("object", {}, types.DYN, 0, 2)
    device.type = Type("object", "kubernetes.DRADevice", fields=device)
    device.declare(fields)
    return device, Environment({"device": device.type}, minor, libraries=frozenset(("bindings",)))


def _map(key: CelShape, element: CelShape) -> CelShape:
    found = CelShape("map", {}, map_of(STRING, element.type), _ENTRIES, 2, element)
    found.key = key
    return found

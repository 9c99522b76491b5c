"""LimitRange. Source: ValidateLimitRange (pkg/apis/core/validation), SetDefaults_LimitRangeItem."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, declare, enumeration, fields, names, quantity, validator
from kcheck_spec.workloads._resource_names import may_overcommit, of_container, standard
from kcheck_spec.workloads.resources import Amounts, read_amounts

limit_range = declare("invalid-limit-range", "Invalid LimitRange (min, max, default and defaultRequest conflict)")

tables = [fields("core/v1 LimitRangeItem", type=()), fields("core/v1 LimitRangeSpec", limits=())]

TYPES = ("Container", "Pod", "PersistentVolumeClaim")
_BAGS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_MAX_MILLI = (2**63 - 1) // 1000

# (value that must not be greater, than this value, field that the server names)
_ORDER = (
    ("min", "max", "min"),
    ("min", "defaultRequest", "defaultRequest"),
    ("defaultRequest", "max", "defaultRequest"),
    ("defaultRequest", "default", "defaultRequest"),
    ("min", "default", "default"),
    ("default", "max", "default"),
)


@validator("core/v1 LimitRangeSpec", rule=limit_range)
def limits_make_sense(spec: Node) -> Iterator[Problem]:
    """Each item of spec.limits, and no duplicate types."""
    seen: set[str] = set()
    for limit in spec["limits"]:
        kind = limit["type"]
        wrong = names.qualified_name(kind.text) if "/" in kind.text else "" if kind.text in TYPES else _no_type(kind.text)
        if wrong:
            yield Problem(kind, wrong, reason="Invalid")
        if kind.text in seen:
            yield Problem(kind, f'duplicate limits of type "{kind.text}"', help="merge them into one item", reason="Duplicate")
        seen.add(kind.text)
        yield from _limit_problems(limit, kind.text)


def _no_type(text: str) -> str:
    message = f'unknown limit type "{text}"' if text else "limit has no type"
    return Complaint(message, f"set type to {enumeration(TYPES, 'or')}")


def _limit_problems(limit: Node, kind: str) -> Iterator[Problem]:
    bags = {name: read_amounts(limit[name]) for name in _BAGS}
    if kind == "Container":
        # The server's defaults for limits of containers: default from max, defaultRequest from default, otherwise from min.
        bags["default"] = {**bags["max"], **bags["default"]}
        bags["defaultRequest"] = {**bags["min"], **bags["default"], **bags["defaultRequest"]}
    if kind == "Pod":
        for name in ("default", "defaultRequest"):
            if bags[name]:
                message = f"{name} is not allowed for limits of type Pod"
                yield Problem(limit[name], message, help=f"remove {name}", reason="Forbidden", at="key")
                bags[name] = {}
    if kind == "PersistentVolumeClaim" and "storage" not in bags["min"] and "storage" not in bags["max"]:
        message = "limits of type PersistentVolumeClaim have neither min nor max for storage"
        yield Problem(limit.virtual("limits"), message, help="add storage to min or max", reason="Required")
    rule = of_container if kind in ("Pod", "Container") else standard
    for name, amounts in bags.items():
        for key in amounts:
            wrong = rule(key)
            if wrong and key not in limit[name]:
                wrong = f"{name} inherits {key}, which is not a valid resource there"
            if wrong:
                yield Problem(_present(limit, key, name, *_BAGS), wrong, reason="Invalid", at="key", field=limit[name][key])
    for key in {key: None for amounts in bags.values() for key in amounts}:
        yield from _contradictions(limit, key, {name: amounts[key] for name, amounts in bags.items() if key in amounts})


def _contradictions(limit: Node, key: str, amounts: Amounts) -> Iterator[Problem]:
    """Values that contradict each other in the limits of one resource."""
    for less, more, where in _ORDER:
        if less in amounts and more in amounts and amounts[less] > amounts[more]:
            message = Complaint(
                f"{less} {key}: {amounts[less]} is greater than {more} {key}: {amounts[more]}", f"lower {less} or raise {more}"
            )
            yield Problem(_present(limit, key, where, less, more), message, reason="Invalid", field=limit[where][key])
    ratio = amounts.get("maxLimitRequestRatio")
    if ratio is not None:
        node = limit["maxLimitRequestRatio"][key]
        if ratio < quantity.parse("1"):
            yield Problem(node, f"maxLimitRequestRatio {key}: {ratio} is less than 1", help="use 1 or more", reason="Invalid")
        if "min" in amounts and "max" in amounts and _exceeds(ratio, amounts["min"], amounts["max"]):
            bounds = f"min {amounts['min']} and max {amounts['max']}"
            message = Complaint(f"maxLimitRequestRatio {key}: {ratio} is greater than the ratio of {bounds}")
            yield Problem(node, message, help="lower maxLimitRequestRatio", reason="Invalid")
    default, request = amounts.get("default"), amounts.get("defaultRequest")
    if not may_overcommit(key) and default is not None and request is not None and default != request:
        message = Complaint(
            f"{key} cannot be overcommitted, but defaultRequest {request} differs from default {default}", "set both to the same value"
        )
        yield Problem(_present(limit, key, "defaultRequest", "default"), message, reason="Invalid", field=limit["defaultRequest"][key])


def _present(limit: Node, key: str, *bags: str) -> Node:
    """The first of these values that is in the manifest."""
    return next((limit[name][key] for name in bags if limit[name][key].exists), limit[bags[0]][key])


def _exceeds(ratio: quantity.Quantity, least: quantity.Quantity, most: quantity.Quantity) -> bool:
    """Whether a ratio is greater than max/min, computed as the server does: in thousandths if they fit 64 bits, otherwise in integers."""
    wholes = [each.scaled() for each in (ratio, least, most)]
    if all(each < _MAX_MILLI for each in wholes):
        milli = [each.milli for each in (ratio, least, most)]
        value, low, high = milli[0] / 1000, milli[1], milli[2]
    else:
        value, low, high = float(wholes[0]), wholes[1], wholes[2]
    bound = high / low if low else math.copysign(math.inf, high) if high else math.nan
    return value > bound

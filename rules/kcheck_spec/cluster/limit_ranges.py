"""LimitRange. Source: ValidateLimitRange (pkg/apis/core/validation), SetDefaults_LimitRangeItem."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, declare, fields, names, quantity, validator
from kcheck_spec.workloads._resource_names import may_overcommit, of_container, standard
from kcheck_spec.workloads.resources import Amounts, read_amounts

limit_range = declare("invalid-limit-range", "Invalid LimitRange (min, max, default and defaultRequest conflict)")

tables = [fields("core/v1 LimitRangeItem", type=()), fields("core/v1 LimitRangeSpec", limits=())]

TYPES = ("Container", "Pod", "PersistentVolumeClaim")
_BAGS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_MOST_MILLI = (2**63 - 1) // 1000

# (what must not be greater, than what, where the server says so)
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
    """Every limit by itself, and no type twice."""
    seen: set[str] = set()
    for limit in spec["limits"]:
        kind = limit["type"]
        wrong = names.qualified_name(kind.text) if "/" in kind.text else "" if kind.text in TYPES else _no_type(kind.text)
        if wrong:
            yield Problem(kind, wrong, reason="Invalid")
        if kind.text in seen:
            yield Problem(kind, f"there are limits of type {kind.text} already", help="put them together", reason="Duplicate")
        seen.add(kind.text)
        yield from _limit_problems(limit, kind.text)


def _no_type(text: str) -> str:
    return Complaint(f"{text or 'an empty type'} is no type of limit", f"write {', '.join(TYPES[:-1])} or {TYPES[-1]}")


def _limit_problems(limit: Node, kind: str) -> Iterator[Problem]:
    bags = {name: read_amounts(limit[name]) for name in _BAGS}
    if kind == "Container":
        # What the server adds to limits of containers: a default of max, a default request of default, else of min.
        bags["default"] = {**bags["max"], **bags["default"]}
        bags["defaultRequest"] = {**bags["min"], **bags["default"], **bags["defaultRequest"]}
    if kind == "Pod":
        for name in ("default", "defaultRequest"):
            if bags[name]:
                yield Problem(limit[name], f"limits of type Pod have no {name}", help="take it away", reason="Forbidden", at="key")
                bags[name] = {}
    if kind == "PersistentVolumeClaim" and "storage" not in bags["min"] and "storage" not in bags["max"]:
        yield Problem(
            limit.imaginary("limits"), "limits of claims are about storage", help="add min or max with storage", reason="Required"
        )
    rule = of_container if kind in ("Pod", "Container") else standard
    for name, amounts in bags.items():
        for key in amounts:
            wrong = rule(key)
            if wrong and key not in limit[name]:
                wrong = f"{key} is taken for {name} as well, where it is refused"
            if wrong:
                yield Problem(_present(limit, key, name, *_BAGS), wrong, reason="Invalid", at="key", field=limit[name][key])
    for key in {key: None for amounts in bags.values() for key in amounts}:
        yield from _contradictions(limit, key, {name: amounts[key] for name, amounts in bags.items() if key in amounts})


def _contradictions(limit: Node, key: str, amounts: Amounts) -> Iterator[Problem]:
    """What does not fit together in the limits of one resource."""
    for less, more, where in _ORDER:
        if less in amounts and more in amounts and amounts[less] > amounts[more]:
            message = Complaint(f"{less} {amounts[less]} of {key} is more than {more} {amounts[more]}", "lower the one or raise the other")
            yield Problem(_present(limit, key, where, less, more), message, reason="Invalid", field=limit[where][key])
    ratio = amounts.get("maxLimitRequestRatio")
    if ratio is not None:
        node = limit["maxLimitRequestRatio"][key]
        if ratio < quantity.parse("1"):
            yield Problem(
                node, f"a limit is never less than its request, so the ratio {ratio} is too small", help="write 1 or more", reason="Invalid"
            )
        if "min" in amounts and "max" in amounts and _exceeds(ratio, amounts["min"], amounts["max"]):
            message = Complaint(f"with min {amounts['min']} and max {amounts['max']} of {key} no ratio of {ratio} is possible", "lower it")
            yield Problem(node, message, reason="Invalid")
    default, request = amounts.get("default"), amounts.get("defaultRequest")
    if not may_overcommit(key) and default is not None and request is not None and default != request:
        message = Complaint(f"{key} cannot be overcommitted, so defaultRequest {request} must be default {default}", "make them the same")
        yield Problem(_present(limit, key, "defaultRequest", "default"), message, reason="Invalid", field=limit["defaultRequest"][key])


def _present(limit: Node, key: str, *bags: str) -> Node:
    """The first of these values that somebody wrote."""
    return next((limit[name][key] for name in bags if limit[name][key].exists), limit[bags[0]][key])


def _exceeds(ratio: quantity.Quantity, least: quantity.Quantity, most: quantity.Quantity) -> bool:
    """Whether a ratio is greater than max/min, computed as the server does: in thousandths where 64 bits hold them, else in wholes."""
    wholes = [each.scaled() for each in (ratio, least, most)]
    if all(each < _MOST_MILLI for each in wholes):
        milli = [each.milli for each in (ratio, least, most)]
        value, low, high = milli[0] / 1000, milli[1], milli[2]
    else:
        value, low, high = float(wholes[0]), wholes[1], wholes[2]
    bound = high / low if low else math.copysign(math.inf, high) if high else math.nan
    return value > bound

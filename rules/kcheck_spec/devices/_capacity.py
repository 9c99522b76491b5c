"""The capacity of a device, and the request policy for parts of it.

Source: validateRequestPolicy and its callees (pkg/apis/resource/validation/validation.go). Steps are computed with integers.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, quantity
from kcheck_spec.devices._names import too_many
from kcheck_spec.objects.common_constraints import amount, require

_MAX_VALUES = 10
_STEPS_UP_SINCE = 37
_NONE = quantity.Quantity(0)


def capacity_problems(capacity: Node, shared: bool, resource: Resource) -> Iterator[Problem]:
    """Yield problems of a requestPolicy. `shared`: the device can be allocated several times, each time with a part of its capacity."""
    policy = capacity["requestPolicy"]
    if not policy:
        return
    if not shared:
        message = "requestPolicy is only allowed for a device with allowMultipleAllocations: true"
        help = "add allowMultipleAllocations: true, or remove requestPolicy"
        yield Problem(policy, message, help=help, reason="Forbidden", at="key")
        return
    values, span, default = policy["validValues"], policy["validRange"], policy["default"]
    if len(values) and span:
        message = "requestPolicy.validValues and requestPolicy.validRange are mutually exclusive"
        yield Problem(span, message, help="remove one of them", reason="Forbidden", at="key", field=policy)
    elif not default and (len(values) or span):
        message = f"requestPolicy.default is required together with {(values if len(values) else span).name}"
        yield require(default, Complaint(message, "add default, the amount for claims that request none"))
    else:
        start = amount(default)
        # Another rule reports an invalid quantity.
        whole = amount(capacity["value"]) if capacity["value"] else _NONE
        if start is not None and whole is not None:
            yield from _values(policy, start, whole) if len(values) else _range(policy, start, whole, resource)


def _values(policy: Node, default: quantity.Quantity, whole: quantity.Quantity) -> Iterator[Problem]:
    """Yield problems of validValues: quantities in ascending order, without duplicates, that include the default."""
    values = policy["validValues"]
    yield from too_many(values, _MAX_VALUES)
    amounts = [amount(each) if each else _NONE for each in values]
    if None in amounts:
        return
    seen: set[int] = set()
    previous = None
    for node, each in zip(values, amounts, strict=True):
        assert each is not None
        if previous is not None and each < previous:
            yield Problem(node, f"validValues are not in ascending order: {each} follows {previous}", help="sort them", reason="Invalid")
        if each > whole:
            yield _beyond("validValues entry", node, each, whole)
        if each.scaled() in seen:
            message = f"duplicate validValues entry {each} (quantities are rounded up to integers)"
            yield Problem(node, message, help="remove one of them", reason="Duplicate")
        seen.add(each.scaled())
        previous = each
    if default not in amounts:
        message = f"default {default} is not in validValues"
        help = "add it to validValues, or use one of them"
        yield Problem(policy["default"], message, help=help, reason="Invalid", field=values)


def _beyond(what: str, node: Node, value: quantity.Quantity, whole: quantity.Quantity) -> Problem:
    return Problem(node, f"{what} {value} is greater than the capacity {whole}", help=f"use at most {whole}", reason="Invalid")


def _range(policy: Node, default: quantity.Quantity, whole: quantity.Quantity, resource: Resource) -> Iterator[Problem]:
    """Yield problems of validRange: min, max and step."""
    span = policy["validRange"]
    if not span:
        return
    least, most, step = span["min"], span["max"], span["step"]
    low, high = amount(least), amount(most)
    if not least:
        yield require(least, Complaint("validRange.min is required", "add min"))
        return
    if low is None:
        return
    start = policy["default"]
    if low > whole:
        yield _beyond("min", least, low, whole)
    if default < low:
        yield Problem(start, f"default {default} is less than min {low}", help=f"use {low} or more", reason="Invalid", field=least)
    if high is not None:
        if low > high:
            yield Problem(most, f"max {high} is less than min {low}", help=f"use {low} or more", reason="Invalid")
        if high > whole:
            yield _beyond("max", most, high, whole)
        if default > high:
            yield Problem(start, f"default {default} is greater than max {high}", help=f"use {high} or less", reason="Invalid", field=most)
    if step:
        yield from _steps(step, low, [(start, default), (most, high)], whole, resource)


def _steps(
    step: Node, low: quantity.Quantity, amounts: list[tuple[Node, quantity.Quantity | None]], whole: quantity.Quantity, resource: Resource
) -> Iterator[Problem]:
    """Yield an invalid step, and amounts that are not min plus a multiple of it."""
    stride = amount(step)
    if stride is None:
        return
    size = stride.scaled()
    # The API server divides by the step and panics for zero; before 1.37 it accepts a negative step.
    if size == 0 or (stride.sign < 0 and not resource.is_before(_STEPS_UP_SINCE)):
        help = "use a smaller step" if stride.sign > 0 else "use a step greater than 0, or remove step"
        yield Problem(step, f"step {stride} is not valid", help=help, reason="Invalid")
        return
    if _sum(low, stride) > whole:
        message = f"min {low} plus step {stride} is greater than the capacity {whole}"
        yield Problem(step, message, help="use a smaller step", reason="Invalid")
    for node, each in amounts:
        if each is not None and (each.scaled() - low.scaled()) % size:
            message = f"{node.name} {each} is not min {low} plus a multiple of step {stride}"
            yield Problem(node, message, help=f"change {node.name} or step", reason="Invalid", field=step)


def _sum(first: quantity.Quantity, second: quantity.Quantity) -> quantity.Quantity:
    try:
        return first + second
    except OverflowError:
        return max(first, second)

"""How much of a device there is, and which amounts of it can be asked for.

Source: validateRequestPolicy and what it calls (pkg/apis/resource/validation/validation.go). Steps are counted in whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, quantity
from kcheck_spec.devices._names import too_many
from kcheck_spec.objects.common_constraints import amount, require

_MOST_VALUES = 10
_STEPS_UP_SINCE = 37
_NONE = quantity.Quantity(0)


def capacity_problems(capacity: Node, shared: bool, resource: Resource) -> Iterator[Problem]:
    """`shared`: the device can be allocated several times, each time with a part of its capacity."""
    policy = capacity["requestPolicy"]
    if not policy:
        return
    if not shared:
        message = Complaint(
            "only a device with allowMultipleAllocations: true is shared by amounts", "add that, or take requestPolicy away"
        )
        yield Problem(policy, message, reason="Forbidden", at="key")
        return
    values, span, default = policy["validValues"], policy["validRange"], policy["default"]
    if len(values) and span:
        message = Complaint("amounts are given by validValues or validRange, not both", "take one of the two away")
        yield Problem(span, message, reason="Forbidden", at="key", field=policy)
    elif not default and (len(values) or span):
        yield require(
            default,
            Complaint(f"{(values if len(values) else span).name} needs a default, which claims get that ask for no amount", "add it"),
        )
    else:
        start = amount(default)
        # An amount that nobody can read is told elsewhere.
        whole = amount(capacity["value"]) if capacity["value"] else _NONE
        if start is not None and whole is not None:
            yield from _values(policy, start, whole) if len(values) else _range(policy, start, whole, resource)


def _values(policy: Node, default: quantity.Quantity, whole: quantity.Quantity) -> Iterator[Problem]:
    """Amounts one by one, in ascending order."""
    values = policy["validValues"]
    yield from too_many(values, _MOST_VALUES, "amounts")
    amounts = [amount(each) if each else _NONE for each in values]
    if None in amounts:
        return
    seen: set[int] = set()
    previous = None
    for node, each in zip(values, amounts, strict=True):
        assert each is not None
        if previous is not None and each < previous:
            yield Problem(node, f"{each} is less than the amount before it", help="write the amounts in ascending order", reason="Invalid")
        if each > whole:
            yield Problem(node, f"{each} is more than there is, {whole}", help="write less", reason="Invalid")
        if each.scaled() in seen:
            yield Problem(
                node, f"{each} is listed already, to the nearest whole number above", help="take one of the two away", reason="Duplicate"
            )
        seen.add(each.scaled())
        previous = each
    if default not in amounts:
        message = f"the default {default} is none of validValues"
        yield Problem(policy["default"], message, help="add it there, or write one of them", reason="Invalid", field=values)


def _range(policy: Node, default: quantity.Quantity, whole: quantity.Quantity, resource: Resource) -> Iterator[Problem]:
    """Amounts from the least to the most, in steps."""
    span = policy["validRange"]
    if not span:
        return
    least, most, step = span["min"], span["max"], span["step"]
    low, high = amount(least), amount(most)
    if not least:
        yield require(least, Complaint("a range begins somewhere", "add min"))
        return
    if low is None:
        return
    start = policy["default"]
    if low > whole:
        yield Problem(least, f"{low} is more than there is, {whole}", help="write less", reason="Invalid")
    if default < low:
        yield Problem(start, f"the default {default} is less than min, {low}", help=f"write {low} or more", reason="Invalid", field=least)
    if high is not None:
        if low > high:
            yield Problem(most, f"max {high} is less than min, {low}", help=f"write {low} or more", reason="Invalid")
        if high > whole:
            yield Problem(most, f"{high} is more than there is, {whole}", help="write less", reason="Invalid")
        if default > high:
            yield Problem(
                start, f"the default {default} is more than max, {high}", help=f"write {high} or less", reason="Invalid", field=most
            )
    if step:
        yield from _steps(step, low, [(start, default), (most, high)], whole, resource)


def _steps(
    step: Node, low: quantity.Quantity, amounts: list[tuple[Node, quantity.Quantity | None]], whole: quantity.Quantity, resource: Resource
) -> Iterator[Problem]:
    """Each amount is some steps above the least."""
    stride = amount(step)
    if stride is None:
        return
    size = stride.scaled()
    # The server divides by the step, and one of zero brings it down; one below zero it takes.
    if size == 0 or (stride.sign < 0 and not resource.is_before(_STEPS_UP_SINCE)):
        hint = "write less" if stride.sign > 0 else "write more than 0, or take step away"
        yield Problem(step, f"a step of {stride} leads nowhere", help=hint, reason="Invalid")
        return
    if _sum(low, stride) > whole:
        yield Problem(step, f"one step of {stride} from {low} leads beyond what there is, {whole}", help="write less", reason="Invalid")
    for node, each in amounts:
        if each is not None and (each.scaled() - low.scaled()) % size:
            message = f"{node.name} {each} is no whole number of steps of {stride} from {low}"
            yield Problem(node, message, help="write one that is, or another step", reason="Invalid", field=step)


def _sum(first: quantity.Quantity, second: quantity.Quantity) -> quantity.Quantity:
    try:
        return first + second
    except OverflowError:
        return max(first, second)

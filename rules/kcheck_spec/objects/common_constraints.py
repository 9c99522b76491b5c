"""Constraints that many kinds share: each has its rule, reason and message in one place.

Source: k8s.io/apimachinery/pkg/util/validation and the validation packages of kubernetes/kubernetes. In Go, the zero value of a
field that is not a pointer equals an absent one, so most constraints accept "" and 0; see `given`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kcheck.api import (
    WARNING,
    Constraint,
    Node,
    Problem,
    Reason,
    Rule,
    constraint,
    declare,
    missing,
    names,
    quantity,
    suggest,
)
from kcheck_spec.objects.engine import required_field, unsupported_value

object_name = declare("invalid-name", "Invalid name (not a DNS label, DNS subdomain or other required format)", fixable=True)
port_number = declare("invalid-port-number", "Port number is not between 1 and 65535")
number_range = declare("number-out-of-range", "Number is outside the allowed range of its field")
deprecated_field = declare(
    "deprecated-field",
    "Field, annotation or value is deprecated; the API server warns about it",
    severity=WARNING,
    groups=("upgrades", "deprecated"),
    fixable=True,
)
dubious_setting = declare(
    "ineffective-setting", "Setting is accepted with a warning and has no effect or a different one", severity=WARNING, fixable=True
)


def given(node: Node) -> bool:
    """Whether there is a value that Go can distinguish from an absent one."""
    value = node.value
    return value.__class__ is bool or bool(value)


def require(node: Node, what: str = "") -> Problem:
    """The problem of a required value that is absent. `what`: a message that replaces the usual one."""
    return Problem(node, what, reason="Required") if what else missing(node)


@constraint(required_field, of_absent=True)
def required(node: Node) -> Problem | None:
    """The value must be other than "", 0, [] and {}."""
    return None if given(node) else require(node)


@constraint(required_field, of_absent=True)
def present(node: Node) -> Problem | None:
    """The value must be present; a zero value is accepted (a pointer in Go)."""
    return None if node else require(node)


settled = Constraint(required_field, lambda node: None, closed=True)
"""Another check covers the field: neither its presence nor the values that the definitions list are checked."""

dropped = Constraint(required_field, lambda node: None, dropped=True)
"""The server removes the field before validation, so only the shape of its contents is checked."""


def one_of(*allowed: str, of: Rule = unsupported_value, empty: bool = True) -> Constraint:
    """A string that is one of these words; "" is accepted unless the field is a pointer (`empty`). Replaces what the definitions allow."""

    def look(node: Node) -> Problem | None:
        if not isinstance(node.value, str) or node.value in allowed or (empty and not node.value):
            return None
        return not_supported(node, allowed)

    return Constraint(of, look, closed=True)


def not_supported(node: Node, allowed: Iterable[str]) -> Problem:
    """The problem of a value that is not among those allowed, also of an absent one."""
    words = list(allowed)
    hint = suggest(node.text, words)
    wrong = f'"{node.text}" is not supported' if node.text else "is empty" if node else "is missing"
    return Problem(node, f"{_name(node)} {wrong}", help=hint, reason="NotSupported")


def _name(node: Node) -> str:
    """The name of the field that has a value, or of the list that contains it."""
    return node.name or (node.parent.name if node.parent is not None else "") or "value"


def text(rule: Callable[[str], str], of: Rule = object_name, reason: Reason = "Invalid", *, empty: bool = True) -> Constraint:
    """A string that a rule of kcheck.kube.names accepts; the rule returns a Complaint or "".

    `empty`: whether an empty string is accepted; in a pointer it is a value.
    """

    def look(node: Node) -> Problem | None:
        if not node.text and (empty or node.value != ""):
            return None
        wrong = rule(node.text)
        return Problem(node, wrong, reason=reason) if wrong else None

    return Constraint(of, look)


def in_range(least: int | None, most: int | None, of: Rule = number_range, *, zero: bool = True) -> Constraint:
    """An integer between two bounds, both inclusive. `zero`: whether 0 is checked or accepted as an absent value."""

    def look(node: Node) -> Problem | None:
        value = node.integer
        if value is None or (value == 0 and not zero):
            return None
        if (least is None or value >= least) and (most is None or value <= most):
            return None
        return Problem(node, f"{_name(node)} {value} is out of range ({_bounds(least, most)})", reason="Invalid")

    return Constraint(of, look)


def _bounds(least: int | None, most: int | None) -> str:
    if most is None:
        return f"{least} or more"
    return f"{most} or less" if least is None else f"{least}-{most}" if least >= 0 else f"{least} to {most}"


def amount(node: Node) -> quantity.Quantity | None:
    """The quantity of a node, None where the node is absent or its value is not a valid quantity."""
    if node.value.__class__ not in (str, int, float):
        return None
    try:
        return quantity.parse(str(node.value))
    except quantity.BadQuantity:
        return None


non_negative = in_range(0, None)
positive = in_range(1, None)
port = in_range(1, 65535, port_number)
"""A required port: 0 is rejected."""
optional_port = in_range(1, 65535, port_number, zero=False)
"""A port in a field that is not a pointer: 0 is the same as absent."""
dns_label = text(names.dns_label)
dns_subdomain = text(names.dns_subdomain)
qualified_name = text(names.qualified_name)
path_segment = text(names.path_segment)


def each(inner: Constraint) -> Constraint:
    """The same constraint for every item of a list or value of a map."""

    def look(node: Node) -> Iterator[Problem]:
        for child in node:
            found = inner.look(child)
            if isinstance(found, Problem):
                yield found
            elif found is not None:
                yield from found

    return Constraint(inner.rule, look)


def unique(items: Iterable[Node], key: Callable[[Node], Any], message: Callable[[Node], str], field: str = "") -> Iterator[Problem]:
    """A Duplicate problem for every item whose key occurred before. `field`: the child that the server names, "" for the item."""
    seen: set[Any] = set()
    for item in items:
        value = key(item)
        if value in seen:
            yield Problem(item[field] if field else item, message(item), reason="Duplicate")
        seen.add(value)

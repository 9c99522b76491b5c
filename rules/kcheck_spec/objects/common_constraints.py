"""Constraints that many kinds share: each knows its rule, its reason and its message once for all of them.

Source: k8s.io/apimachinery/pkg/util/validation and the validation packages of kubernetes/kubernetes. To Go, the zero value of a
field that is no pointer is an absent one, so most constraints pass over "" and 0; `given` is what tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kcheck.api import WARNING, Constraint, Node, Problem, Reason, Rule, constraint, declare, missing, names, nearest, quantity
from kcheck_spec.objects.shape import required_field, unsupported_value

object_name = declare("invalid-name", "Invalid name (not a DNS label, DNS subdomain or other required format)")
port_number = declare("invalid-port-number", "Port number is not between 1 and 65535")
number_range = declare("number-out-of-range", "Number is outside the allowed range of its field")
deprecated_field = declare("deprecated-field", "Field, annotation or value is deprecated; the API server warns about it", severity=WARNING)
dubious_setting = declare(
    "ineffective-setting", "Setting is accepted with a warning and has no effect or a different one", severity=WARNING
)


def given(node: Node) -> bool:
    """Whether there is a value that Go can tell from none."""
    value = node.value
    return value.__class__ is bool or bool(value)


def require(node: Node, what: str = "") -> Problem:
    """The problem of a value that must be there, with a message of its own where the usual one says too little."""
    return Problem(node, what, reason="Required") if what else missing(node)


@constraint(required_field, of_absent=True)
def required(node: Node) -> Problem | None:
    """There must be a value other than "", 0, [] and {}."""
    return None if given(node) else require(node)


@constraint(required_field, of_absent=True)
def present(node: Node) -> Problem | None:
    """There must be a value; a zero one will do (a pointer in Go)."""
    return None if node else require(node)


settled = Constraint(required_field, lambda node: None, closed=True)
"""A check looks after the field: neither its being required nor the values that the definitions list are asked."""

dropped = Constraint(required_field, lambda node: None, dropped=True)
"""The server takes the field away before it validates, so only the shape of its contents counts."""


def one_of(*allowed: str, of: Rule = unsupported_value, empty: bool = True) -> Constraint:
    """Text that is one of these words; "" passes unless the field is a pointer (`empty`). Ends what the definitions allow."""

    def look(node: Node) -> Problem | None:
        if not isinstance(node.value, str) or node.value in allowed or (empty and not node.value):
            return None
        return not_supported(node, allowed)

    return Constraint(of, look, closed=True)


def not_supported(node: Node, allowed: Iterable[str]) -> Problem:
    """The problem of a word that is not among those allowed."""
    words = list(allowed)
    near = nearest(node.text, words)
    hint = f"write {near}" if near else f"write one of {', '.join(words)}"
    return Problem(node, f"{node.text or 'an empty value'} is not supported here", help=hint, reason="NotSupported")


def text(rule: Callable[[str], str], of: Rule = object_name, reason: Reason = "Invalid", *, empty: bool = True) -> Constraint:
    """Text that a rule of kcheck.kube.names accepts; the rule returns its complaint or "".

    `empty`: whether an empty text passes; in a pointer it is a value.
    """

    def look(node: Node) -> Problem | None:
        if not node.text and (empty or node.value != ""):
            return None
        wrong = rule(node.text)
        return Problem(node, wrong, reason=reason) if wrong else None

    return Constraint(of, look)


def in_range(least: int | None, most: int | None, of: Rule = number_range, *, zero: bool = True) -> Constraint:
    """A whole number between two bounds, both allowed. `zero`: whether 0 is judged, too, or passes as an absent value."""

    def look(node: Node) -> Problem | None:
        value = node.integer
        if value is None or (value == 0 and not zero):
            return None
        if (least is None or value >= least) and (most is None or value <= most):
            return None
        return Problem(node, f"{value} is out of range", help=f"write {_bounds(least, most)}", reason="Invalid")

    return Constraint(of, look)


def _bounds(least: int | None, most: int | None) -> str:
    if most is None:
        return f"a number from {least} up" if least else "a number that is not negative"
    return f"a number up to {most}" if least is None else f"a number from {least} to {most}"


def amount(node: Node) -> quantity.Quantity | None:
    """The quantity that stands here, None where there is none or nobody can read it."""
    if node.value.__class__ not in (str, int, float):
        return None
    try:
        return quantity.parse(str(node.value))
    except quantity.BadQuantity:
        return None


non_negative = in_range(0, None)
positive = in_range(1, None)
port = in_range(1, 65535, port_number)
"""A port that must be given: 0 is refused."""
optional_port = in_range(1, 65535, port_number, zero=False)
"""A port in a field that is no pointer: 0 is none."""
dns_label = text(names.dns_label)
dns_subdomain = text(names.dns_subdomain)
qualified_name = text(names.qualified_name)
path_segment = text(names.path_segment)


def each(inner: Constraint) -> Constraint:
    """The same asked of every item of a list or value of a map."""

    def look(node: Node) -> Iterator[Problem]:
        for child in node:
            found = inner.look(child)
            if isinstance(found, Problem):
                yield found
            elif found is not None:
                yield from found

    return Constraint(inner.rule, look)


def unique(items: Iterable[Node], key: Callable[[Node], Any], message: Callable[[Node], str], field: str = "") -> Iterator[Problem]:
    """A Duplicate problem for every item whose key was seen before. `field`: the child that the server names, "" for the item."""
    seen: set[Any] = set()
    for item in items:
        value = key(item)
        if value in seen:
            yield Problem(item[field] if field else item, message(item), reason="Duplicate")
        seen.add(value)

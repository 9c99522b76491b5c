"""Constraints of single fields, as tables by API type, and functions of whole types. Both belong to a topic: a Rule without a
function of its own, under whose id users see and suppress what they find.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kcheck.finding.problem import Problem
from kcheck.rule.rule import Late, Rule, first_parameter
from kcheck.text.record import NamedTuple
from kcheck.tree.node import Node

Look = Callable[[Node], Problem | Iterable[Problem] | None]


class Constraint:
    """What the value of a field must be. `look` returns the problem of a node, several, or None.

    `of_absent`: it is asked of missing and null values too (a requirement); all others are asked of present ones only.
    `closed`: it says all that is allowed, so that the values which the definitions list are not asked as well.
    `dropped`: the API server takes the field away before it validates, so that of what stands in it only the shape counts.
    """

    __slots__ = ("closed", "dropped", "look", "of_absent", "topic")

    def __init__(self, topic: Rule, look: Look, of_absent: bool = False, closed: bool = False, dropped: bool = False) -> None:
        self.topic = topic
        self.look = look
        self.of_absent = of_absent
        self.closed = closed
        self.dropped = dropped


class FieldTable(NamedTuple):
    """Constraints of the fields of some API types.

    A table owns the fields that it names: whether they are required is its own business, not that of the definitions, whose
    lists of required fields the API server does not always enforce. `name=()` says just that the field may be absent.
    """

    types: tuple[str, ...]
    fields: dict[str, tuple[Constraint, ...]]

    def load(self) -> FieldTable:
        """The table itself."""
        return self


class LateTable(NamedTuple):
    """A table whose module need not be loaded yet: the one of this `number` in a list of tables."""

    types: tuple[str, ...]
    tables: Late
    number: int

    def load(self) -> FieldTable:
        """The table itself."""
        tables: list[FieldTable] = self.tables.load()
        return tables[self.number]


class Check(NamedTuple):
    """A function of whole values of some API types, or, without types, of every object of a known kind. `subject`: what it is handed;
    `having`: it is asked where one of these fields is written, of the value or, without types, of the object's metadata.
    """

    topic: Rule
    types: tuple[str, ...]
    subject: type
    function: Callable[..., Iterable[Problem]] | Late
    having: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """Where the function is defined."""
        return self.function.module if isinstance(self.function, Late) else self.function.__module__

    def load(self) -> Callable[..., Iterable[Problem]]:
        """The function itself."""
        function: Any = self.function.load().function if isinstance(self.function, Late) else self.function
        return function  # type: ignore[no-any-return]


def constraint(topic: Rule, *, of_absent: bool = False, closed: bool = False) -> Callable[[Look], Constraint]:
    """Make a Constraint of a function from Node to a problem, several, or None."""
    return lambda look: Constraint(topic, look, of_absent, closed)


def fields(types: str | Iterable[str], /, **constraints: Constraint | tuple[Constraint, ...]) -> FieldTable:
    """Constraints of the named fields of one or several API types."""
    names = (types,) if isinstance(types, str) else tuple(types)
    return FieldTable(names, {k: c if isinstance(c, tuple) else (c,) for k, c in constraints.items()})


def checks(
    types: str | Iterable[str] = (), /, *, topic: Rule, having: str | Iterable[str] = ()
) -> Callable[[Callable[..., Iterable[Problem]]], Check]:
    """Make a Check of a generator function whose first parameter is a Node, Pod, Container or Resource.

    Without types it looks at every object of a known kind, built in or defined by a CRD, once. `having`: fields of the value (without
    types, of the object's metadata) without which it has nothing to say: it is asked where one of them is written.
    """
    names = (types,) if isinstance(types, str) else tuple(types)
    about = (having,) if isinstance(having, str) else tuple(having)

    def make(function: Callable[..., Iterable[Problem]]) -> Check:
        return Check(topic, names, first_parameter(function), function, about)

    return make

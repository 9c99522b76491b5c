"""Constraints of single fields, as tables by API type, and validators of whole values. Both belong to a declared rule: a Rule without
a function of its own, whose id users see and suppress.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kcheck.finding.problem import Problem
from kcheck.rule.rule import Late, Rule, first_parameter, words
from kcheck.text.record import NamedTuple
from kcheck.yaml.node import Node

Look = Callable[[Node], Problem | Iterable[Problem] | None]


class Constraint:
    """What the value of a field must be. `look` returns the problem of a node, several, or None.

    `of_absent`: it is asked of missing and null values too (a requirement); all others are asked of present ones only.
    `closed`: it says all that is allowed, so that the values which the definitions list are not asked as well.
    `dropped`: the API server takes the field away before it validates, so that of what stands in it only the shape counts.
    """

    __slots__ = ("closed", "dropped", "look", "of_absent", "rule")

    def __init__(self, rule: Rule, look: Look, of_absent: bool = False, closed: bool = False, dropped: bool = False) -> None:
        self.rule = rule
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


class Validator(NamedTuple):
    """A function that reports problems of whole values under the id of a declared rule. `subject`: the type of its parameter.

    With `types` it is called for values of these API types, without for every object of a known kind. `fields`, `metadata`: it is
    called only where one of these fields is present, in the value or in the object's metadata.
    """

    rule: Rule
    types: tuple[str, ...]
    subject: type
    function: Callable[..., Iterable[Problem]] | Late
    fields: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """Where the function is defined."""
        return self.function.module if isinstance(self.function, Late) else self.function.__module__

    def load(self) -> Callable[..., Iterable[Problem]]:
        """The function itself."""
        function: Any = self.function.load().function if isinstance(self.function, Late) else self.function
        return function  # type: ignore[no-any-return]


def constraint(rule: Rule, *, of_absent: bool = False, closed: bool = False) -> Callable[[Look], Constraint]:
    """Make a Constraint of a function from Node to a problem, several, or None."""
    return lambda look: Constraint(rule, look, of_absent, closed)


def fields(types: str | Iterable[str], /, **constraints: Constraint | tuple[Constraint, ...]) -> FieldTable:
    """Constraints of the named fields of one or several API types."""
    return FieldTable(words(types), {k: c if isinstance(c, tuple) else (c,) for k, c in constraints.items()})


def validator(
    types: str | Iterable[str] = (), /, *, rule: Rule, fields: str | Iterable[str] = (), metadata: str | Iterable[str] = ()
) -> Callable[[Callable[..., Iterable[Problem]]], Validator]:
    """Make a Validator of a generator function whose first parameter is a Node, Pod, Container or Resource.

    `types`: API types such as "core/v1 Container"; without any it is called once for every object of a known kind, built in or defined by
    a CustomResourceDefinition. `rule`: the declared rule that its problems are reported under. `fields`: it is called only for values in
    which one of these fields is present. `metadata`: without types, only for objects with one of these fields in their metadata.
    Raises TypeError for a wrong signature or combination.
    """
    names = words(types)
    about, described = words(fields), words(metadata)

    def make(function: Callable[..., Iterable[Problem]]) -> Validator:
        if about and not names:
            raise TypeError(f"validator of {rule.id}: fields= needs types; use metadata= for every object")
        if described and names:
            raise TypeError(f"validator of {rule.id}: metadata= is for validators without types; use fields=")
        return Validator(rule, names, first_parameter(function), function, about, described)

    return make

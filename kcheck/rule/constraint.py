"""Constraints of single fields, in tables by API type, and validators of whole values.

Both report under the id of a declared rule: a Rule without a function, which users can see and suppress.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from kcheck.finding.problem import Problem
from kcheck.rule.rule import Late, Rule, first_parameter, words
from kcheck.yaml.node import Node

Look = Callable[[Node], Problem | Iterable[Problem] | None]


class Constraint:
    """The requirement that a field's value must meet. `look` returns one problem of a node, several problems, or None.

    Attributes:
        of_absent: also evaluated for missing and null values (a requirement); all other constraints are evaluated for present values only.
        closed: describes all allowed values, so the enum of the definitions is not checked as well.
        dropped: the API server removes the field before validation, so only the shape of its contents is checked.
        since: N of the first Kubernetes version 1.N in which the requirement applies; 0 for all.
        validated_since: N of the first Kubernetes version 1.N that validates the contents of the field; 0 for all. Older versions store
            invalid contents, and reject the objects that a controller creates from them.
    """

    __slots__ = ("closed", "dropped", "look", "of_absent", "rule", "since", "validated_since")

    def __init__(
        self, rule: Rule, look: Look, of_absent: bool = False, closed: bool = False, dropped: bool = False, since: int = 0,
        validated_since: int = 0,
    ) -> None:  # fmt: skip
        self.rule = rule
        self.look = look
        self.of_absent = of_absent
        self.closed = closed
        self.dropped = dropped
        self.since = since
        self.validated_since = validated_since


class FieldTable(NamedTuple):
    """Constraints of the fields of some API types.

    A table owns the fields that it names: the table decides whether they are required, not the definitions, whose lists of required
    fields are not always enforced by the API server. `name=()` declares only that the field may be absent.
    """

    types: tuple[str, ...]
    fields: dict[str, tuple[Constraint, ...]]

    def load(self) -> FieldTable:
        """Return this table."""
        return self


class LateTable(NamedTuple):
    """Reference to a table whose module is loaded on demand: the table with index `number` in a list of tables."""

    types: tuple[str, ...]
    tables: Late
    number: int

    def load(self) -> FieldTable:
        """Import the module and return the table."""
        tables: list[FieldTable] = self.tables.load()
        return tables[self.number]


class Validator(NamedTuple):
    """A function that reports problems of whole values under the id of a declared rule.

    Attributes:
        rule: the declared rule.
        types: API types whose values the function is called with; empty for every object of a known kind.
        subject: the type of the function's first parameter.
        function: the function, or where to import it from.
        fields: the function is called only if one of these fields is present in the value.
        metadata: the function is called only if one of these fields is present in the object's metadata.
    """

    rule: Rule
    types: tuple[str, ...]
    subject: type
    function: Callable[..., Iterable[Problem]] | Late
    fields: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """The name of the module that defines the function."""
        return self.function.module if isinstance(self.function, Late) else self.function.__module__

    def load(self) -> Callable[..., Iterable[Problem]]:
        """Return the function, importing its module if necessary."""
        function: Any = self.function.load().function if isinstance(self.function, Late) else self.function
        return function  # type: ignore[no-any-return]


def constraint(rule: Rule, *, of_absent: bool = False, closed: bool = False, since: int = 0) -> Callable[[Look], Constraint]:
    """Decorator that makes a Constraint of a function that takes a Node and returns one problem, several problems, or None."""
    return lambda look: Constraint(rule, look, of_absent, closed, since=since)


def fields(types: str | Iterable[str], /, **constraints: Constraint | tuple[Constraint, ...]) -> FieldTable:
    """Return a table with constraints of the named fields of one or several API types."""
    return FieldTable(words(types), {k: c if isinstance(c, tuple) else (c,) for k, c in constraints.items()})


def validator(
    types: str | Iterable[str] = (), /, *, rule: Rule, fields: str | Iterable[str] = (), metadata: str | Iterable[str] = ()
) -> Callable[[Callable[..., Iterable[Problem]]], Validator]:
    """Decorator that makes a Validator of a generator function whose first parameter is a Node, Pod, Container or Resource.

    `types`: API types such as "core/v1 Container"; without types the function is called once for every object of a known kind, built in
    or defined by a CustomResourceDefinition. `rule`: the declared rule under which problems are reported. `fields`: call the function only
    for values that have one of these fields. `metadata`: only without types; call it only for objects with one of these fields in their
    metadata. Raises TypeError for an unsupported signature or combination.
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

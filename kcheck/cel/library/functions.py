"""Implementations of function overloads."""

from __future__ import annotations

from collections.abc import Callable

from kcheck.cel.language.declarations import Overload
from kcheck.cel.library.libraries import functions
from kcheck.cel.values.values import Test, Value, test_of
from kcheck.text.record import NamedTuple

Implementation = Callable[..., Value]


class Function(NamedTuple):
    """The implementation of an overload: tests of the arguments (None if any value is accepted) and the function."""

    overload: Overload
    tests: tuple[Test | None, ...]
    run: Implementation


def implementation(overload: Overload) -> Function:
    """Return the implementation of an overload."""
    return Function(overload, tuple(test_of(each.kind, each.name) for each in overload.args), functions(overload.library)[overload.id])

"""Where an evaluation keeps its variables and what it has spent."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from kcheck.cel.values.values import Cancelled, Value

Step = Callable[["Frame"], Value]
"""A compiled expression."""

_LEVELS = 80
_DEEP = 12_000


MEMORY = 64_000_000
"""Characters that one evaluation may make; an item of a list counts as `ITEM`."""
ITEM = 16


class Frame(dict[str, Value]):
    """Variables by name; those of macros under names of their own. `spent`: cost so far, as the server counts it, `limit`: the most.

    `made`: characters of all results so far: the server's costs do not follow the size of every result.
    """

    __slots__ = ("limit", "made", "spent")

    def __init__(self, variables: Mapping[str, Value], limit: int) -> None:
        super().__init__(variables)
        self.spent = 0
        self.made = 0
        self.limit = limit

    def charge(self, cost: int) -> None:
        """Add to what is spent. Raises Cancelled past the limit."""
        self.spent += cost
        if self.spent > self.limit:
            raise Cancelled("operation cancelled: actual cost limit exceeded")

    def make(self, size: int) -> None:
        """Add to what is made. Raises Cancelled where that is too much."""
        self.made += size
        if self.made > MEMORY:
            raise Cancelled("operation cancelled: the results are too large")


@contextmanager
def deep_stack(levels: int) -> Iterator[None]:
    """Room for the calls that an expression of so many levels needs."""
    before = sys.getrecursionlimit()
    if levels <= _LEVELS or before >= _DEEP:
        yield
        return
    sys.setrecursionlimit(_DEEP)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)

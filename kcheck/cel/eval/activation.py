"""The state of an evaluation: variables and accumulated cost."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from kcheck.cel.values.values import Cancelled, Value
from kcheck.text.shared_change import SharedChange

Step = Callable[["Frame"], Value]
"""A compiled expression."""

MAX_DEFAULT_DEPTH = 80
"""The levels of an expression above which the recursion limit is raised."""
_RAISED_RECURSION_LIMIT = 12_000


MAX_RESULT_CHARS = 64_000_000
"""The maximum number of characters that one evaluation may create; a list item counts as `CHARS_PER_ITEM`."""
CHARS_PER_ITEM = 16


class Frame(dict[str, Value]):
    """Variables by name; variables of macros have unique names.

    Attributes:
        spent: the accumulated cost, counted like the server's.
        limit: the maximum cost.
        allocated: the accumulated characters of all results, because the server's cost model does not cover the size of every result.
    """

    __slots__ = ("allocated", "limit", "spent")

    def __init__(self, variables: Mapping[str, Value], limit: int) -> None:
        super().__init__(variables)
        self.spent = 0
        self.allocated = 0
        self.limit = limit

    def charge(self, cost: int) -> None:
        """Add to the accumulated cost. Raises Cancelled above the limit."""
        self.spent += cost
        if self.spent > self.limit:
            raise Cancelled("operation cancelled: actual cost limit exceeded")

    def allocate(self, size: int) -> None:
        """Add to the accumulated size of results. Raises Cancelled above the maximum."""
        self.allocated += size
        if self.allocated > MAX_RESULT_CHARS:
            raise Cancelled("operation cancelled: the results are too large")


@contextmanager
def deep_stack(levels: int) -> Iterator[None]:
    """Raise the recursion limit temporarily if an expression with this many levels needs it."""
    if levels <= MAX_DEFAULT_DEPTH:
        yield
        return
    with _raised_limit.made():
        yield


def _raise_limit() -> Callable[[], object]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RAISED_RECURSION_LIMIT))
    return partial(sys.setrecursionlimit, before)


_raised_limit = SharedChange(_raise_limit)

"""Canonical bytes of values for comparison. They are written and hashed, and never deserialized."""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from typing import Any

from kcheck.facts.facts import Facts
from kcheck.kube.location import Location
from kcheck.text.span import Range


def canonical(value: object) -> bytes:
    """Return bytes that are equal for equal values in any process.

    A plain pickle also depends on object identities and on the iteration order of sets.
    """
    pickler = _Canonical()
    pickler.dump(value)
    return pickler.buffer.getvalue()


class _Canonical(pickle.Pickler):
    def __init__(self) -> None:
        self.buffer = io.BytesIO()
        super().__init__(self.buffer, pickle.HIGHEST_PROTOCOL)
        self.fast = True

    def persistent_id(self, value: Any) -> Any:
        return sorted(value) if value.__class__ is frozenset else None


def canonical_without_lines(facts: Sequence[Facts]) -> bytes:
    """Return bytes that are equal if the facts are equal except for line numbers. Lines may have been added or removed in between."""
    pickler = _CanonicalWithoutLines()
    pickler.dump(list(facts))
    # The relative order of locations is part of the result.
    order = {start: number for number, start in enumerate(sorted(set(pickler.starts)))}
    pickler.dump([order[start] for start in pickler.starts])
    return pickler.buffer.getvalue()


class _CanonicalWithoutLines(_Canonical):
    def __init__(self) -> None:
        super().__init__()
        self.starts: list[int] = []

    def persistent_id(self, value: Any) -> Any:
        if value.__class__ is Location:
            self.starts.append(value.start)
            line, column, end_line, end_column = value.range
            return tuple(value._replace(range=Range(0, column, end_line - line, end_column), start=0))
        return super().persistent_id(value)

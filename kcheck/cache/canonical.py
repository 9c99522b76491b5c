"""Bytes by which values are compared. They are written and hashed, and never read."""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from typing import Any

from kcheck.facts.facts import Facts
from kcheck.kube.location import Location
from kcheck.text.span import Range


def canonical(value: object) -> bytes:
    """Bytes that are the same where values are the same, in any process.

    A mere pickle tells, too, which equal values are one, and in what order a set happens to lie.
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


def outline(facts: Sequence[Facts]) -> bytes:
    """Bytes that are the same where the facts of a file are, but for the lines that they stand in: it may have got or lost some between."""
    pickler = _Outline()
    pickler.dump(list(facts))
    # What stands behind what is not for them to say.
    order = {start: number for number, start in enumerate(sorted(set(pickler.starts)))}
    pickler.dump([order[start] for start in pickler.starts])
    return pickler.buffer.getvalue()


class _Outline(_Canonical):
    def __init__(self) -> None:
        super().__init__()
        self.starts: list[int] = []

    def persistent_id(self, value: Any) -> Any:
        if value.__class__ is Location:
            self.starts.append(value.start)
            line, column, end_line, end_column = value.range
            return tuple(value._replace(range=Range(0, column, end_line - line, end_column), start=0))
        return super().persistent_id(value)

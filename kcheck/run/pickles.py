"""Our own values as bytes, and nothing but our own values made of bytes, whatever they say."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Sequence
from typing import Any

from kcheck.kube.facts import Facts
from kcheck.kube.place import Place
from kcheck.run.outcome import Damaged
from kcheck.text.span import Range


def pickled(value: object) -> bytes:
    """Raises whatever pickling raises."""
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def unpickled(data: bytes) -> Any:
    """Raises Damaged."""
    try:
        return _Reader(io.BytesIO(data)).load()
    except Exception as error:
        raise Damaged(f"{type(error).__name__}: {error}") from None


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
        if value.__class__ is Place:
            self.starts.append(value.start)
            line, column, end_line, end_column = value.range
            return tuple(value._replace(range=Range(0, column, end_line - line, end_column), start=0))
        return super().persistent_id(value)


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        found = _KNOWN.get((module, name))
        if found is None:
            found = _KNOWN[module, name] = _class(module, name)
        return found


_KNOWN: dict[tuple[str, str], type] = {("builtins", "frozenset"): frozenset, ("builtins", "set"): set}


def _class(module: str, name: str) -> type:
    if module.startswith("kcheck."):
        found = getattr(sys.modules.get(module) or __import__(module, fromlist=[name]), name)
        if isinstance(found, type):
            return found
    raise pickle.UnpicklingError(f"{module}.{name} has no business in a cache")

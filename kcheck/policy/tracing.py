"""Which field of an object an expression read last: the field that decided its result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kcheck.cel.values.values import Value, View
from kcheck.policy.verdict import Path

NAME: Path = ("metadata", "name")
"""The field that represents a whole object."""


class ReadTrace:
    """The fields that an evaluation read, in order."""

    def __init__(self) -> None:
        self.reads: list[Path] = []

    def decisive_path(self) -> Path:
        """Return the field that was read last, or the name of the object if none was read except its type.

        A field of an object as a whole, such as `spec`, decides only if nothing below any such field was read.
        """
        deep = [path for path in self.reads if len(path) > 1]
        if deep:
            return deep[-1]
        return next((path for path in reversed(self.reads) if path not in (("kind",), ("apiVersion",))), NAME)


def traced(value: Value, path: Path, trace: ReadTrace) -> Value:
    """Return a value that records what is read from it."""
    if isinstance(value, dict):
        return TracedMap(value, path, trace)
    if isinstance(value, list):
        return TracedList(value, path, trace)
    return value


class TracedMap(View):
    """A map that records which entries are read."""

    __slots__ = ("_path", "_raw", "_trace")

    def __init__(self, raw: Mapping[str, Any], path: Path, trace: ReadTrace) -> None:
        self._raw = raw
        self._path = path
        self._trace = trace

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            self._trace.reads.append((*self._path, key))
        return key in self._raw

    def __getitem__(self, key: Any) -> Value:
        path = (*self._path, key)
        self._trace.reads.append(path)
        return traced(self._raw[key], path, self._trace)

    def __iter__(self) -> Iterator[str]:
        self._trace.reads.append(self._path)
        for key in self._raw:
            self._trace.reads.append((*self._path, key))
            yield key

    def __len__(self) -> int:
        self._trace.reads.append(self._path)
        return len(self._raw)


class TracedList(list[Value]):
    """A list that records which items are read."""

    def __init__(self, raw: list[Any], path: Path, trace: ReadTrace) -> None:
        super().__init__(raw)
        self._path = path
        self._trace = trace

    def __getitem__(self, index: Any) -> Value:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        path = (*self._path, index)
        self._trace.reads.append(path)
        return traced(super().__getitem__(index), path, self._trace)

    def __iter__(self) -> Iterator[Value]:
        self._trace.reads.append(self._path)
        for index in range(len(self)):
            yield self[index]

"""Which field of an object an expression read last: the field that decided its result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kcheck.cel.values.values import Value, View
from kcheck.policy.verdict import Path

NAME: Path = ("metadata", "name")
"""The field that represents a whole object."""


_Link = tuple[Any, str | int] | None
"""A path as nested pairs of the link of the parent and the key; None is the root. Links share their parents, so a read costs one pair."""


class ReadTrace:
    """The fields that an evaluation read, in order."""

    def __init__(self) -> None:
        self.links: list[_Link] = []
        self.root: Mapping[str, Any] = {}

    @property
    def reads(self) -> list[Path]:
        """The paths of the fields."""
        return [*map(_path_of, self.links)]

    def decisive_path(self) -> Path:
        """Return the field that was read last, or the name of the object if none was read except its type.

        A field of an object as a whole, such as `spec`, decides only if nothing below any such field was read, or if it is missing.
        """
        for link in reversed(self.links):
            if link is not None and (link[0] is not None or self._decides(link[1])):
                return _path_of(link)
        return next((path for path in reversed(self.reads) if path not in (("kind",), ("apiVersion",))), NAME)

    def _decides(self, key: str | int) -> bool:
        """Return whether a field at the root of the object is a scalar or missing, so that nothing below it can decide."""
        return key not in ("kind", "apiVersion") and not isinstance(self.root.get(str(key)), (dict, list))


def traced(value: Value, path: Path, trace: ReadTrace) -> Value:
    """Return a value that records what is read from it."""
    link: _Link = None
    if not path and isinstance(value, dict):
        trace.root = value
    for key in path:
        link = link, key
    return _traced(value, link, trace.links)


def _path_of(link: _Link) -> Path:
    keys: list[str | int] = []
    while link is not None:
        link, key = link
        keys.append(key)
    return (*reversed(keys),)


def _traced(value: Value, link: _Link, links: list[_Link]) -> Value:
    if isinstance(value, dict):
        return TracedMap(value, link, links)
    if isinstance(value, list):
        return TracedList(value, link, links)
    return value


def untraced(value: Value) -> Value:
    """Return a value without the record of what is read from it."""
    return value._raw if isinstance(value, TracedMap) else value


class TracedMap(View):
    """A map that records which entries are read."""

    __slots__ = ("_link", "_links", "_raw")

    def __init__(self, raw: Mapping[str, Any], link: _Link, links: list[_Link]) -> None:
        self._raw = raw
        self._link = link
        self._links = links

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            self._links.append((self._link, key))
        return key in self._raw

    def __getitem__(self, key: Any) -> Value:
        link = self._link, key
        links = self._links
        links.append(link)
        value = self._raw[key]
        kind = value.__class__
        if kind is dict:
            return TracedMap(value, link, links)
        return value if kind is str else _traced(value, link, links)

    def record_missing(self, path: Sequence[str]) -> None:
        link = self._link
        for key in path:
            link = link, key
        self._links.append(link)

    def __iter__(self) -> Iterator[str]:
        self._links.append(self._link)
        for key in self._raw:
            self._links.append((self._link, key))
            yield key

    def __len__(self) -> int:
        self._links.append(self._link)
        return len(self._raw)


class TracedList(list[Value]):
    """A list that records which items are read."""

    def __init__(self, raw: list[Any], link: _Link, links: list[_Link]) -> None:
        super().__init__(raw)
        self._link = link
        self._links = links

    def __getitem__(self, index: Any) -> Value:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        link = self._link, index
        self._links.append(link)
        return _traced(super().__getitem__(index), link, self._links)

    def __iter__(self) -> Iterator[Value]:
        self._links.append(self._link)
        for index in range(super().__len__()):
            yield self[index]

    def __len__(self) -> int:
        self._links.append(self._link)
        return super().__len__()

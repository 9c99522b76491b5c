"""Locations in files that are independent of the parsed tree: small and picklable."""

from __future__ import annotations

from typing import Any

from kcheck.text.record import NamedTuple
from kcheck.text.span import Range

_new = tuple.__new__


class ObjectId(NamedTuple):
    """Identity of an object (a document or an item of a List); missing values are empty strings."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def title(self) -> str:
        """The object as reports name it, such as Deployment shop/web."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


class Location(NamedTuple):
    """A location in a file.

    Attributes:
        file: file name.
        document: index of the document in the file, from 0; empty documents are not counted.
        range: lines and columns.
        field: path of the field.
        object: object that contains the field.
        line: text of the first line of the range.
        start: character offset of the range in the file, used by ignore comments.
    """

    file: str
    document: int
    range: Range
    field: str
    object: ObjectId
    line: str
    start: int

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Support pickling. Most of what processes send to each other are locations: as one tuple each, they take less time."""
        file, document, range, field, object, line, start = self
        return _location, (file, document, *range, field, object, line, start)


def _location(
    file: str, document: int, first: int, column: int, last: int, end: int, field: str, object: ObjectId, line: str, start: int
) -> Any:  # fmt: skip
    return _new(Location, (file, document, _new(Range, (first, column, last, end)), field, object, line, start))

"""A place in a file that outlives the tree it was read from: small, picklable."""

from __future__ import annotations

from kcheck.text.record import NamedTuple
from kcheck.text.span import Range


class ObjectId(NamedTuple):
    """The object that a document (or an item of a List) is; empty strings where it does not say."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def title(self) -> str:
        """The object as reports name it: Deployment shop/web."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


class Location(NamedTuple):
    """File, document in it (from 0, empty ones not counted), range, path of the field that stands there, its line's text.

    `start`: character offset of the range in the file, for ignore comments, which cover stretches of text.
    """

    file: str
    document: int
    range: Range
    field: str
    object: ObjectId
    line: str
    start: int

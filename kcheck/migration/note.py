"""What could not be taken over, or not as it was: told, so that nothing is lost in silence."""

from __future__ import annotations

from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.yaml.node import Node


class Note(NamedTuple):
    """One line for the user; `line` counts from 1, 0 where it is about the whole file."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}" if self.line else f"{self.file}: {self.message}"


def note_at(source: Source, node: Node, message: str) -> Note:
    """A note about an entry of a file, shown at its key."""
    return Note(source.path, source.position(node.key_span.start).line, message)

"""Notes about what could not be migrated, or only in part."""

from __future__ import annotations

from typing import NamedTuple

from kcheck.text.source import Source
from kcheck.yaml.node import Node


class Note(NamedTuple):
    """A note for the user. `line` starts at 1; 0 if the note is about the whole file."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}" if self.line else f"{self.file}: {self.message}"


def note_at(source: Source, node: Node, message: str) -> Note:
    """Returns a note about an entry of a file, at the line of its key."""
    return Note(source.path, source.position(node.key_span.start).line, message)

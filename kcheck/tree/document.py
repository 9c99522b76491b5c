"""One document of a file: what stands between two `---` lines."""

from __future__ import annotations

from dataclasses import dataclass, field

from kcheck.text.source import Source
from kcheck.tree.node import Node
from kcheck.tree.syntax import SyntaxFault


@dataclass(slots=True)
class Document:
    """`index` counts the non-empty documents of the file from 0; `start`..`end` are its characters.

    `root` is null where the document does not parse; `fault` says why. `duplicates`: (entry, the entry of the same key before it).
    `trailing`: where text begins that stands behind a `...` line and that nobody reads.
    """

    source: Source
    index: int
    start: int
    end: int
    root: Node
    fault: SyntaxFault | None = None
    duplicates: list[tuple[Node, Node]] = field(default_factory=list)
    trailing: int | None = None

"""One document of a file: what stands between two `---` lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kcheck.text.source import Source
from kcheck.yaml.node import Node
from kcheck.yaml.syntax import SyntaxFault


class Document:
    """`index` counts the non-empty documents of the file from 0; `start`..`end` are its characters.

    `root` is null where the document does not parse; `fault` says why. `body`: where its text begins, after the separator.
    `duplicates`: (entry, the entry of the same key before it). `trailing`: where text begins that follows the end of the document and
    that the API server never reads. `secrets`: the values that no output may show, found on demand (`redaction/document_secrets.py`).
    """

    __slots__ = ("body", "duplicates", "end", "fault", "index", "root", "secrets", "source", "start", "trailing")

    def __init__(
        self,
        source: Source,
        index: int,
        start: int,
        end: int,
        root: Node,
        fault: SyntaxFault | None = None,
        duplicates: Iterable[tuple[Node, Node]] = (),
        trailing: int | None = None,
        body: int | None = None,
    ) -> None:
        self.source = source
        self.index = index
        self.start = start
        self.end = end
        self.root = root
        self.fault = fault
        self.duplicates = list(duplicates)
        self.trailing = trailing
        self.secrets: Any = None
        self.body = start if body is None else body


def broken(source: Source, start: int, end: int, fault: SyntaxFault) -> Document:
    """A document that does not parse."""
    first, last = (min(max(at, 0), len(source.text)) for at in fault[:2])
    return Document(source, 0, start, end, Node(None, first, last), fault._replace(start=first, end=last))

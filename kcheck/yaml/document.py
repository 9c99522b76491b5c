"""One document of a YAML file: the text between two `---` lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kcheck.text.edit import Edit
from kcheck.text.source import Source
from kcheck.text.span import Span
from kcheck.yaml.node import Node
from kcheck.yaml.syntax import SyntaxFault


class Document:
    """One document of a file.

    Attributes:
        source: the file.
        index: index among the non-empty documents of the file, from 0.
        start: offset of the first character.
        end: offset after the last character.
        root: root node; null if the document does not parse.
        fault: syntax error, None if the document parses.
        duplicates: pairs (entry, earlier entry with the same key).
        trailing: offset of text after the end of the document, which the API server ignores; None if there is none.
        secrets: values that must not appear in any output, computed on demand by `redaction/document_secrets.py`.
        body: offset of the text after the separator line.
        substituted: ranges of the text that were filled in with other text before it was parsed.
    """

    __slots__ = ("body", "duplicates", "end", "fault", "index", "root", "secrets", "source", "start", "substituted", "trailing")

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
        self.substituted: Sequence[Span] = ()

    def overlaps_substituted(self, edits: Iterable[Edit]) -> bool:
        """Return whether an edit would overwrite a placeholder that was filled in."""
        return any(edit.start < span.end and span.start < edit.end for span in self.substituted for edit in edits)


def broken(source: Source, start: int, end: int, fault: SyntaxFault) -> Document:
    """Return a document that does not parse."""
    first, last = (min(max(at, 0), len(source.text)) for at in fault[:2])
    return Document(source, 0, start, end, Node(None, first, last), fault._replace(start=first, end=last))

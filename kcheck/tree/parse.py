"""Text to documents of nodes: a stream is cut into documents, and each is read by `quick` or, where that gives up, by `libyaml`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from kcheck.text.source import Source
from kcheck.tree.document import Document, broken
from kcheck.tree.quick import read as read_quickly
from kcheck.tree.repeats import Repeats
from kcheck.tree.syntax import SyntaxFault

# apimachinery's YAML reader splits a stream at lines that begin so, before any YAML is read.
_SEPARATOR = re.compile(r"\n---(?=[ \t\r\n]|\Z)")
_ONLY_COMMENTS = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+|^---(?=\s|\Z)|^%(?:YAML|TAG)[^\n]*+)*+\Z", re.MULTILINE)
DOCUMENT_LIMIT = 3 * 1024 * 1024
"""Bytes of one document: the API server refuses a larger request body (413)."""


def parse(source: Source, repeats: Repeats | None = None) -> list[Document]:
    """All non-empty documents of a file, those that do not parse included. `repeats`: passages that need no reading again."""
    documents: list[Document] = []
    for start, end in _chunks(source.text):
        for document in _read(source, start, end, repeats):
            document.index = len(documents)
            documents.append(document)
    return documents


def _chunks(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of the text that hold a document each, the separator line belonging to what follows it."""
    bounds = [0, *(m.start() + 1 for m in _SEPARATOR.finditer(text)), len(text)]
    for start, end in pairwise(bounds):
        if not _ONLY_COMMENTS.match(text[start:end] if start or end < len(text) else text):
            yield start, end


def _read(source: Source, start: int, end: int, repeats: Repeats | None) -> list[Document]:
    text = source.text[start:end] if start or end < len(source.text) else source.text
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > DOCUMENT_LIMIT:
        message = f"a document of {size:,} bytes: the API server reads at most {DOCUMENT_LIMIT:,} (3 MiB) in one request: split it"
        return [broken(source, start, end, SyntaxFault(start, start + 3, message))]
    built = read_quickly(text, start, repeats)
    if built is not None:
        return [Document(source, 0, start, end, built.root, None, built.duplicates, built.trailing)]
    # Importing it takes longer than reading a small file.
    from kcheck.tree.libyaml import read

    return read(source, text, start, end)

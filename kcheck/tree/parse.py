"""Text to documents of nodes: a stream is cut into documents, and each is read by `quick` or, where that gives up, by `libyaml`."""

from __future__ import annotations

import re
from typing import Final

from kcheck.text.complaint import Complaint
from kcheck.text.source import Source
from kcheck.tree.document import Document, broken
from kcheck.tree.quick import read as read_quickly
from kcheck.tree.repeats import Repeats
from kcheck.tree.syntax import SyntaxFault

# apimachinery's YAML reader splits a stream at lines that begin so and with a blank or nothing behind it, before any YAML is read.
_SEPARATOR: Final = "\n---"
_BLANK: Final = ("", " ", "\t", "\r", "\n")
_ONLY_COMMENTS: Final = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+|^---(?=\s|\Z)|^%(?:YAML|TAG)[^\n]*+)*+\Z", re.MULTILINE)
DOCUMENT_LIMIT = 3 * 1024 * 1024
"""Bytes of one document: the API server refuses a larger request body (413)."""


def parse(source: Source, repeats: Repeats | None = None) -> list[Document]:
    """All non-empty documents of a file, those that do not parse included. `repeats`: passages that need no reading again."""
    documents: list[Document] = []
    whole, start = source.text, 0
    size = len(whole)
    while start < size:
        end = _end(whole, start)
        text = whole[start:end] if end - start < size else whole
        if not _ONLY_COMMENTS.match(text):
            for document in _read(source, text, start, repeats):
                document.index = len(documents)
                documents.append(document)
        start = end
    return documents


def _end(text: str, start: int) -> int:
    """Where the document ends that begins there: a separator line belongs to what follows it."""
    at = text.find(_SEPARATOR, start)
    while at >= 0 and text[at + 4 : at + 5] not in _BLANK:
        at = text.find(_SEPARATOR, at + 4)
    return at + 1 if at >= 0 else len(text)


def _read(source: Source, text: str, start: int, repeats: Repeats | None) -> list[Document]:
    end = start + len(text)
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > DOCUMENT_LIMIT:
        message = Complaint(
            f"a document of {size:,} bytes: the API server reads at most {DOCUMENT_LIMIT:,} (3 MiB) in one request", "split it"
        )
        return [broken(source, start, end, SyntaxFault(start, start + 3, message))]
    built = read_quickly(text, start, repeats)
    if built is not None:
        return [Document(source, 0, start, end, built.root, None, built.duplicates, built.trailing)]
    # Importing it takes longer than reading a small file.
    from kcheck.tree.libyaml import read

    return read(source, text, start, end)

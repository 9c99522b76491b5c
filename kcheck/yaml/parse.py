"""Text to documents of nodes: a stream is cut into documents, and each is read by `quick` or, where that gives up, by `libyaml`."""

from __future__ import annotations

import re
from typing import Final

from kcheck.text.breaks import BREAKS
from kcheck.text.complaint import Complaint
from kcheck.text.source import Source
from kcheck.yaml.document import Document, broken
from kcheck.yaml.fast.reader import read as read_quickly
from kcheck.yaml.fast.shared_blocks import Repeats
from kcheck.yaml.syntax import SyntaxFault

# apimachinery's YAML reader splits a stream at all lines that begin so, before any YAML is read.
_SEPARATOR: Final = "\n---"
_PLAIN_SEPARATORS: Final = ("---\n", "---\r\n")
# What YAML cannot contain: a class of all that it can takes ten times as long to compile.
_COMMENT: Final = r"#[^\x00-\x08\n-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]*+"
# Tabs and control characters are left to the reader, which refuses some of them.
_ONLY_COMMENTS: Final = re.compile(rf"(?:[ {BREAKS}]++|{_COMMENT}|^---(?=[ \n]|\r?\n|\Z)|^%(?:YAML|TAG)[^{BREAKS}]*+)*+\Z", re.MULTILINE)
_DIRECTIVE: Final = re.compile("^%", re.MULTILINE)
# What Go counts as a space.
_SPACES: Final = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_MARK: Final = "\ufeff"
DOCUMENT_LIMIT = 3 * 1024 * 1024
"""Bytes of one document: the API server refuses a larger request body (413)."""


def parse(source: Source, repeats: Repeats | None = None) -> list[Document]:
    """All non-empty documents of a file, those that do not parse included. `repeats`: passages that need no reading again."""
    documents: list[Document] = []
    whole = source.text
    start, size = 0, len(whole)
    # Where a directive stands whose document has not come yet.
    directive = -1
    # apimachinery gives the YAML reader only such separators as follow another one, or nothing, and finds none behind a byte order mark.
    keeps_separator = True
    is_marked = source.mark != b""
    while start < size:
        end = whole.find(_SEPARATOR, start) + 1 or size
        begin = start
        if whole.startswith("---", start):
            behind = whole.find("\n", start) + 1 or size
            problem = ""
            if not whole.startswith(_PLAIN_SEPARATORS, start) and not is_marked:
                problem = _separator_problem(whole[start + 3 : behind], keeps_separator)
            if problem:
                _add(documents, [broken(source, start, behind, SyntaxFault(start, start + 3, problem))])
                start, keeps_separator = behind, True
                continue
            if not keeps_separator and not _has_content(whole[start + 3 : behind]):
                begin = behind
            keeps_separator = begin == end
        else:
            keeps_separator = False
        if whole.startswith(_MARK, begin) and not is_marked:
            begin += 1
        is_marked = False
        text = whole[begin:end] if end - begin < size else whole
        if not text.endswith("\n"):
            # So apimachinery does with the last line.
            text += "\n"
        if not _ONLY_COMMENTS.match(text):
            _add(documents, _read(source, text, start if directive < 0 else directive, begin, end, repeats))
            directive = -1
        elif directive < 0 and "%" in text and (found := _DIRECTIVE.search(text)):
            directive = begin + found.start()
        start = end
    if directive >= 0:
        message = "this directive belongs to no document: remove it"
        _add(documents, [broken(source, directive, size, SyntaxFault(directive, directive + 1, message))])
    return documents


def _add(documents: list[Document], more: list[Document]) -> None:
    for document in more:
        document.index = len(documents)
        documents.append(document)


def _separator_problem(rest: str, is_kept: bool) -> str:
    """What is wrong with a line that begins with '---', nothing where documents can be separated so. `rest`: what stands behind that.

    `is_kept`: whether YAML is read from this line on.
    """
    content = rest.strip(_SPACES)
    if not content or content[0] == "#":
        # A comment ends at any line break of YAML, but the whole line is dropped.
        if is_kept or not any(each in content for each in BREAKS):
            return ""
        return "text behind the '---' of a separator is never read: put '---' on a line that ends with LF or CRLF"
    if rest[0] in " \t" and not any(each in rest.rstrip("\r\n") for each in BREAKS):
        return ""
    return "only whitespace or a comment can follow '---' on its line: move the rest to the next line, or indent the line if it is text"


def _has_content(rest: str) -> bool:
    content = rest.strip(_SPACES)
    return content != "" and content[0] != "#"


def _read(source: Source, text: str, start: int, begin: int, end: int, repeats: Repeats | None) -> list[Document]:
    """The documents of a part of a file, whose text is read from `begin` on."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > DOCUMENT_LIMIT:
        message = Complaint(
            f"a document of {size:,} bytes: the API server reads at most {DOCUMENT_LIMIT:,} (3 MiB) in one request", "split it"
        )
        return [broken(source, start, end, SyntaxFault(begin, begin + 3, message))]
    built = read_quickly(text, begin, repeats)
    if built is not None:
        return [Document(source, 0, start, end, built.root, None, built.duplicates, built.trailing, begin)]
    # Importing it takes longer than reading a small file.
    from kcheck.yaml.libyaml.events import read

    # Only what begins with a brace may be JSON to kubectl, and up to the first separator.
    documents = read(source, text, begin, end, start == 0 and not source.mark)
    if documents:
        documents[0].start = start
    return documents

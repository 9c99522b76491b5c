"""Parsing of a file: splits the text into documents and reads each with the `fast` reader, or with `libyaml` if that is not possible."""

from __future__ import annotations

import re
from typing import Final

from kcheck.text.breaks import BREAKS
from kcheck.text.complaint import Complaint
from kcheck.text.pattern import pattern
from kcheck.text.source import Source
from kcheck.yaml.document import Document, broken
from kcheck.yaml.fast.reader import read as read_quickly
from kcheck.yaml.fast.shared_blocks import Repeats
from kcheck.yaml.syntax import SyntaxFault

# The YAML reader of apimachinery splits a stream at every line that begins with ---, before it parses any YAML.
_SEPARATOR: Final = "\n---"
_PLAIN_SEPARATORS: Final = ("---\n", "---\r\n")
# The characters that YAML cannot contain: a class of all that it can contain takes ten times as long to compile.
_COMMENT: Final = r"#[^\x00-\x08\n-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]*+"
# Tabs and control characters are not included: the reader rejects some of them.
_ONLY_COMMENTS: Final = pattern(rf"(?:[ {BREAKS}]++|{_COMMENT}|^---(?=[ \n]|\r?\n|\Z)|^%(?:YAML|TAG)[^{BREAKS}]*+|)*+\Z", re.MULTILINE)
# Matches every text that `_ONLY_COMMENTS` matches, and others. It takes half the time, and a tenth of the time to compile.
_MAYBE_ONLY_COMMENTS: Final = re.compile(r"(?:\s++|#[^\n]*+|^---(?=\s|\Z)|^%[^\n]*+|)*+\Z", re.MULTILINE)
_DIRECTIVE: Final = pattern("^%", re.MULTILINE)
# What Go counts as a space.
_SPACES: Final = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_MARK: Final = "\ufeff"
DOCUMENT_LIMIT = 3 * 1024 * 1024
"""Maximum size of a document in bytes: the API server rejects larger request bodies (status 413)."""


def parse(source: Source, repeats: Repeats | None = None) -> list[Document]:
    """Return all non-empty documents of a file, including those that do not parse. `repeats`: shared blocks that are not parsed again."""
    documents: list[Document] = []
    whole = source.text
    start, size = 0, len(whole)
    # Offset of a directive that precedes the next document, -1 if there is none.
    directive = -1
    # apimachinery passes a separator to the YAML parser only at the start of the stream or after another separator, and does not recognize
    # a separator after a byte order mark.
    keeps_separator = True
    is_marked = source.mark != b""
    while start < size:
        end = whole.find(_SEPARATOR, start) + 1 or size
        begin = start
        if whole.startswith("---", start):
            next_line = whole.find("\n", start) + 1 or size
            problem = ""
            if not whole.startswith(_PLAIN_SEPARATORS, start) and not is_marked:
                problem = _separator_problem(whole[start + 3 : next_line], keeps_separator)
            if problem:
                # A directive before the separator belongs to the part that does not parse.
                first = start if directive < 0 else directive
                _add(documents, [broken(source, first, next_line, SyntaxFault(start, start + 3, problem))])
                start, directive, keeps_separator = next_line, -1, True
                continue
            if not keeps_separator and not _has_content(whole[start + 3 : next_line]):
                begin = next_line
            keeps_separator = begin == end
        else:
            keeps_separator = False
        if whole.startswith(_MARK, begin) and not is_marked:
            begin += 1
        is_marked = False
        text = whole[begin:end] if end - begin < size else whole
        if not text.endswith("\n"):
            # As apimachinery does.
            text += "\n"
        if not (_MAYBE_ONLY_COMMENTS.match(text) and _ONLY_COMMENTS.match(text)):
            _add(documents, _read(source, text, start if directive < 0 else directive, begin, end, repeats))
            directive = -1
        elif directive < 0 and "%" in text and (found := _DIRECTIVE.search(text)):
            directive = begin + found.start()
        start = end
    if directive >= 0:
        message = Complaint("YAML directive belongs to no document", "remove it")
        _add(documents, [broken(source, directive, size, SyntaxFault(directive, directive + 1, message))])
    return documents


def _add(documents: list[Document], more: list[Document]) -> None:
    for document in more:
        document.index = len(documents)
        documents.append(document)


def _separator_problem(rest: str, is_kept: bool) -> str:
    """Return the problem of a line that begins with "---", "" if the line is a valid separator.

    `rest`: the text after "---". `is_kept`: whether the line is passed to the YAML parser.
    """
    content = rest.strip(_SPACES)
    if not content or content[0] == "#":
        # A comment ends at any line break of YAML, but the whole line is dropped.
        if is_kept or not any(each in content for each in BREAKS):
            return ""
        message = "text after --- is ignored, because the line ends with an unusual line break"
        return Complaint(message, "end the line of --- with LF or CRLF")
    if rest[0] in " \t" and not any(each in rest.rstrip("\r\n") for each in BREAKS):
        return ""
    message = "only whitespace or a comment may follow --- on the same line"
    return Complaint(message, "move the rest to the next line, or indent the line if it is part of a text")


def _has_content(rest: str) -> bool:
    content = rest.strip(_SPACES)
    return content != "" and content[0] != "#"


def _read(source: Source, text: str, start: int, begin: int, end: int, repeats: Repeats | None) -> list[Document]:
    """Return the documents of a part of a file. `text`: the part from `begin` on."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > DOCUMENT_LIMIT:
        message = Complaint(
            f"document has {size:,} bytes, but the API server reads at most {DOCUMENT_LIMIT:,} (3 MiB) in one request", "split the object"
        )
        return [broken(source, start, end, SyntaxFault(begin, begin + 3, message))]
    built = read_quickly(text, begin, repeats)
    if built is not None:
        return [Document(source, 0, start, end, built.root, None, built.duplicates, built.trailing, begin)]
    # Imported here: the import takes longer than reading a small file.
    from kcheck.yaml.libyaml.events import read

    # kubectl treats only the first part of a file as JSON, if it begins with a brace.
    documents = read(source, text, begin, end, start == 0 and not source.mark)
    if documents:
        documents[0].start = start
    return documents

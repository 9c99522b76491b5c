"""What stands in a file and reaches nobody."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kcheck.api import Document, Problem, Span, rule

_CONTENT = re.compile(r"---[ \t]+(?![#\s])")


@rule("ignored-content", "text that kubectl or the API server never reads")
def ignored_content(document: Document) -> Iterator[Problem]:
    """What stands behind a `...` line is dropped without a word."""
    start = document.trailing
    if start is not None:
        end = document.source.text.find("\n", start)
        span = Span(start, end if end >= 0 else document.end)
        yield Problem(span, "everything behind '...' is ignored: begin a new document with '---' or take it away")


@rule("separator-content", "an object on the line of its '---'")
def separator_content(document: Document) -> Iterator[Problem]:
    """kubectl refuses a file in which anything but a comment follows the separator; the API server alone would read it."""
    if _CONTENT.match(document.source.text, document.start):
        yield Problem(Span(document.start, document.start + 3), "kubectl refuses text behind '---': move it to the next line")

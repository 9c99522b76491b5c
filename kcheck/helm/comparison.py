"""Compares a rendered object with a template, without helm and without the values: whether the object can come from it."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.helm.template import Template
from kcheck.text.pattern import pattern

_KIND = pattern(r"^kind:[ \t]*[\"']?(\w+)[\"']?[ \t]*\r?$", 8)
_COMPUTED_KIND = pattern(r"^kind:[ \t]*[\"']?\Z", 8)
_SEPARATOR = pattern(r"^---[ \t]*(?:#.*)?\r?$", 8)
_MIN_PIECES = 3
"""Number of pieces of text that an object must share with its template."""

_Branches = tuple[tuple[int, int], ...]
"""The branches that contain a text: the offset of the action that begins the block, and the number of the branch."""


def may_print(template: Template, document: str) -> bool:
    """Return whether a template can print a document with one object.

    The text of the template that is printed whenever its line with the kind of the object is printed must occur in the document, in the
    same order. Without such a line nothing is known, and the result is false.
    """
    kind = _KIND.search(document)
    if kind is None or template.faults:
        return False
    texts = list(_texts(template))
    for start, text, branches in texts:
        kinds = [match.start() for match in _KIND.finditer(text) if match[1] == kind[1]]
        kinds += [match.start() for match in _COMPUTED_KIND.finditer(text)]
        if any(_occurs(_pieces(template, texts, start + each, branches), document) for each in kinds):
            return True
    return False


def _texts(template: Template) -> Iterator[tuple[int, str, _Branches]]:
    """Yield the offset, the content and the branches of each text outside of definitions."""
    branches: list[tuple[int, int]] = []
    defines = at = 0
    for action in template.actions:
        if not defines:
            yield at, template.text[at : action.start], tuple(branches)
        if action.keyword in ("if", "range", "with", "define", "block"):
            branches.append((action.start, 0))
            defines += action.keyword in ("define", "block") or defines > 0
        elif action.keyword == "else" and branches:
            branches[-1] = branches[-1][0], branches[-1][1] + 1
        elif action.keyword == "end" and branches:
            branches.pop()
            defines = max(defines - 1, 0)
        at = action.end
    if not defines:
        yield at, template.text[at:], tuple(branches)


def _pieces(template: Template, texts: list[tuple[int, str, _Branches]], kind: int, branches: _Branches) -> Iterator[str]:
    """Yield the pieces of text that the template prints in the document of a line. `kind`, `branches`: of the line."""
    first, last = 0, len(template.text)
    for match in _SEPARATOR.finditer(template.text):
        if match.end() <= kind:
            first = match.end()
        else:
            last = min(last, match.start())
    for start, text, own in texts:
        if own == branches[: len(own)]:
            inside = text[max(first - start, 0) : max(last - start, 0)]
            yield from filter(None, (line.strip() for line in inside.splitlines()))


def _occurs(pieces: Iterator[str], document: str) -> bool:
    """Return whether all pieces occur in a document, in this order."""
    at = number = 0
    for piece in pieces:
        found = document.find(piece, at)
        if found < 0:
            return False
        at, number = found + len(piece), number + 1
    return number >= _MIN_PIECES

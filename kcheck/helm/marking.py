"""Marks in templates: characters around each piece of a template, which helm copies to its output.

A mark is a character of the private use area, the number of a piece in hexadecimal, and another such character; a third character closes the
piece. Whitespace is never marked, and trim markers move from an action to its marks, so that whitespace is trimmed as before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kcheck.helm.template import Action, Template, calls
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

OPEN, NUMBERED, CLOSE = "\ue000", "\ue001", "\ue002"
_VISIBLE = pattern(r"\S(?:[^\n\r]*\S)?")
_IGNORE = "kcheck"


class Piece(NamedTuple):
    """A part of a template: the visible text of a line, an action, or an ignore comment.

    Attributes:
        file: path of the template in the chart.
        start: offset of its first character.
        end: offset after its last character.
        kind: "text", "action" for an action whose output is printed, "call" for one that prints another template, or "comment".
    """

    file: str
    start: int
    end: int
    kind: str


def mark_template(file: str, template: Template, pieces: list[Piece], name: str, left_out: Collection[str]) -> str:
    """Return a template with marks, and add its pieces.

    Args:
        file: path of the template in the chart.
        template: the template.
        pieces: the pieces so far; the number of a piece is its index.
        name: the name under which the file can be included.
        left_out: names of templates that get no marks.
    """
    text = template.text
    written: list[str] = []
    actions = iter(template.actions)
    action = next(actions, None)
    at = 0
    for start, end, define in template.texts():
        while action is not None and action.start < start:
            written += _marked_action(file, action, text, pieces, (action.define or name) in left_out)
            at = action.end
            action = next(actions, None)
        if (define or name) in left_out:
            written.append(text[start:end])
        else:
            written += _marked_text(file, text, start, end, pieces)
        at = end
    while action is not None:
        written += _marked_action(file, action, text, pieces, (action.define or name) in left_out)
        at = action.end
        action = next(actions, None)
    written.append(text[at:])
    return "".join(written)


def _marked_text(file: str, text: str, start: int, end: int, pieces: list[Piece]) -> Iterator[str]:
    at = start
    for match in _VISIBLE.finditer(text, start, end):
        first, last = match.span()
        yield f"{text[at:first]}{_open(pieces, Piece(file, first, last, 'text'))}{text[first:last]}{CLOSE}"
        at = last
    yield text[at:end]


def _marked_action(file: str, action: Action, text: str, pieces: list[Piece], is_left_out: bool) -> Iterator[str]:
    is_comment = action.keyword == "comment" and _IGNORE in action.code
    if is_left_out or not (action.prints or is_comment):
        yield text[action.start : action.end]
        return
    kind = "comment" if is_comment else "call" if any(call.is_printed for call in calls(action)) else "action"
    opened = _open(pieces, Piece(file, action.start, action.end, kind))
    # A mark that an action prints lets its trim marker remove the whitespace before it.
    yield f'{{{{- "{opened}" }}}}' if action.trims_left else opened
    if not is_comment:
        yield f"{{{{{action.code if action.code[:1] != '-' else f' {action.code}'}}}}}"
    yield f'{{{{ "{CLOSE}" -}}}}' if action.trims_right else CLOSE


def _open(pieces: list[Piece], piece: Piece) -> str:
    pieces.append(piece)
    return f"{OPEN}{len(pieces) - 1:x}{NUMBERED}"

"""Marks in templates: characters around each piece of a template, which helm copies to its output.

A mark is a rare letter, the number of a piece in hexadecimal, and another rare letter; a third one closes the piece. Whitespace is never
marked, and trim markers move from an action to its marks, so that whitespace is trimmed as before.

Marks in the output of a helper would change what other templates compute from it. So a marked chart defines each helper twice: as it is,
and with marks under another name, which is called where the output is printed as it is. Where it is parsed and serialized again, as in
`include "x" . | fromYaml | toYaml`, an original with marks follows the output of the action, so that both can be compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from kcheck.helm.template import Action, Template, TemplateCall, calls, helper_variables, printed_variable, reparsed_call
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

OPEN, NUMBERED, CLOSE, MARKED, ORIGINAL, ORIGINAL_END = (chr(0x12000 + number) for number in range(6))
"""Cuneiform letters: Go neither escapes them nor changes their case."""

_VISIBLE = pattern(r"\S(?:[^\n\r]*\S)?")
_IGNORE = "kcheck"


class TemplatePiece(NamedTuple):
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


def mark_template(file: str, template: Template, pieces: list[TemplatePiece], helpers: Collection[str]) -> str:
    """Return a template with marks, and add its pieces.

    Args:
        file: path of the template in the chart.
        template: the template.
        pieces: the pieces so far; the number of a piece is its index.
        helpers: names of the helpers of the chart that have a definition with marks.
    """
    return "".join(_Marker(file, template, pieces, helpers).mark())


class _Marker:
    def __init__(self, file: str, template: Template, pieces: list[TemplatePiece], helpers: Collection[str]) -> None:
        self.file = file
        self.text = template.text
        self.template = template
        self.pieces = pieces
        self.helpers = helpers
        self.ends = {end.start: (start, end) for start, end in template.blocks if start.keyword == "define"}
        self.variables = helper_variables(template, helpers)
        self.blocks = {start.start: end for start, end in template.blocks if start.keyword == "block"}

    def mark(self) -> Iterator[str]:
        """Yield the parts of the marked template."""
        actions = self.template.actions
        # Go drops a byte order mark at the start of a file.
        at = 1 if self.text.startswith("\ufeff") else 0
        index = 0
        written = [self.text[:at]]
        while index < len(actions):
            action = actions[index]
            written += self.marked_text(at, action.start)
            at, index = action.end, index + 1
            if action.keyword == "define":
                # The marks of a helper are in its second definition.
                yield from written
                written = [self.text[action.start : action.end]]
                code = action.code.rstrip()
                opened = f"{{{{{'-' if action.trims_left else ''} {code[:-1]}{MARKED}{code[-1]} {'-' if action.trims_right else ''}}}}}"
                copy = [opened]
                while index < len(actions) and actions[index].start not in self.ends:
                    copy += self.marked_text(at, actions[index].start)
                    at, index = self.add_action(copy, index)
                if index == len(actions):
                    break
                end = actions[index]
                yield self.text[action.start : end.end]
                copy += self.marked_text(at, end.start)
                yield from (*copy, self.text[end.start : end.end])
                written = []
                at, index = end.end, index + 1
            else:
                at, index = self.add_action(written, index - 1)
        yield from written
        yield from self.marked_text(at, len(self.text))

    def add_action(self, written: list[str], index: int) -> tuple[int, int]:
        """Add an action with marks. Returns the offset after it and the index of the next action."""
        actions = self.template.actions
        action = actions[index]
        end = self.blocks.get(action.start)
        if end is None:
            written += self.marked_action(action)
            return action.end, index + 1
        # A block is printed where it is defined, and may be defined elsewhere, too.
        opened = self.open(TemplatePiece(self.file, action.start, action.end, "call"))
        written.append(f'{{{{- "{opened}" }}}}' if action.trims_left else opened)
        start = self.text[action.start : end.end]
        written.append("{{" + start[3:] if action.trims_left else start)
        if end.trims_right:
            written[-1] = written[-1][: written[-1].rindex("-}}")] + "}}"
        written.append(f'{{{{ "{CLOSE}" -}}}}' if end.trims_right else CLOSE)
        return end.end, next(number for number in range(index, len(actions)) if actions[number].start == end.start) + 1

    def marked_text(self, start: int, end: int) -> Iterator[str]:
        at = start
        for match in _VISIBLE.finditer(self.text, start, end):
            first, last = match.span()
            yield f"{self.text[at:first]}{self.open(TemplatePiece(self.file, first, last, 'text'))}{self.text[first:last]}{CLOSE}"
            at = last
        yield self.text[at:end]

    def marked_action(self, action: Action) -> Iterator[str]:
        is_comment = action.keyword == "comment" and _IGNORE in action.code
        printed = [call for call in calls(action) if call.is_printed]
        variables = self.variables.get(action.define, ())
        if action.keyword == "assignment" and printed and action.code.partition(":=")[0].strip() in variables:
            # Another variable for the output with marks.
            name, _, value = self.with_marked_calls(action, printed).partition(":=")
            yield f"{{{{{'- ' if action.trims_left else ' '}{action.code.strip()} }}}}"
            yield f"{{{{ {name.strip()}{MARKED} :={value}{' -' if action.trims_right else ' '}}}}}"
            return
        if not (action.prints or is_comment):
            yield self.text[action.start : action.end]
            return
        variable, end = printed_variable(action)
        kind = "comment" if is_comment else "call" if printed or variable in variables else "action"
        opened = self.open(TemplatePiece(self.file, action.start, action.end, kind))
        # A mark that an action prints lets its trim marker remove the whitespace before it.
        yield f'{{{{- "{opened}" }}}}' if action.trims_left else opened
        if not is_comment:
            code = self.with_marked_calls(action, printed)
            if variable in variables:
                code = f"{code[:end]}{MARKED}{code[end:]}"
            yield f"{{{{ {code} }}}}"
            yield from self.original(action)
        yield f'{{{{ "{CLOSE}" -}}}}' if action.trims_right else CLOSE

    def original(self, action: Action) -> Iterator[str]:
        """Yield an action that prints what another one parses and serializes again."""
        call = reparsed_call(action)
        if call is not None and call.name in self.helpers:
            code = action.code
            yield f"{ORIGINAL}\n{{{{ {code[call.start : call.name_end]}{MARKED}{code[call.name_end : call.end]} }}}}{ORIGINAL_END}"

    def with_marked_calls(self, action: Action, printed: Sequence[TemplateCall]) -> str:
        """Return the code of an action that calls the second definitions of helpers whose output it prints."""
        code = action.code
        for call in reversed(printed):
            if call.name in self.helpers:
                end = call.end - 1 - action.code_start
                code = f"{code[:end]}{MARKED}{code[end:]}"
        return code

    def open(self, piece: TemplatePiece) -> str:
        """Add a piece and return the mark that opens it."""
        self.pieces.append(piece)
        return f"{OPEN}{len(self.pieces) - 1:x}{NUMBERED}"

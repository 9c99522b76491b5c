"""The text of a Go template: pieces of text and actions with their offsets, and what is wrong with it before it is rendered."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

# As the lexer of text/template reads an action: quoted text may contain "}}", and a comment follows its delimiter directly.
_ACTION = pattern(
    r"""
    \{\{
    (?: (?: (?P<trim> - ) [ \t\r\n] )? (?P<comment> /\* .*? \*/ (?: [ \t\r\n]- )? ) \}\}
      | (?P<left> - (?=[ \t\r\n]) )? (?! [ \t\r\n]? /\* )
        (?P<code> (?: "(?:\\.|[^"\\\n]|)*+" | `[^`]*+` | '(?:\\.|[^'\\\n]|)*+' | [^"`'}] | \}(?!\}) | )*+ ) \}\} )
    """,
    re.VERBOSE | re.DOTALL,
)
_KEYWORD = pattern(r"\s*(if|range|with|define|block|end|else|template|break|continue)\b")
_ASSIGNMENT = pattern(r"\s*\$\w*\s*:?=(?!=)")
_NAME = pattern(r"""\s*(?:define|block)\s+("(?:\\.|[^"\\\n])*"|`[^`]*`)""")
_RIGHT_TRIM = pattern(r"[ \t\r\n]-\Z")

_OPENING = frozenset({"if", "range", "with", "define", "block"})


class TemplateFault(NamedTuple):
    """What makes a template invalid. `start`, `end`: offsets of the action."""

    start: int
    end: int
    message: str


class Action(NamedTuple):
    """An action of a template, or a comment.

    Attributes:
        start: offset of `{{`.
        end: offset after `}}`.
        code_start: offset of the code between the delimiters and trim markers.
        code: this code.
        keyword: the keyword that it begins with, "comment", "assignment", or "" for a pipeline whose value is printed.
        trims_left: whether `{{-` removes the whitespace before it.
        trims_right: whether `-}}` removes the whitespace after it.
        define: name of the innermost template that contains it, "" outside of `define` and `block`.
    """

    start: int
    end: int
    code_start: int
    code: str
    keyword: str
    trims_left: bool
    trims_right: bool
    define: str = ""

    @property
    def prints(self) -> bool:
        """Whether the action writes something at its place."""
        return self.keyword in ("", "template")


class Template:
    """A template that was split into text and actions.

    Attributes:
        text: the template.
        actions: its actions in order. Everything between them is text.
        defines: offsets of the names of the templates that it defines, by name, in order.
        blocks: the actions that begin and end the templates that it defines, in order.
        faults: what makes it invalid; actions after the first fault may be missing.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.actions: list[Action] = []
        self.defines: dict[str, list[int]] = {}
        self.blocks: list[tuple[Action, Action]] = []
        self.faults: list[TemplateFault] = []
        self._scan()

    def texts(self) -> Iterator[tuple[int, int, str]]:
        """Yield the start and end of each text between actions, and the innermost template that contains it."""
        at, define = 0, ""
        for action in self.actions:
            if action.start > at:
                yield at, action.start, define
            at = action.end
            if action.keyword in ("define", "block"):
                define = name_of(action)
            elif action.keyword == "end":
                define = self._outer[action.start]
        if at < len(self.text):
            yield at, len(self.text), define

    def _scan(self) -> None:
        text = self.text
        open_actions: list[Action] = []
        defines = [""]
        # The template that contains what follows each `end`.
        self._outer: dict[int, str] = {}
        at = text.find("{{")
        while at >= 0:
            match = _ACTION.match(text, at)
            if match is None:
                self.faults.append(TemplateFault(at, at + 2, _unclosed(text, at)))
                return
            action = _action(match, defines[-1])
            self.actions.append(action)
            if action.keyword in _OPENING:
                open_actions.append(action)
                if action.keyword in ("define", "block"):
                    name = name_of(action)
                    self.defines.setdefault(name, []).append(action.start)
                    defines.append(name)
            elif action.keyword == "end":
                if not open_actions:
                    self.faults.append(TemplateFault(action.start, action.end, "{{ end }} closes nothing"))
                elif (opened := open_actions.pop()).keyword in ("define", "block"):
                    defines.pop()
                    self.blocks.append((opened, action))
                self._outer[action.start] = defines[-1]
            elif action.keyword == "else" and (not open_actions or open_actions[-1].keyword in ("define", "block")):
                self.faults.append(TemplateFault(action.start, action.end, "{{ else }} is outside of if, with and range"))
            at = text.find("{{", action.end)
        self.faults += (
            TemplateFault(action.start, action.end, f"{{{{ {action.keyword} }}}} is not closed by {{{{ end }}}}") for action in open_actions
        )


def name_of(action: Action) -> str:
    """Return the name of the template that a `define` or `block` defines, "" if it is not a literal."""
    match = _NAME.match(action.code)
    return match[1][1:-1] if match else ""


def _action(match: re.Match[str], define: str) -> Action:
    left = match["left"] is not None
    if match["comment"] is not None:
        comment = match["comment"]
        trims = not comment.endswith("*/")
        trimmed = comment[:-2] if trims else comment
        return Action(*match.span(), match.start("comment"), trimmed, "comment", match["trim"] is not None, trims, define)
    code = match["code"]
    trim = _RIGHT_TRIM.search(code)
    if trim:
        code = code[: trim.start()]
    if keyword := _KEYWORD.match(code):
        kind = keyword[1]
    else:
        kind = "assignment" if _ASSIGNMENT.match(code) else ""
    return Action(*match.span(), match.start("code"), code, kind, left, trim is not None, define)


def _unclosed(text: str, at: int) -> str:
    """Return what is wrong with an action that does not end."""
    if text.startswith(("{{/*", "{{- /*"), at):
        return "the comment is not closed: a comment ends with */}} or */ -}}"
    return "the action is not closed: }} is missing, or a quotation mark in it"


class TemplateCall(NamedTuple):
    """A call of another template by a literal name.

    Attributes:
        name: the name.
        start: offset of the quotation mark before the name.
        end: offset after the quotation mark behind it.
        is_printed: whether the output of the template is printed as it is, apart from indentation and quotation marks, or becomes the value
            of a variable as it is.
    """

    name: str
    start: int
    end: int
    is_printed: bool


_STRING = r"""(?:"(?:\\.|[^"\\\n]|)*+"|`[^`]*+`)"""
_CALL = pattern(rf"""(?<![\w."$])(?:include|template|block)\s+({_STRING})""")
_OPERAND = pattern(rf"""\s+|{_STRING}|'(?:\\.|[^'\\\n]|)*+'|[^\s|()"'`]+|.""", re.DOTALL)
_DECLARED = pattern(r"\s*(\$\w+)\s*:=")
_ASSIGNED = pattern(r"\s*(\$\w+)\s*=(?!=)")
_FORMAT = pattern(r"""["`](?:[^%"`]|%[s%])*["`]""")
_NAMED = pattern(r"\$\w+")
_PRINTED_VARIABLE = pattern(r"\s*(\$\w+)\s*(?:\|\s*(?:n?indent\s+\d+|s?quote)\s*)*\Z")
# They write something before, after or around each line of their last operand.
_DECORATIONS = frozenset({"indent", "nindent", "quote", "squote"})


def calls(action: Action) -> list[TemplateCall]:
    """Return the calls of other templates by literal names in an action."""
    code = action.code
    if action.keyword == "comment" or ("include" not in code and action.keyword not in ("template", "block")):
        return []
    printed: set[int] = set()
    if action.keyword == "":
        printed.update(_printed_names(code, 0, len(code)))
    elif declared := _DECLARED.match(code):
        printed.update(_printed_names(code, declared.end(), len(code)))
    base = action.code_start
    return [
        TemplateCall(match[1][1:-1], base + match.start(1), base + match.end(1), action.keyword == "template" or match.start(1) in printed)
        for match in _CALL.finditer(code)
    ]


def _printed_names(code: str, start: int, end: int) -> Iterator[int]:
    """Yield the offsets of the names of templates whose output a pipeline prints as it is."""
    commands = _commands(code, start, end)
    while len(commands) > 1 and commands[-1] and code[slice(*commands[-1][0])] in _DECORATIONS:
        commands.pop()
    if not commands or not commands[-1]:
        return
    command = commands[-1]
    name = code[slice(*command[0])]
    if len(commands) > 1:
        # The value of a pipeline is printed, unless it is empty.
        if name == "default" and len(command) == 2:
            yield from _printed_operand(code, command[1])
    elif name == "include":
        if len(command) > 1 and code[command[1][0]] in '"`':
            yield command[1][0]
    elif name == "default" and len(command) == 3:
        yield from _printed_operand(code, command[1])
    elif name in ("indent", "nindent", "quote", "squote"):
        yield from _printed_operand(code, command[-1])
    elif name == "printf" and len(command) > 1 and _FORMAT.fullmatch(code, *command[1]):
        for operand in command[2:]:
            yield from _printed_operand(code, operand)
    elif name == "print":
        for operand in command[1:]:
            yield from _printed_operand(code, operand)
    elif len(command) == 1:
        yield from _printed_operand(code, command[0])


def _printed_operand(code: str, operand: tuple[int, int]) -> Iterator[int]:
    start, end = operand
    if code[start] == "(" and code[end - 1] == ")":
        yield from _printed_names(code, start + 1, end - 1)


def _commands(code: str, start: int, end: int) -> list[list[tuple[int, int]]]:
    """Return the commands of a pipeline, each a list of operands as (start, end)."""
    commands: list[list[tuple[int, int]]] = [[]]
    depth = first = 0
    for match in _OPERAND.finditer(code, start, end):
        token = match[0]
        if token == "(":
            first = first if depth else match.start()
            depth += 1
        elif token == ")":
            depth -= 1
            if not depth:
                commands[-1].append((first, match.end()))
        elif depth or token.isspace():
            continue
        elif token == "|":
            commands.append([])
        else:
            commands[-1].append(match.span())
    return commands


def helper_variables(template: Template, helpers: Collection[str]) -> dict[str, set[str]]:
    """Return the variables whose value is always the output of a helper as it is, by the template that contains them.

    `helpers`: names of the helpers that count.
    """
    found: dict[str, set[str]] = {}
    others: dict[str, set[str]] = {}
    for action in template.actions:
        for name in _NAMED.findall(action.code) if action.keyword in ("range", "with", "if", "else") and ":=" in action.code else ():
            others.setdefault(action.define, set()).add(name)
        if action.keyword != "assignment":
            continue
        if declared := _DECLARED.match(action.code):
            is_output = any(call.is_printed and call.name in helpers for call in calls(action))
            (found if is_output else others).setdefault(action.define, set()).add(declared[1])
        elif assigned := _ASSIGNED.match(action.code):
            others.setdefault(action.define, set()).add(assigned[1])
    return {define: names - others.get(define, set()) for define, names in found.items()}


def printed_variable(action: Action) -> tuple[str, int]:
    """Return the variable whose value an action prints as it is, with its end in the code; "" if it does not print one."""
    match = _PRINTED_VARIABLE.match(action.code)
    return (match[1], match.end(1)) if match and action.keyword == "" else ("", 0)

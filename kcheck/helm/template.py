"""The text of a Go template: pieces of text and actions with their offsets, and what is wrong with it before it is rendered."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

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
_MAX_PIPELINES = 100
_CALL = pattern(rf"""(?<![\w."$])(?:include|template|block)\s+({_STRING})""")
_OPERAND = pattern(rf"""\s+|{_STRING}|'(?:\\.|[^'\\\n]|)*+'|[^\s|()"'`]+|.""", re.DOTALL)
_DECLARED = pattern(r"\s*(\$\w+)\s*:=")
_ASSIGNED = pattern(r"\s*(\$\w+)\s*=(?!=)")
_VERB = pattern(r"%(.?)")
_BLANK = pattern(r"""(?:["`](?:\s|\\[nrt])*["`]|\(\s*repeat\s+\d+\s+"\s*"\s*\))""")
_NAMED = pattern(r"\$\w+")
_PRINTED_VARIABLE = pattern(r"\s*(\$\w+)\s*(?:\|\s*(?:n?indent\s+\d+|s?quote)\s*)*\Z")
# They write something before, after or around each line of their last operand, or remove whitespace around it.
_DECORATIONS = frozenset({"indent", "nindent", "quote", "squote", "trim", "trimPrefix", "trimSuffix", "toString", "toJson", "mustToJson"})
_SPACING = frozenset({"indent", "nindent", "trim"})
_TRIMS = frozenset({"trimPrefix", "trimSuffix"})
_PARSERS = frozenset({"fromYaml", "fromYamlArray", "fromJson", "fromJsonArray", "mustFromJson"})
_SERIALIZERS = frozenset(
    {
        "toYaml", "mustToYaml", "toYamlPretty", "toJson", "mustToJson",
        "toPrettyJson", "mustToPrettyJson", "toRawJson", "mustToRawJson",
    }
)  # fmt: skip
# Their output is one of these elements of the command, whose first one is the name.
_CHOICES = {"ternary": slice(1, 3), "coalesce": slice(1, None), "required": slice(2, 3), "tpl": slice(1, 2)}


def calls(action: Action) -> list[TemplateCall]:
    """Return the calls of other templates by literal names in an action."""
    code = action.code
    if action.keyword == "comment" or ("include" not in code and action.keyword not in ("template", "block")):
        return []
    printed: set[int] = set()
    if _is_nested_deeply(code):
        # What it prints is traced to the action.
        pass
    elif action.keyword == "":
        printed.update(_printed_names(code, 0, len(code)))
    elif declared := _DECLARED.match(code):
        printed.update(_printed_names(code, declared.end(), len(code)))
    base = action.code_start
    return [
        TemplateCall(match[1][1:-1], base + match.start(1), base + match.end(1), action.keyword == "template" or match.start(1) in printed)
        for match in _CALL.finditer(code)
    ]


def _is_nested_deeply(code: str) -> bool:
    """Return whether an action has so many pipelines that reading them recursively may be too much."""
    return code.count("(") + code.count("|") > _MAX_PIPELINES


def _printed_names(code: str, start: int, end: int) -> Iterator[int]:
    """Yield the offsets of the names of templates whose output a pipeline prints as it is."""
    commands = _commands(code, start, end)
    while len(commands) > 1 and _is_decoration(code, commands[-1]):
        commands.pop()
    if not commands or not commands[-1]:
        return
    command = commands[-1]
    name = code[slice(*command[0])]
    if len(commands) > 1:
        # The value of a pipeline is printed, unless it is empty.
        if name == "default" and len(command) == 2:
            yield from _printed_operand(code, command[1])
        elif name == "required" and len(command) == 2 and commands[-2]:
            yield from _printed_names(code, start, commands[-2][-1][1])
    elif name == "include":
        if len(command) > 1 and code[command[1][0]] in '"`':
            yield command[1][0]
    else:
        for operand in _printed_operands(code, name, command):
            yield from _printed_operand(code, operand)


def _printed_operands(code: str, name: str, command: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the operands of a command, each as (start, end), that it prints as they are. `name`: its function."""
    if name == "default":
        return command[1:2] if len(command) == 3 else []
    if _is_decoration(code, command[:-1]):
        return command[-1:]
    if name == "printf" and len(command) > 1:
        verbs = _verbs(code[slice(*command[1])])
        return [operand for verb, operand in zip(verbs, command[2:], strict=False) if verb in ("s", "v")]
    if name == "print":
        return command[1:]
    if name in _CHOICES:
        return command[_CHOICES[name]]
    return command if len(command) == 1 else []


def _is_decoration(code: str, command: Sequence[tuple[int, int]]) -> bool:
    """Return whether a command prints its last operand, which it lacks, as it is, apart from whitespace and quotation marks."""
    name = code[slice(*command[0])] if command else ""
    return name in _DECORATIONS and (name not in _TRIMS or (len(command) == 2 and _BLANK.fullmatch(code, *command[1]) is not None))


def _verbs(format: str) -> list[str]:
    """Return the verbs of a literal format, empty if it is computed or has other directives."""
    if format[:1] not in ('"', "`"):
        return []
    verbs = [verb for verb in _VERB.findall(format) if verb != "%"]
    return verbs if all(verb.isalpha() for verb in verbs) else []


def _printed_operand(code: str, operand: tuple[int, int]) -> Iterator[int]:
    start, end = operand
    if code[start] == "(" and code[end - 1] == ")":
        yield from _printed_names(code, start + 1, end - 1)


class ReparsedCall(NamedTuple):
    """A call of another template whose output is parsed, and printed as it is serialized again.

    Attributes:
        name: name of the template.
        start: offset of the call in the code of the action.
        name_end: offset of the quotation mark after the name.
        end: offset after the call.
    """

    name: str
    start: int
    name_end: int
    end: int


def reparsed_call(action: Action) -> ReparsedCall | None:
    """Return the call in an action such as `include "x" . | fromYaml | toYaml | nindent 4`, None if it is none."""
    code = action.code
    if action.keyword or "include" not in code or "from" not in code or _is_nested_deeply(code):
        return None
    layers = [each for each in _layers(code, 0, len(code)) if each[0] not in _SPACING]
    names = [name for name, _, _ in layers]
    if len(layers) < 3 or names[0] != "include":
        return None
    pairs = list(zip(names[1::2], names[2::2], strict=False))
    if len(names) != 2 * len(pairs) + 1 or not all(one in _PARSERS and other in _SERIALIZERS for one, other in pairs):
        return None
    _, start, end = layers[0]
    found = _CALL.match(code, start, end)
    return ReparsedCall(found[1][1:-1], start, found.end(1) - 1, end) if found is not None else None


def _layers(code: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Yield the functions that a value passes through in a pipeline, the innermost first, with the start and end of their commands."""
    commands = _commands(code, start, end)
    for number, command in enumerate(commands):
        if not command:
            return
        first, last = command[0], command[-1]
        name = code[slice(*first)]
        if not number and name != "include" and code[last[0]] == "(" and code[last[1] - 1] == ")":
            yield from _layers(code, last[0] + 1, last[1] - 1)
        if name[:1] != "(":
            yield name, first[0], last[1]


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

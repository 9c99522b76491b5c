"""The text of a Go template: pieces of text and actions with their offsets, and what is wrong with it before it is rendered."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

# As the lexer of text/template reads an action: quoted text may contain "}}", and a comment follows its delimiter directly.
_ACTION = pattern(
    r"""
    \{\{ (?P<left> - (?=[ \t\r\n]) )?
    (?: (?P<comment> [ \t\r\n]? /\* .*? \*/ (?: [ \t\r\n]- )? ) \}\}
      | (?P<code> (?: "(?:\\.|[^"\\\n]|)*+" | `[^`]*+` | '(?:\\.|[^'\\\n]|)*+' | [^"`'}] | \}(?!\}) | )*+ ) \}\} )
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
        faults: what makes it invalid; actions after the first fault may be missing.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.actions: list[Action] = []
        self.defines: dict[str, list[int]] = {}
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
                elif open_actions.pop().keyword in ("define", "block"):
                    defines.pop()
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
        return Action(*match.span(), match.start("comment"), comment, "comment", left, not comment.endswith("*/"), define)
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


class Call(NamedTuple):
    """A call of another template.

    Attributes:
        name: the name, "" if it is computed.
        parts: the literals in a computed name.
        is_file: whether the computed name is that of a file in the folder of the template.
        is_printed: whether the output of the template is printed as it is, possibly indented.
        is_hashed: whether only a hash of its output is used.
        start: offset of the name in the template.
    """

    name: str
    parts: tuple[str, ...]
    is_file: bool
    is_printed: bool
    is_hashed: bool
    start: int


_STRING = r"""(?:"(?:\\.|[^"\\\n]|)*+"|`[^`]*+`)"""
_CALL = pattern(rf"""(?<![\w."$])(include|template|block)\s+(?:({_STRING})|(\((?:[^()"`]|{_STRING}|\([^()]*\))*\)|[$.][\w.]*))""")
_LITERAL = pattern(_STRING)
_INDENTS = pattern(r"(?:\s*\|\s*n?indent\s+\d+)*\s*\Z")
_HASHED = pattern(r"\s*\|\s*(?:sha1sum|sha256sum|sha512sum|adler32sum|md5sum)\b")


def calls(action: Action) -> Iterator[Call]:
    """Yield the calls of other templates in an action."""
    code = action.code
    if "include" not in code and action.keyword not in ("template", "block"):
        return
    for match in _CALL.finditer(code):
        literal, computed = match[2], match[3]
        name = literal[1:-1] if literal else ""
        parts = tuple(part[0][1:-1] for part in _LITERAL.finditer(computed)) if computed else ()
        is_first = not code[: match.start()].strip() and action.keyword in ("", "template", "block")
        rest = _after_argument(code, match.end()) if is_first else len(code)
        is_printed = is_first and (match[1] != "include" or (rest >= 0 and _INDENTS.match(code, rest) is not None))
        is_hashed = is_first and rest >= 0 and _HASHED.match(code, rest) is not None
        is_file = computed is not None and "BasePath" in computed
        yield Call(name, parts, is_file, is_printed, is_hashed, action.code_start + match.start(2 if literal else 3))


def _after_argument(code: str, at: int) -> int:
    """Return the offset after the argument of a call, where its pipeline goes on; -1 if that is not clear."""
    depth = 0
    while at < len(code):
        char = code[at]
        if char in "\"`":
            match = _LITERAL.match(code, at)
            if match is None:
                return -1
            at = match.end()
            continue
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth < 0:
                return -1
        elif char == "|" and not depth:
            return at
        at += 1
    return at


def unmarkable(templates: dict[str, Template], names: dict[str, str]) -> frozenset[str]:
    """Return the names of templates whose output is not always printed as it is, or that such templates call.

    What is written into their output might change what other templates compute from it.

    Args:
        templates: the templates by file.
        names: the name under which each file can be included.
    """
    called: dict[str, list[Call]] = {}
    every = {name for template in templates.values() for name in template.defines} | set(names.values())
    # A file can be included as well, so the calls outside of `define` belong to its own name.
    for file, template in templates.items():
        for action in template.actions:
            for call in calls(action):
                called.setdefault(action.define or names.get(file, ""), []).append(call)
    used = _reachable([name for file, name in names.items() if not file.rpartition("/")[2].startswith("_")], called, every)
    wrong = (call for name in used for call in called.get(name, ()) if not (call.is_printed or call.is_hashed or call.is_file))
    return frozenset(_reachable([name for call in wrong for name in _targets(call, every)], called, every))


def _reachable(names: list[str], called: Mapping[str, Sequence[Call]], every: Collection[str]) -> set[str]:
    """Return the names of templates, and those that they call, directly or through others."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += (target for call in called.get(name, ()) for target in _targets(call, every))
    return found


def _targets(call: Call, every: Collection[str]) -> Sequence[str]:
    """Return the names that a call may mean."""
    if call.name:
        return (call.name,)
    if call.is_file and not call.parts:
        return ()
    parts = [part.strip("%sdvq") for part in call.parts]
    parts = [part for part in parts if part]
    return [name for name in every if not parts or any(part in name for part in parts)]

"""Compilation of regular expressions to programs, which `kcheck.regex.automaton` and `kcheck.regex.leftmost` run."""

from __future__ import annotations

from typing import Any, Final

from kcheck.regex.character_classes import PERL, Charset
from kcheck.regex.parser import Tree
from kcheck.text.record import NamedTuple

CHAR: Final = 0
SPLIT: Final = 1
LOOK: Final = 2
FOUND: Final = 3

AT_START, AFTER_LINE_BREAK, AFTER_WORD, AFTER_OTHER = range(4)
"""The kind of the previous character: none, a line break, a word character, another one."""
WORD = Charset(PERL["w"])


class CompiledPattern(NamedTuple):
    """A compiled pattern.

    `instructions`: (CHAR, Charset, next), (SPLIT, positions by preference, None), (LOOK, assertion, next) and (FOUND, None, None).
    `start`: the position of the first one. `anchored`: whether the pattern can only match at the beginning of the text.
    """

    instructions: list[tuple[int, Any, Any]]
    start: int
    anchored: bool


def compile_program(tree: Tree) -> CompiledPattern:
    """Compile the tree of a pattern."""
    instructions: list[tuple[int, Any, Any]] = [(FOUND, None, None)]
    start = _emit(tree, 0, instructions)
    return CompiledPattern(instructions, start, _is_anchored(tree))


def kind_before(char: str) -> int:
    """Return the kind of a character, as the previous character of a position. "" is the beginning of the text."""
    if not char:
        return AT_START
    return AFTER_LINE_BREAK if char == "\n" else AFTER_WORD if char in WORD else AFTER_OTHER


def holds(look: str, before: int, char: str) -> bool:
    """Whether an assertion holds. `before`: the kind of the previous character; `char`: the next one, "" at the end of the text."""
    if look == "start":
        return before == AT_START
    if look == "end":
        return not char
    if look == "line start":
        return before in (AT_START, AFTER_LINE_BREAK)
    if look == "line end":
        return not char or char == "\n"
    boundary = (before == AFTER_WORD) is not (bool(char) and char in WORD)
    return boundary is (look == "word")


def _emit(tree: Tree, after: int, program: list[tuple[int, Any, Any]]) -> int:
    """Append the instructions that match the tree and continue at `after`; return their start position."""
    kind = tree[0]
    if kind == "set":
        program.append((CHAR, tree[1], after))
    elif kind == "look":
        program.append((LOOK, tree[1], after))
    elif kind == "cat":
        for part in reversed(tree[1]):
            after = _emit(part, after, program)
        return after
    elif kind == "alt":
        positions = tuple(_emit(part, after, program) for part in tree[1])
        program.append((SPLIT, positions, None))
    else:
        return _emit_repeat(tree, after, program)
    return len(program) - 1


def _emit_repeat(tree: Tree, after: int, program: list[tuple[int, Any, Any]]) -> int:
    _, part, minimum, maximum, lazy = tree
    position = after
    if maximum is None:
        loop = len(program)
        program.append((FOUND, None, None))
        position = _emit(part, loop, program)
        program[loop] = _split(position, after, lazy)
        if minimum:
            minimum -= 1
        elif _is_nullable(part):
            # Like Go: "x*" is "(x+)?" if x can be empty, so that an empty x that is preferred ends the loop.
            program.append(_split(position, after, lazy))
            position = len(program) - 1
        else:
            position = loop
    else:
        for _ in range(maximum - minimum):
            program.append(_split(_emit(part, position, program), after, lazy))
            position = len(program) - 1
    for _ in range(minimum):
        position = _emit(part, position, program)
    return position


def _split(body: int, after: int, lazy: bool) -> tuple[int, Any, Any]:
    return SPLIT, (after, body) if lazy else (body, after), None


def _is_nullable(tree: Tree) -> bool:
    """Whether the tree can match an empty text."""
    if tree[0] == "repeat":
        return not tree[2] or _is_nullable(tree[1])
    if tree[0] == "cat":
        return all(map(_is_nullable, tree[1]))
    if tree[0] == "alt":
        return any(map(_is_nullable, tree[1]))
    return bool(tree[0] == "look")


def _is_anchored(tree: Tree) -> bool:
    if tree[0] == "cat":
        return bool(tree[1]) and _is_anchored(tree[1][0])
    if tree[0] == "alt":
        return all(_is_anchored(part) for part in tree[1])
    return bool(tree == ("look", "start"))

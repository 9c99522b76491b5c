"""Compilation of regular expressions to the program that `kcheck.regex.automaton` runs."""

from __future__ import annotations

from typing import Any, Final

from kcheck.regex.parser import Tree, read_pattern

CHAR: Final = 0
SPLIT: Final = 1
LOOK: Final = 2
FOUND: Final = 3

Program = list[tuple[int, Any, Any]]
"""Instructions: (CHAR, Charset, next), (SPLIT, positions, None), (LOOK, assertion, next) and (FOUND, None, None)."""


def compile_program(pattern: str) -> tuple[Program, int, bool]:
    """Compile a pattern.

    Returns the program, its start position, and whether it can only match at the beginning of the text. Raises BadPattern.
    """
    tree = read_pattern(pattern)
    program: Program = [(FOUND, None, None)]
    return program, _emit(tree, 0, program), _is_anchored(tree)


def _emit(tree: Tree, after: int, program: Program) -> int:
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


def _emit_repeat(tree: Tree, after: int, program: Program) -> int:
    _, part, minimum, maximum = tree
    position = after
    if maximum is None:
        position = len(program)
        program.append((FOUND, None, None))
        program[position] = (SPLIT, (_emit(part, position, program), after), None)
    else:
        for _ in range(maximum - minimum):
            program.append((SPLIT, (_emit(part, position, program), after), None))
            position = len(program) - 1
    for _ in range(minimum):
        position = _emit(part, position, program)
    return position


def _is_anchored(tree: Tree) -> bool:
    if tree[0] == "cat":
        return bool(tree[1]) and _is_anchored(tree[1][0])
    if tree[0] == "alt":
        return all(_is_anchored(part) for part in tree[1])
    return bool(tree == ("look", "start"))

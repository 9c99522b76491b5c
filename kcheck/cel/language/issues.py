"""Errors of an expression, with their positions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Issue:
    """An error of an expression.

    `line` and `column` are counted from 1, in characters, like the server's; `offset` is counted from 0. Line 0: the error concerns the
    whole expression.
    """

    message: str
    offset: int = 0
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}" if self.line else self.message


def issue_at(text: str, offset: int, message: str) -> Issue:
    """Return an issue at an offset of the text."""
    line = text.count("\n", 0, offset)
    return Issue(message, offset, line + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1)


class Broken(Exception):
    """An expression that cannot be parsed; `offset` is the position of the error."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message

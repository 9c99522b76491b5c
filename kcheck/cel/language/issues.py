"""What is wrong with an expression, and where."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Issue:
    """`line` and `column` count from 1, in characters, as the server counts them; `offset` from 0. 0 as line: of the whole expression."""

    message: str
    offset: int = 0
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}" if self.line else self.message


def place(text: str, offset: int, message: str) -> Issue:
    """The issue at an offset of the text."""
    line = text.count("\n", 0, offset)
    return Issue(message, offset, line + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1)


class Broken(Exception):
    """An expression that cannot be read; `offset` is where."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message

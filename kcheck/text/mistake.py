"""Errors in a file that a user writes for kcheck, with their positions."""

from __future__ import annotations

from collections.abc import Iterable

from kcheck.text.record import NamedTuple


class Mistake(NamedTuple):
    """An error in a file. Line and column start at 1."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


class InvalidFile(Exception):
    """A file is invalid. `mistakes`: all errors, in file order."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(sorted(mistakes))
        super().__init__("\n".join(map(str, self.mistakes)))

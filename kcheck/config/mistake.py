"""What is wrong with a config file, and where."""

from __future__ import annotations

from collections.abc import Iterable

from kcheck.text.record import NamedTuple


class Mistake(NamedTuple):
    """One thing wrong in a config file; line and column count from 1."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


class BadConfig(Exception):
    """A config file that cannot be followed: all its mistakes, in the order of the file."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(sorted(mistakes))
        super().__init__("\n".join(map(str, self.mistakes)))

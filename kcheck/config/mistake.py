"""Errors in a config file, with their positions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Mistake(NamedTuple):
    """An error in a config file. Line and column start at 1."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


class BadConfig(Exception):
    """The config file is invalid. `mistakes`: all errors, in file order."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(sorted(mistakes))
        super().__init__("\n".join(map(str, self.mistakes)))

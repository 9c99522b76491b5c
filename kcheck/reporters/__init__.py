"""Output formats of a report, for people, editors and CI."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TextIO

from kcheck.finding.report import Report
from kcheck.kube.suggestions import suggest
from kcheck.reporters.style import PLAIN, Style
from kcheck.text.record import NamedTuple

__all__ = ["PLAIN", "Reporter", "Style", "UnknownFormat", "Write", "find_reporter", "reporters"]

Write = Callable[[Report, TextIO, Style], None]
"""A function that writes a report."""


class Reporter(NamedTuple):
    """An output format.

    Attributes:
        name: Value of --format.
        write: The function that writes the report, or the name of a module with a function `write`, which is imported when needed.
        needs_rule_docs: Whether the report must contain titles and documentation of rules.
        help: Short description.
        needs_facts: Whether the report must contain the facts of all objects.
    """

    name: str
    write: Write | str
    needs_rule_docs: bool = True
    help: str = ""
    needs_facts: bool = False

    def load(self) -> Write:
        """Returns the function that writes the report."""
        if isinstance(self.write, str):
            write: Write = import_module(self.write).write
            return write
        return self.write


class UnknownFormat(ValueError):
    """The format is not defined by kcheck or a plug-in. The message lists the known formats."""


def reporters(contributed: Iterable[Reporter]) -> dict[str, Reporter]:
    """Returns reporters by name. The first one of a name wins: plug-ins cannot replace a built-in reporter, as CI relies on it."""
    known: dict[str, Reporter] = {}
    for each in contributed:
        known.setdefault(each.name, each)
    return known


def find_reporter(name: str, contributed: Iterable[Reporter]) -> Reporter:
    """Returns the reporter of a format. Raises UnknownFormat."""
    known = reporters(contributed)
    if name not in known:
        raise UnknownFormat(f'unknown format "{name}"; {suggest(name, known)}')
    return known[name]

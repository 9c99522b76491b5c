"""Output formats of a report, for people, editors and CI."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TextIO

from kcheck.finding.report import Report
from kcheck.kube.suggestions import suggest
from kcheck.reporters.style import PLAIN, Style
from kcheck.text.record import NamedTuple

__all__ = ["BUILT_IN", "PLAIN", "Reporter", "Style", "UnknownFormat", "Write", "find_reporter", "reporters"]

Write = Callable[[Report, TextIO, Style], None]
"""A function that writes a report."""


class Reporter(NamedTuple):
    """An output format.

    Attributes:
        name: Value of --format.
        write: The function that writes the report, or the name of a module with a function `write`, which is imported when needed.
        needs_rule_docs: Whether the report must contain titles and documentation of rules.
        help: Short description.
    """

    name: str
    write: Write | str
    needs_rule_docs: bool = True
    help: str = ""

    def load(self) -> Write:
        """Returns the function that writes the report."""
        if isinstance(self.write, str):
            write: Write = import_module(self.write).write
            return write
        return self.write


BUILT_IN: tuple[Reporter, ...] = (
    Reporter("text", "kcheck.reporters.text", needs_rule_docs=False, help="findings with their source lines"),
    Reporter("concise", "kcheck.reporters.concise", needs_rule_docs=False, help="one line for each finding"),
    Reporter("json", "kcheck.reporters.json", needs_rule_docs=False, help="all data, for programs"),
    Reporter("sarif", "kcheck.reporters.sarif", help="for code scanning"),
    Reporter("github", "kcheck.reporters.github", needs_rule_docs=False, help="annotations in GitHub Actions"),
)
"""The built-in reporters, in the order of --help."""


class UnknownFormat(ValueError):
    """The format is not defined by kcheck or a plug-in. The message lists the known formats."""


def reporters(added: Iterable[Reporter] = ()) -> dict[str, Reporter]:
    """Returns the built-in reporters and those of plug-ins, by name. Plug-ins cannot replace a built-in reporter, as CI relies on it."""
    known = {each.name: each for each in BUILT_IN}
    for each in sorted(added, key=lambda each: each.name):
        known.setdefault(each.name, each)
    return known


def find_reporter(name: str, added: Iterable[Reporter] = ()) -> Reporter:
    """Returns the reporter of a format. Raises UnknownFormat."""
    known = reporters(added)
    if name not in known:
        raise UnknownFormat(f'unknown format "{name}"; {suggest(name, known)}')
    return known[name]

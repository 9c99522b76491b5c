"""A report in the forms that people, editors and CI read."""

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
"""Writes a report."""


class Reporter(NamedTuple):
    """A form of the report. `help`: what it is for, in a few words; `needs_rule_docs`: the report must hold titles and pages of rules.

    `write`: the function, or the name of a module that has it as `write` and is imported when it is needed.
    """

    name: str
    write: Write | str
    needs_rule_docs: bool = True
    help: str = ""

    def load(self) -> Write:
        """The function that writes the report."""
        if isinstance(self.write, str):
            found: Write = import_module(self.write).write
            return found
        return self.write


BUILT_IN: tuple[Reporter, ...] = (
    Reporter("text", "kcheck.reporters.text", needs_rule_docs=False, help="findings with their source lines"),
    Reporter("concise", "kcheck.reporters.concise", needs_rule_docs=False, help="one line for each finding"),
    Reporter("json", "kcheck.reporters.json", needs_rule_docs=False, help="all data, for programs"),
    Reporter("sarif", "kcheck.reporters.sarif", help="for code scanning"),
    Reporter("github", "kcheck.reporters.github", needs_rule_docs=False, help="annotations in GitHub Actions"),
)
"""Those of kcheck itself, in the order in which help lists them."""


class UnknownFormat(ValueError):
    """A format that neither kcheck nor a plug-in has; the message names those that exist."""


def reporters(added: Iterable[Reporter] = ()) -> dict[str, Reporter]:
    """All reporters by name: built-in ones, and those of plug-ins. A built-in one cannot be replaced, because CI relies on its form."""
    known = {each.name: each for each in BUILT_IN}
    for each in sorted(added, key=lambda each: each.name):
        known.setdefault(each.name, each)
    return known


def find_reporter(name: str, added: Iterable[Reporter] = ()) -> Reporter:
    """The reporter of a format. Raises UnknownFormat."""
    known = reporters(added)
    if name not in known:
        raise UnknownFormat(f"unknown format {name!r}; {suggest(name, known)}")
    return known[name]

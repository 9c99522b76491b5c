"""The values that the file stage passes to the bundle stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kcheck.check.file import Outcome
from kcheck.facts.facts import Facts
from kcheck.finding.finding import Finding


class Checked(NamedTuple):
    """A file with the outcome of its check. `number`: its index in the input."""

    number: int
    path: str
    outcome: Outcome


FactsByFile = list[tuple[str, Sequence[Facts]]]
"""Paths of files in input order, each with the facts of its objects."""

RelationCache = Callable[[FactsByFile, Callable[[], list[Finding]]], list[Finding]]
"""Returns the findings of rules across objects for these files: cached ones, or the result of calling the function."""

"""Drawing of findings as caret comments, as on rule pages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from kcheck.finding.finding import Finding
from kcheck.rule.page import Drawing


def drawing_of(finding: Finding, text: str) -> Drawing:
    """Returns the drawing of a finding: on its first line, with at least one caret."""
    line, start, last, end = finding.range
    if last != line:
        end = len(text.split("\n")[line - 1]) + 1
    return Drawing(line, start, max(end, start + 1), finding.concise)


def shows(drawing: Drawing, finding: Finding, text: str) -> bool:
    """Whether a drawing shows a finding."""
    return drawing[:3] == drawing_of(finding, text)[:3] and drawing.words in finding.concise


def draw(text: str, drawings: Iterable[Drawing]) -> str:
    """Returns the text with drawings below its lines."""
    below: dict[int, list[str]] = {}
    for line, start, end, words in sorted(drawings):
        margin = "#" + " " * (start - 2) if start > 1 else "# <"
        below.setdefault(line, []).append(f"{margin}{'^' * (end - start)} {words}".rstrip())
    lines = text.split("\n")
    return "\n".join(part for number, line in enumerate(lines, 1) for part in (line, *below.get(number, ())))


def difference(expected: str, actual: str) -> str:
    """Returns the lines that differ, with two lines of context."""
    lines = difflib.unified_diff(expected.splitlines(), actual.splitlines(), lineterm="", n=2)
    return "\n".join(line for line in lines if not line.startswith(("---", "+++")))

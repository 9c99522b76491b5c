"""Differences as text, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from kcheck.diff.fields import FieldDiff
from kcheck.diff.states import ObjectDiff, StateDiff
from kcheck.finding.finding import Finding
from kcheck.reporters.style import BOLD, DIM, PLAIN, SEVERITY_COLOURS, Style
from kcheck.reporters.terminal_safe import Glyphs, without_commands
from kcheck.text.words import counted, enumeration

_MAX_FIELDS = 20
_COLOURS = {"refused": "1;31", "changed": "1;33", "added": "1;32", "removed": "1;35"}


def write(diff: StateDiff, out: TextIO, style: Style = PLAIN) -> None:
    glyphs = Glyphs.of(out)
    blocks = ["".join(f"{line}\n" for line in _lines(each, glyphs, style)) for each in diff.objects]
    if diff.elsewhere:
        lines = ["in other objects", *(f"  {_place(each, glyphs)}: {_finding(each, glyphs, style)}" for each in diff.elsewhere)]
        blocks.append("".join(f"{line}\n" for line in lines))
    blocks.append(f"{glyphs.visible(summary(diff))}\n")
    out.write(without_commands("\n".join(blocks)))


def summary(diff: StateDiff) -> str:
    """Returns the numbers of objects as a sentence."""
    parts = [f"{counted(number, 'object')} {word}" for word in ("changed", "added", "removed") if (number := diff.count(word))]
    if not parts:
        return f"No objects changed since {diff.state}."
    line = f"{enumeration(parts)} since {diff.state}."
    if diff.refused:
        line += f" Kubernetes {diff.kubernetes} refuses {diff.refused} of them."
    elif any(each.verdict == "accepted" for each in diff.objects):
        line += f" Kubernetes {diff.kubernetes} refuses none of them."
    unknown = sum(each.verdict == "unknown" for each in diff.objects)
    return line + (f" {counted(unknown, 'object')} without a schema not validated." if unknown else "")


def label_of(each: ObjectDiff) -> str:
    """Returns the word for what happens to an object."""
    return "refused" if each.verdict == "refused" else each.status


def note_of(each: ObjectDiff) -> str:
    """Returns where an object was before if it has moved, and what it was renamed to; otherwise ""."""
    if each.renamed_to is not None:
        return f"renamed to {each.renamed_to.title}"
    if each.older_place is None or each.status == "removed":
        return ""
    return "" if _plain_file(each.older_place.file).endswith(each.place.file) else f"was in {each.older_place.file}"


def _plain_file(file: str) -> str:
    return file.partition(":")[2] or file


def _lines(each: ObjectDiff, glyphs: Glyphs, style: Style) -> Iterator[str]:
    label = label_of(each)
    note = f" ({note_of(each)})" if note_of(each) else ""
    place = f"{each.place.file}:{each.place.range.line}"
    head = f"{style.paint(label, _COLOURS[label])}{' ' * (8 - len(label))}{style.paint(glyphs.visible(each.object.title), BOLD)}"
    yield f"{head} {style.paint(glyphs.visible(place), DIM)}{glyphs.visible(note)}"
    for change in each.fields[:_MAX_FIELDS]:
        yield f"  {glyphs.visible(field_text(change))}"
    if len(each.fields) > _MAX_FIELDS:
        yield f"  and {len(each.fields) - _MAX_FIELDS} more fields"
    for finding in sorted(each.findings, key=lambda f: -f.severity):
        yield f"  {_finding(finding, glyphs, style)}"


def field_text(change: FieldDiff) -> str:
    """Returns a change of a field on one line."""
    if change.old is None:
        return f"{change.field}: set to {value_text(change.new)}"
    old = value_text(change.old)
    return f"{change.field}: {old} removed" if change.new is None else f"{change.field}: {old} -> {value_text(change.new)}"


def value_text(value: str | None) -> str:
    """Returns a value as people read it: an empty one in quotes."""
    return value or '""'


def _finding(finding: Finding, glyphs: Glyphs, style: Style) -> str:
    severity = style.paint(finding.severity.word, SEVERITY_COLOURS[finding.severity])
    return f"{severity}[{glyphs.visible(finding.rule)}]: {glyphs.visible(finding.concise)}"


def _place(finding: Finding, glyphs: Glyphs) -> str:
    return glyphs.visible(f"{finding.file}:{finding.range.line}")

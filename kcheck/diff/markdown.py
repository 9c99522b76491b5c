"""Differences in Markdown, for a comment on a pull request. The text stays within the size that GitHub accepts."""

from __future__ import annotations

from typing import TextIO

from kcheck.diff.fields import FieldDiff
from kcheck.diff.states import ObjectDiff, StateDiff
from kcheck.diff.text import label_of, note_of, summary, value_text
from kcheck.finding.finding import Finding
from kcheck.reporters.markdown import MAX_SIZE
from kcheck.reporters.markdown_text import code, plain
from kcheck.reporters.style import PLAIN, Style
from kcheck.text.words import counted

MARKER = "<!-- kcheck diff -->"
"""The first line, by which a script finds the comment of an earlier run."""

_TABLE = "\n| | Object | Change |\n|---|---|---|\n"
_MAX_FIELDS = 10
# Room for the sentence about objects that are not shown.
_RESERVE = 200


def write(diff: StateDiff, out: TextIO, style: Style = PLAIN) -> None:
    head = f"{MARKER}\n### Changes of Kubernetes objects\n\n{plain(summary(diff))}\n"
    out.write(head)
    if not diff.objects and not diff.elsewhere:
        return
    out.write(_TABLE)
    rows = [*map(_row, diff.objects), *map(_row_elsewhere, diff.elsewhere)]
    free = MAX_SIZE - _RESERVE - len(_TABLE) - len(head.encode("utf-8"))
    for number, row in enumerate(rows):
        free -= len(row.encode("utf-8"))
        if free < 0:
            out.write(f"\n{counted(len(rows) - number, 'more row')} not shown, because the size of comments is limited.\n")
            return
        out.write(row)


def _row(each: ObjectDiff) -> str:
    label = label_of(each)
    note = note_of(each)
    parts = [_finding(finding) for finding in sorted(each.findings, key=lambda f: -f.severity)]
    parts += map(_field, each.fields[:_MAX_FIELDS])
    if len(each.fields) > _MAX_FIELDS:
        parts.append(f"and {len(each.fields) - _MAX_FIELDS} more fields")
    place = code(f"{each.place.file}:{each.place.range.line}") + (f"<br>{plain(note)}" if note else "")
    shown = f"**{label}**" if label == "refused" else label
    return f"| {shown} | {plain(each.object.title)}<br>{place} | {'<br>'.join(parts)} |\n"


def _row_elsewhere(finding: Finding) -> str:
    place = code(f"{finding.file}:{finding.range.line}")
    return f"| affected | {plain(finding.object.title)}<br>{place} | {_finding(finding)} |\n"


def _finding(finding: Finding) -> str:
    help = f"<br>help: {plain(finding.help)}" if finding.help else ""
    return f"{finding.severity.word} **{plain(finding.rule)}** {plain(finding.message)}{help}"


def _field(change: FieldDiff) -> str:
    field, old, new = code(change.field), code(value_text(change.old)), code(value_text(change.new))
    if change.old is None:
        return f"{field} set to {new}"
    return f"{field}: {old} removed" if change.new is None else f"{field}: {old} → {new}"

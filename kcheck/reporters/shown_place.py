"""Where a location is shown: in its file, or in the template that rendered input comes from."""

from __future__ import annotations

import re

from kcheck.finding.finding import Finding
from kcheck.finding.report import Report
from kcheck.kube.location import Location
from kcheck.reporters.style import BOLD, Style
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.text.record import NamedTuple
from kcheck.text.span import Range


class ShownPlace(NamedTuple):
    """A location as shown to services and people.

    Attributes:
        file: Path of the file, "" if there is none.
        range: Lines and columns in the file, None if they are unknown.
        rendered: Line in the rendered text, 0 if the location is in a file.
    """

    file: str
    range: Range | None
    rendered: int = 0


def shown_place(report: Report, place: Location) -> ShownPlace:
    """Returns where to show a location. Of rendered input, the template is known, but not the line in it."""
    rendered = report.rendered.get(place.file)
    if rendered is None:
        return ShownPlace(place.file, place.range)
    line = place.range.start.line
    return ShownPlace(rendered.template(line), None, line)


def position_of(report: Report, place: Location, glyphs: Glyphs, style: Style) -> str:
    """Returns a location for people: FILE:LINE:COLUMN, or TEMPLATE (rendered line LINE)."""
    at = shown_place(report, place)
    if at.rendered and at.file:
        return f"{style.paint(glyphs.visible(at.file), BOLD)} (rendered line {at.rendered})"
    start = place.range.start
    return f"{style.paint(glyphs.visible(place.file), BOLD)}:{start.line}:{start.column}"


def message_of(report: Report, finding: Finding) -> str:
    """Returns the message for services. For rendered input, it names the object and the rendered line instead of a line of a file."""
    if finding.file not in report.rendered:
        return finding.message
    return f"{subject_of(report, finding)}{finding.message} (rendered line {finding.range.start.line})"


def subject_of(report: Report, finding: Finding) -> str:
    """Returns the object of a finding in rendered input, with a colon and a space; "" for files and if the message names it."""
    return "" if finding.file not in report.rendered or names_object(finding) else f"{finding.object.title}: "


def names_object(finding: Finding) -> bool:
    """Whether the message or the source line already names the object. True without an object."""
    kind, name = finding.object.kind, finding.object.name
    if not kind or not name:
        return True
    word = rf"[\"']?{re.escape(name)}(?![\w.-])"
    in_line = finding.place.field.startswith("metadata") and re.search(rf"name[\"']?: *{word}", finding.place.line)
    return bool(in_line or re.search(rf"\b{re.escape(kind)} {word}", finding.message))

"""Reporter that prints service messages of TeamCity: each finding becomes a code inspection."""

from __future__ import annotations

import re
from typing import TextIO

from kcheck.finding.finding import Finding
from kcheck.finding.report import Report, RuleNote
from kcheck.finding.severity import ERROR, INFO, WARNING
from kcheck.reporters.shown_place import message_of, shown_place
from kcheck.reporters.style import PLAIN, Style
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.text.complaint import concise

_SEVERITIES = {ERROR: "ERROR", WARNING: "WARNING", INFO: "INFO"}
_SPECIAL = re.compile(r"[|'\[\]]")
_NOT_ASCII = re.compile(r"[^\x20-\x7e]")
# Limits of TeamCity, in characters.
_MAX_ID, _MAX_TEXT = 255, 4000
_GLYPHS = Glyphs()


def write(report: Report, out: TextIO, style: Style = PLAIN) -> None:
    report = report.without_echoes()
    for rule in sorted({finding.rule for finding in report.findings}):
        note = report.rules.get(rule) or RuleNote(rule, rule, INFO, "", "", "")
        name = note.title or rule
        type = {
            "id": rule[:_MAX_ID],
            "name": name[:_MAX_ID],
            "description": name[:_MAX_TEXT],
            "category": note.family[:_MAX_ID] or "kcheck",
        }
        out.write(_message("inspectionType", type))
    for finding in report.findings:
        out.write(_message("inspection", _inspection(report, finding)))


def _inspection(report: Report, finding: Finding) -> dict[str, str]:
    at = shown_place(report, finding.place)
    inspection = {
        "typeId": finding.rule[:_MAX_ID],
        "message": concise(message_of(report, finding), finding.help)[:_MAX_TEXT],
        "file": (at.file or finding.file)[:_MAX_TEXT],
    }
    if at.range is not None:
        inspection |= {"line": str(at.range.line)}
    return inspection | {"SEVERITY": _SEVERITIES[finding.severity]}


def _message(name: str, attributes: dict[str, str]) -> str:
    return f"##teamcity[{name} {' '.join(f'{key}={_quoted(value)}' for key, value in attributes.items())}]\n"


def _quoted(text: str) -> str:
    escaped = _SPECIAL.sub(lambda match: f"|{match[0]}", _GLYPHS.visible(text))
    return f"'{_NOT_ASCII.sub(_code, escaped)}'"


def _code(match: re.Match[str]) -> str:
    """Returns the escape codes of a character: UTF-16 code units."""
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"|0x{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))

"""Display options of a report, from command line options and the terminal."""

from __future__ import annotations

from kcheck.finding.severity import Severity
from kcheck.text.record import NamedTuple

BOLD, BLUE, DIM = "1", "1;34", "2"
SEVERITY_COLOURS = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.INFO: "1;36"}


class Style(NamedTuple):
    """Display options. Only reporters for people use them.

    Attributes:
        colour: Use ANSI colours.
        verbose: Also list skipped files.
        quiet: Omit the summary.
        statistics: Show a table of rules instead of the findings.
        show_all: Show every finding instead of rolling up equal ones.
        width: Maximum cells of a source line.
        group_by: Show one line per finding in groups: by file, rule or object. "" shows each finding with its source line.
        fail_on: The severity from which on findings fail the run.
    """

    colour: bool = False
    verbose: bool = False
    quiet: bool = False
    statistics: bool = False
    show_all: bool = False
    width: int = 100
    group_by: str = ""
    fail_on: Severity = Severity.WARNING

    def paint(self, text: str, code: str) -> str:
        """Returns the text with an ANSI code, or unchanged if colours are off."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text


PLAIN = Style()
"""The style for files and pipes: no colours, findings and summary."""

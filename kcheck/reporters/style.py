"""How a report is to be shown: what the caller found out about the terminal and the flags."""

from __future__ import annotations

from kcheck.finding.severity import Severity
from kcheck.text.record import NamedTuple

BOLD, BLUE, DIM = "1", "1;34", "2"
SEVERITY_COLOURS = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.INFO: "1;36"}


class Style(NamedTuple):
    """Reporters for programs heed none of this; those for people all of it.

    `verbose`: the files passed over as well. `quiet`: findings without the closing line. `statistics`: a table of rules instead
    of the findings. `width`: cells of a line that source lines are cut to.
    """

    colour: bool = False
    verbose: bool = False
    quiet: bool = False
    statistics: bool = False
    width: int = 100

    def paint(self, text: str, code: str) -> str:
        """The text in a colour, where colours are wanted."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text


PLAIN = Style()
"""No colours, findings and closing line: what a file or a pipe gets."""

"""Rendered input: text that a program such as Helm wrote to standard input, and the templates that its lines come from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from kcheck.text.record import NamedTuple


class Rendered:
    """Templates of the lines of a rendered text.

    `starts`: a line number and the template of the lines from there on, in order; "" if the template is unknown.
    """

    def __init__(self, starts: Iterable[tuple[int, str]] = ()) -> None:
        self._starts = tuple(starts)
        self._lines = [line for line, _ in self._starts]

    def template(self, line: int) -> str:
        """Returns the path of the template that a line comes from, "" if it is unknown."""
        index = bisect_right(self._lines, line) - 1
        return self._starts[index][1] if index >= 0 else ""


_SEPARATOR = "\x1f"


class RenderedPath(NamedTuple):
    """The path of a rendered template while it is checked. Reports show the template.

    Attributes:
        template: path of the template.
        chart: path of the chart.
        values: name of the set of values, "" for those of the chart.
        versions: the Kubernetes versions that the text was rendered for, separated by commas; "" for all versions of the run.
        name: the name under which helm prints the template.
    """

    template: str
    chart: str
    values: str
    versions: str
    name: str

    def __str__(self) -> str:
        return _SEPARATOR.join((*self, ""))

    @property
    def rendering(self) -> tuple[str, str, str]:
        """What the texts of one rendering have in common."""
        return self.chart, self.values, self.versions


def rendered_path(path: str) -> RenderedPath | None:
    """Return the parts of the path of a rendered template, None for other files."""
    if _SEPARATOR not in path:
        return None
    *parts, end = path.split(_SEPARATOR)
    # The name of a file may contain the character, too.
    return RenderedPath(*parts) if len(parts) == 5 and not end else None


def template_of(path: str) -> str:
    """Return the path of a file, for a rendered template that of the template."""
    rendered = rendered_path(path)
    return path if rendered is None else rendered.template

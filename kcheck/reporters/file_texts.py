"""The texts of files with findings, for formats that show more than the line of a finding."""

from __future__ import annotations

from bisect import bisect_left

from kcheck.discovery.discover import STDIN, Target, UnreadablePath, is_descriptor
from kcheck.discovery.load import load_file
from kcheck.finding.report import Report
from kcheck.kube.location import Location
from kcheck.redaction.document_secrets import shown_text
from kcheck.text.source import Source


class FileTexts:
    """Reads the files of a report again, each once."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._sources: dict[str, Source | None] = {}
        self._shown: dict[str, list[str]] = {}

    def source(self, place: Location) -> Source | None:
        """Returns the text of the file of a location, None if it cannot be read or has changed."""
        if place.file not in self._sources:
            self._sources[place.file] = self._read(place.file)
        source = self._sources[place.file]
        return source if source is not None and _is_in(source, place) else None

    def shown_lines(self, place: Location) -> list[str]:
        """Returns the lines of the file of a location, without secrets; none if the file cannot be read or has changed."""
        source = self.source(place)
        if source is None:
            return []
        if place.file not in self._shown:
            self._shown[place.file] = shown_text(source.path, source.text).splitlines()
        return self._shown[place.file]

    def is_public(self, place: Location, start: int, end: int) -> bool:
        """Whether the lines between two offsets contain no secrets."""
        source = self.source(place)
        if source is None:
            return False
        first, last = source.position(start).line, source.position(end).line
        lines = source.text.splitlines()[first - 1 : last]
        return lines == self.shown_lines(place)[first - 1 : last]

    def _read(self, path: str) -> Source | None:
        data = self._report.contents.get(path)
        # Standard input and pipes can be read only once.
        if data is None and (not self._report.has_files or path == STDIN or is_descriptor(path)):
            return None
        source = load_file(Target(path, named=False, data=data))
        return None if isinstance(source, UnreadablePath) else source


def _is_in(source: Source, place: Location) -> bool:
    starts = source.line_starts
    line = bisect_left(starts, place.start + 1)
    return place.start <= len(source.text) and line == place.range.line and place.start - starts[line - 1] + 1 == place.range.column

"""The rendered charts of a run: moves findings from rendered texts to the templates and values that they come from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from kcheck.check.suppressions import UNUSED
from kcheck.discovery.discover import Target
from kcheck.facts.unit import Unit
from kcheck.finding.finding import Finding
from kcheck.finding.problem import Related
from kcheck.finding.rendered import RenderedPath, rendered_path
from kcheck.finding.report import SkippedFile
from kcheck.finding.role import Role
from kcheck.finding.severity import ERROR
from kcheck.helm.chart import CHART_FILE, Chart
from kcheck.helm.marking import TemplatePiece
from kcheck.helm.program import HelmSettings
from kcheck.helm.rendering import Trace, with_comments
from kcheck.helm.tracing import TracedText
from kcheck.helm.values import ChartValues, TextQuery, ValueLeaf, reads_values
from kcheck.kube.location import Location, ObjectId
from kcheck.redaction import redact
from kcheck.schema.locator import LINE_LIMIT
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.text.span import Range
from kcheck.yaml.parse import parse

_ACTION = pattern(r"\{\{.*?\}\}")
_LINE = pattern(r"\bline (\d+)\b")
_NUMBER = pattern(r":(\d+)")
_QUOTED = pattern(r'"([^"]*)"')
# Charts leave resources to their users. Values for tests seldom set them.
_SET_BY_USERS = frozenset({"hpa-without-requests"})
_CREDENTIALS = frozenset({"credential-in-env", "credential-in-config-map"})
_MAX_NAMED = 3
_MAX_CALLERS = 3
_MAX_VALUES = 3


class PlainTexts(NamedTuple):
    """Rendered texts by name, and the origins of their characters."""

    texts: dict[str, str]
    traces: dict[str, TracedText]


Prove = Callable[["Rendering", Sequence[TextQuery]], Mapping[TextQuery, Sequence[ValueLeaf]]]
"""Returns the values that parts of rendered texts come from."""


class Rendering:
    """A chart rendered with one set of values.

    Attributes:
        chart: the chart.
        values: name of the set of values, "" for those of the chart.
        settings: the settings of helm.
        versions: the Kubernetes versions that it was rendered for, separated by commas; "" for all versions of the run.
        texts: rendered text of each template, by the name under which helm prints it.
        is_test: whether only tests of the chart use the values.
        values_of: returns the values.
        prove: finds the values that texts come from, None to skip that.
    """

    def __init__(
        self,
        chart: Chart,
        values: str,
        settings: HelmSettings,
        versions: str,
        texts: dict[str, str],
        trace: Callable[[], Trace],
        is_test: bool,
    ) -> None:
        self.chart = chart
        self.values = values
        self.settings = settings
        self.versions = versions
        self.texts = texts
        self.is_test = is_test
        self.values_of: Callable[[], ChartValues] = partial(ChartValues, chart)
        self.prove: Prove | None = None
        self._insertions: dict[str, list[tuple[int, int]]] = {}
        self._plain: PlainTexts | None = None
        self._make_trace = trace
        self._trace: Trace | None = None

    @property
    def trace(self) -> Trace:
        """Where the characters come from; made on first use."""
        if self._trace is None:
            self._trace = self._make_trace()
        return self._trace

    def insert_comments(self) -> None:
        """Turn ignore comments in actions into comments of YAML, where that does not change values."""
        trace = self.trace
        self._plain = PlainTexts(dict(self.texts), dict(trace.texts))
        for name, traced in trace.texts.items():
            if traced.comments:
                text, moved, insertions = with_comments(self.texts[name], traced, self.chart, trace.stacks)
                if _values_of(text) == _values_of(self.texts[name]):
                    self._insertions[name] = insertions
                    self.texts[name], trace.texts[name] = text, moved

    @property
    def plain(self) -> PlainTexts:
        """The texts as helm rendered them."""
        return self._plain or PlainTexts(self.texts, self.trace.texts)

    def plain_offset(self, name: str, offset: int) -> int:
        """Return the offset of a character in the text as helm rendered it."""
        return offset - sum(length for start, length in self._insertions.get(name, ()) if start <= offset)


def _values_of(text: str) -> list[object]:
    """Return the values of the documents of a text."""
    return [document.root.plain() for document in parse(Source("", text))]


class RenderedFile(NamedTuple):
    """A rendered template to check. `path`: see `RenderedPath`."""

    path: str
    text: str
    role: Role
    target: Target


class RenderedCharts:
    """The charts of a run.

    Attributes:
        renderings: the renderings by chart, values and versions.
        findings: findings about charts that could not be rendered.
        passed: charts that were not rendered, with the reason.
        limited: charts of which some sets of values could not be rendered, with the reason.
        rendered: folders of the charts that were rendered.
        only: templates whose findings are reported, by chart; all if the chart is not contained.
        incomplete: templates with findings that are not reported, because they are about lines whose values the chart leaves empty.
        of_kustomizations: the rendered texts by path of the entries of `helmCharts`, by the path of the kustomization and the index of the
            entry.
        is_unrendered: whether a chart could not be rendered because helm is missing.
        is_named_unrendered: whether a chart on the command line could not be rendered because helm is missing.
    """

    def __init__(self) -> None:
        self.renderings: dict[tuple[str, str, str], Rendering] = {}
        self.findings: list[Finding] = []
        self.passed: list[SkippedFile] = []
        self.limited: list[SkippedFile] = []
        self.rendered: set[str] = set()
        self.only: dict[str, frozenset[str]] = {}
        self.incomplete: set[str] = set()
        self.of_kustomizations: dict[tuple[str, int], dict[str, str]] = {}
        self.is_unrendered = False
        self.is_named_unrendered = False
        self._paths: dict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
        self._sources: dict[tuple[int, str], Source] = {}

    def add_path(self, path: RenderedPath) -> str:
        """Remember a rendered template and return its path as a text."""
        text = str(path)
        self._paths[path.rendering][path.name] = text
        return text

    def units(self) -> Iterator[tuple[Unit, list[str]]]:
        """Yield the unit of each rendering with the paths of its texts."""
        for key, paths in self._paths.items():
            yield Unit("chart", key[0], True), list(paths.values())

    def relocated(self, findings: Sequence[Finding]) -> list[Finding]:
        """Return findings with their places in templates. Equal findings of several sets of values become one that names the sets."""
        mover = _Mover(self)
        result: list[Finding] = []
        merged: dict[_Key, _MovedFinding] = {}
        names: dict[_Key, dict[str, None]] = defaultdict(dict)
        for finding in findings:
            path = rendered_path(finding.file)
            if path is None:
                result.append(finding)
                continue
            only = self.only.get(path.chart)
            if (only is not None and path.template not in only) or self.is_test_value(finding, path) or self.is_secret_name(finding, path):
                continue
            moved = mover.finding(finding, path)
            if not path.values and mover.lacks_values(finding.place, path, moved.range.line):
                self.incomplete.add(moved.file)
                continue
            key = moved.rule, moved.file, moved.range, moved.message
            merged.setdefault(key, _MovedFinding(moved, finding.place, path))
            names[key][path.values] = None
        sets: dict[str, set[str]] = defaultdict(set)
        for chart, values, _ in self.renderings:
            sets[chart].add(values)
        self._add_values(merged, mover)
        for key, (finding, _, path) in merged.items():
            if len(names[key]) < len(sets[path.chart]):
                if finding.rule == UNUSED:
                    # Another set of values may need it.
                    continue
                shown = [name or "values.yaml" for name in names[key]]
                text = ", ".join(shown[:_MAX_NAMED]) + (", ..." if len(shown) > _MAX_NAMED else "")
                finding = finding._replace(message=f"{finding.message} (with {text})")
            result.append(finding)
        return result

    def template_place(self, place: Location) -> Location:
        """Return the location in the template of the object of one in a rendered text; other locations are kept."""
        path = rendered_path(place.file)
        return place if path is None else _Mover(self).template_place(place, path)

    def _add_values(self, merged: dict[_Key, _MovedFinding], mover: _Mover) -> None:
        """Add the values that the texts of findings come from."""
        asked: dict[tuple[str, str, str], dict[_Key, list[TextQuery]]] = defaultdict(dict)
        for key, (finding, place, path) in merged.items():
            if finding.rule != UNUSED and (queries := mover.queries(place, path)):
                asked[path.rendering][key] = queries
        for name, by_key in asked.items():
            rendering = self.renderings[name]
            if rendering.prove is None:
                continue
            proven = rendering.prove(rendering, list(dict.fromkeys(query for queries in by_key.values() for query in queries)))
            for key, queries in by_key.items():
                finding, place, path = merged[key]
                leaves = {leaf.path: leaf for query in queries for leaf in proven.get(query, ()) if leaf.source.path}.values()
                related = [Related(mover.value_place(leaf, finding.place), f'value of "{leaf.name}"') for leaf in leaves]
                moved = finding._replace(related=(*finding.related, *related[:_MAX_VALUES]))
                merged[key] = _MovedFinding(moved, place, path)

    def is_secret_name(self, finding: Finding, path: RenderedPath) -> bool:
        """Return whether a value that looks like a credential is the name of a Secret of the chart, in any template."""
        if finding.rule not in _CREDENTIALS:
            return False
        # Imported on first use: few charts have such values.
        from kcheck.kube.secret_names import is_secret_name

        texts = self.renderings[path.rendering].texts
        name, range = _QUOTED.search(finding.message), finding.range
        value = texts[path.name][finding.place.start :][: range.end_column - range.column] if range.end_line == range.line else ""
        if finding.rule == "credential-in-config-map":
            # The finding is at the key.
            value = _line_at(texts[path.name], finding.place.start).partition(":")[2].strip()
        return is_secret_name(name[1] if name else "", value.strip("\"'"), texts.values())

    def is_test_value(self, finding: Finding, path: RenderedPath) -> bool:
        """Return whether a practice was found in a value that only tests of the chart use."""
        rendering = self.renderings[path.rendering]
        if not rendering.is_test or finding.family != "practice" or finding.severity >= ERROR:
            return False
        if finding.rule in _SET_BY_USERS:
            return True
        trace = rendering.trace
        traced = trace.texts.get(path.name)
        if traced is None:
            return False
        text = rendering.texts[path.name]
        start = finding.place.start
        end = start + finding.range.end_column - finding.range.column if finding.range.end_line == finding.range.line else start
        offsets = [start]
        if text[end : end + 1] == ":":
            # A key is reported for its value, which may begin on the next line.
            offsets.append(end + 1 + len(text[end + 1 :]) - len(text[end + 1 :].lstrip()))
        for offset in offsets:
            stack = trace.stacks.of(traced.stack_at(offset))
            if stack and stack[0].kind == "action" and reads_values(rendering.chart, stack[0]):
                return True
        return False


_Key = tuple[str, str, Range, str]


class _MovedFinding(NamedTuple):
    """A finding at its place in a template, with its place in the rendered text."""

    finding: Finding
    place: Location
    path: RenderedPath


class _Mover:
    """Moves findings from rendered texts to templates."""

    def __init__(self, charts: RenderedCharts) -> None:
        self.charts = charts
        self.sources: dict[tuple[str, str, str, str], Source] = {}

    def finding(self, finding: Finding, path: RenderedPath) -> Finding:
        place, related, is_traced = self.place(finding.place, path)
        message = self.message(finding.message, path, place)
        if not is_traced:
            message += f" (rendered line {finding.range.line}, which cannot be traced to a line of the template)"
        others = [Related(self.moved(each.place), self.message(each.message, path, place)) for each in finding.related]
        return finding._replace(
            place=place, message=message, related=(*others, *related), fix=None, help=self.message(finding.help, path, place)
        )

    def lacks_values(self, place: Location, path: RenderedPath, number: int) -> bool:
        """Return whether a line of a template has only empty values, which the user of the chart must set. `number`: of the line."""
        rendering = self.charts.renderings[path.rendering]
        traced = rendering.trace.texts.get(path.name)
        stack = [] if traced is None else rendering.trace.stacks.of(traced.stack_at(place.start))
        if not stack:
            return False
        source = self.source(rendering.chart, stack[_level_of(stack)].file)
        template = source.line(number) if number <= len(source.line_starts) else ""
        bare = _ACTION.sub("", template)
        return ".Values." in template and bare != template and bare.strip() == _line_at(rendering.texts[path.name], place.start).strip()

    def moved(self, place: Location) -> Location:
        """Return a location in its template."""
        path = rendered_path(place.file)
        return place if path is None else self.place(place, path)[0]

    def place(self, place: Location, path: RenderedPath) -> tuple[Location, list[Related], bool]:
        """Return the location in a template, further locations, and whether it was traced."""
        rendering = self.charts.renderings[path.rendering]
        trace = rendering.trace
        traced = trace.texts.get(path.name)
        text = rendering.texts[path.name]
        offset = place.start
        while offset < len(text) and text[offset].isspace():
            offset += 1
        number = traced.stack_at(offset) if traced is not None else 0
        stack = trace.stacks.of(number)
        if traced is None or not stack:
            return place._replace(file=path.template, range=Range(1, 1, 1, 1), line="", start=0), [], False
        range = place.range
        end = offset + (range.end_column - range.column) if range.end_line == range.line else _end_of_line(text, offset)
        level = _level_of(stack)
        piece = stack[level]
        start, stop = piece.start, piece.end
        if not level and piece.kind == "text":
            start, stop = _part_of_piece(rendering, piece, text, offset, max(end, offset + 1), traced)
        for _, _, other in traced.segments(offset, max(end, offset + 1)):
            later = trace.stacks.of(other)
            for each in later:
                if each.file == piece.file and each.start >= stop and self.is_on_line(rendering, piece, each):
                    stop = each.end
        found = self.located(place, rendering, piece, start, stop, text)
        related: list[Related] = []
        if piece.kind in ("action", "call") or level:
            related.append(Related(found, f"rendered as: {place.line.strip()}"))
        helpers = stack[:level][:1]
        related += (Related(self.located(place, rendering, each, each.start, each.end, text), "printed by this helper") for each in helpers)
        callers = stack[level + 1 :][:_MAX_CALLERS]
        related += (Related(self.located(place, rendering, each, each.start, each.end, text), "called here") for each in callers)
        return found, related, True

    def template_place(self, place: Location, path: RenderedPath) -> Location:
        """Return the location of the outermost piece, which is in the template of the object."""
        rendering = self.charts.renderings[path.rendering]
        traced = rendering.trace.texts.get(path.name)
        stack = [] if traced is None else rendering.trace.stacks.of(traced.stack_at(place.start))
        if not stack:
            return self.place(place, path)[0]
        return self.located(place, rendering, stack[-1], stack[-1].start, stack[-1].end, rendering.texts[path.name])

    def queries(self, place: Location, path: RenderedPath) -> list[TextQuery]:
        """Return the parts of a text that actions print, which may come from values."""
        rendering = self.charts.renderings[path.rendering]
        trace = rendering.trace
        traced = trace.texts.get(path.name)
        if traced is None or place.range.end_line != place.range.line:
            return []
        end = place.start + max(place.range.end_column - place.range.column, 1)
        text = rendering.texts[path.name]
        if text[end : end + 1] == ":":
            # A key is reported for its value.
            end = _end_of_line(text, end)
        found: list[TextQuery] = []
        for start, stop, number in traced.segments(place.start, end):
            if trace.stacks.is_in_action(number):
                first = rendering.plain_offset(path.name, start)
                found.append(TextQuery(path.name, first, first + min(stop, end) - start))
        return found

    def value_place(self, leaf: ValueLeaf, place: Location) -> Location:
        """Return the location of a value in its file."""
        node, source = leaf.node, leaf.source
        range = source.range(node.start, node.end)
        line = redact.unread_line(source.line(range.line), False)
        return Location(source.path, 0, range, leaf.name, place.object, line[:LINE_LIMIT], node.start)

    def is_on_line(self, rendering: Rendering, one: TemplatePiece, other: TemplatePiece) -> bool:
        """Return whether a piece begins on the line where another one does."""
        source = self.source(rendering.chart, one.file)
        return source.position(one.start).line == source.position(other.start).line

    def located(self, place: Location, rendering: Rendering, piece: TemplatePiece, start: int, stop: int, text: str) -> Location:
        """Return a location in the file of a piece. In a packed sub-chart, it is the entry of the dependency."""
        chart = rendering.chart
        shown, archive = chart.place_of(piece.file)
        if archive and archive != chart.folder:
            return self.dependency(place, chart, piece)
        source = self.source(chart, piece.file)
        range = source.range(start, stop)
        line = source.line(range.line)
        rendered = _line_at(text, place.start)
        if line.strip() == rendered.strip() and place.line:
            line = line[: len(line) - len(line.lstrip())] + place.line.strip()
        else:
            line = redact.unread_line(line, redact.looks_secret(source.text))
        return Location(shown, 0, range, place.field, place.object, line[:LINE_LIMIT], start)

    def dependency(self, place: Location, chart: Chart, piece: TemplatePiece) -> Location:
        """Return the location of the dependency that a packed sub-chart belongs to."""
        prefix = next((each for each in chart.archives if piece.file.startswith(each)), "")
        metadata = chart.metadata()
        name = chart.metadata(prefix).name
        node = next((each.node["name"] for each in metadata.dependencies if each.name == name), metadata.root["name"])
        source = metadata.source
        range = source.range(node.start, node.end)
        return Location(
            chart.place_of(CHART_FILE)[0], 0, range, place.field, place.object, redact.line(source.line(range.line)), node.start
        )

    def source(self, chart: Chart, path: str) -> Source:
        return chart.source(path)

    def message(self, message: str, path: RenderedPath, place: Location) -> str:
        """Return a message in which lines of rendered texts are replaced by those of templates."""
        if "\x1f" in message:
            for rendering in self.charts.renderings:
                for other in self.charts._paths[rendering].values():
                    while other in message:
                        message = self._with_place(message, other)
        if "line " in message:
            message = _LINE.sub(lambda match: self._line(match, path, place), message)
        return message

    def _with_place(self, message: str, other: str) -> str:
        before, _, after = message.partition(other)
        match = _NUMBER.match(after)
        path = rendered_path(other)
        assert path is not None
        if match is None:
            return before + path.template + after
        file, line = self._template_line(path, int(match[1]))
        return f"{before}{file}:{line}{after[match.end() :]}" if line else f"{before}{path.template}{after[match.end() :]}"

    def _line(self, match: object, path: RenderedPath, place: Location) -> str:
        number = int(match[1])  # type: ignore[index]
        file, line = self._template_line(path, number)
        if not line:
            return f"rendered line {number}"
        return f"line {line}" if file == place.file else f"{file}:{line}"

    def _template_line(self, path: RenderedPath, number: int) -> tuple[str, int]:
        """Return the file and line of a rendered line, 0 if it is unknown."""
        rendering = self.charts.renderings[path.rendering]
        text = rendering.texts[path.name]
        lines = text.split("\n")
        if not 0 < number <= len(lines):
            return path.template, 0
        start = sum(len(line) + 1 for line in lines[: number - 1])
        line = lines[number - 1]
        at = Location(str(path), 0, Range(number, 1, number, len(line) + 1), "", ObjectId(), line, start)
        found, _, is_traced = self.place(at, path)
        return found.file, found.range.line if is_traced else 0


def _level_of(stack: Sequence[TemplatePiece]) -> int:
    """Return the index of the innermost piece that belongs to the chart of the template, rather than to a library."""
    prefix = _chart_prefix(stack[-1].file)
    return next((level for level, piece in enumerate(stack) if _chart_prefix(piece.file) == prefix), len(stack) - 1)


def _chart_prefix(path: str) -> str:
    return path.partition("templates/")[0]


def _start_of_segment(starts: Sequence[int], offset: int) -> int:
    from bisect import bisect_right

    return starts[max(bisect_right(starts, offset) - 1, 0)]


def _part_of_piece(rendering: Rendering, piece: TemplatePiece, text: str, start: int, end: int, traced: TracedText) -> tuple[int, int]:
    """Return the offsets of a part of a rendered text in the piece of a template that it is copied from."""
    at = piece.start + start - _start_of_segment(traced.starts, start)
    stop = min(piece.end, at + end - start)
    template = rendering.chart.source(piece.file).text
    if text.startswith(template[at:stop], start):
        return at, stop
    # It was parsed and serialized again.
    shown = text[start:end]
    found = template.find(shown, piece.start, piece.end)
    if found < 0 or template.find(shown, found + 1, piece.end) >= 0:
        return piece.start, piece.end
    return found, found + len(shown)


def _end_of_line(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end


def _line_at(text: str, offset: int) -> str:
    return text[text.rfind("\n", 0, offset) + 1 : _end_of_line(text, offset)]

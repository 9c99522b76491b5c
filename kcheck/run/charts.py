"""Charts of an input: finds them, renders them with helm, and moves findings from rendered texts to templates."""

from __future__ import annotations

import os
import posixpath
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from kcheck import __version__
from kcheck.check.file import file_findings
from kcheck.check.session import Session
from kcheck.check.suppressions import UNUSED
from kcheck.discovery.discover import Target
from kcheck.facts.unit import Unit
from kcheck.finding.finding import Finding
from kcheck.finding.problem import Related
from kcheck.finding.rendered import RenderedPath, rendered_path, template_of
from kcheck.finding.report import SkippedFile
from kcheck.finding.role import TEST_MANIFEST, TESTS, UNKNOWN, UNMAINTAINED, Role
from kcheck.helm.chart import CHART_FILE, BadChart, Chart, read_chart
from kcheck.helm.errors import HelmError, read_error
from kcheck.helm.marking import Piece
from kcheck.helm.program import HelmFailed, HelmSettings, find_program, program_state
from kcheck.helm.rendering import Trace, render_chart, trace_chart, with_comments
from kcheck.helm.stored import StoredRendering, StoredTrace, restore_trace, store_trace
from kcheck.helm.tracing import Stacks
from kcheck.finding.severity import ERROR
from kcheck.kube.location import Location, ObjectId
from kcheck.redaction import redact
from kcheck.repository.roles import RoleFinder
from kcheck.run.chart_settings import Helm
from kcheck.schema.locator import LINE_LIMIT
from kcheck.schema.store import Store
from kcheck.text.complaint import Complaint
from kcheck.text.digest import digest_of_parts
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.text.span import Range
from kcheck.yaml.parse import parse

FAILED = "failed-chart-render"
SKIPPED = "unrendered-chart"

_CI_VALUES = pattern(r"ci/[^/]+[-_.]values\.ya?ml|ci/values[^/]*\.ya?ml")
_GROUP = pattern(r"^[ \t]*group: *[\"']?([\w.-]+)", 8)
_KIND = pattern(r"^[ \t]+kind: *[\"']?(\w+)", 8)
_VERSION = pattern(r"^[ \t-]+name: *[\"']?(v\d\w*)[\"']?\s*$", 8)
_LINE = pattern(r"\bline (\d+)\b")
_MAX_NAMED = 3
_MAX_CALLERS = 3


class _Values(NamedTuple):
    """A set of values: its name in reports, the paths and the contents of its files."""

    name: str
    paths: tuple[str, ...]
    texts: tuple[str, ...]


class _FoundChart(NamedTuple):
    """A chart of the input.

    Attributes:
        folder: path of the chart.
        target: its Chart.yaml or archive.
        role: the role that its objects have.
        only: the templates that the command line names, empty if the chart is checked as a whole.
    """

    folder: str
    target: Target
    role: Role
    only: frozenset[str] = frozenset()


class Rendering:
    """A chart rendered with one set of values.

    Attributes:
        chart: the chart.
        values: name of the set of values, "" for those of the chart.
        settings: the settings of helm.
        versions: the Kubernetes versions that it was rendered for, separated by commas; "" for all versions of the run.
        texts: rendered text of each template, by the name under which helm prints it.
        is_test: whether only tests of the chart use the values.
    """

    def __init__(
        self, chart: Chart, values: str, settings: HelmSettings, versions: str, texts: dict[str, str], trace: Callable[[], Trace], is_test: bool
    ) -> None:  # fmt: skip
        self.chart = chart
        self.values = values
        self.settings = settings
        self.versions = versions
        self.texts = texts
        self.is_test = is_test
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
        for name, traced in trace.texts.items():
            if traced.comments:
                text, moved = with_comments(self.texts[name], traced, self.chart, trace.stacks)
                if _values_of(text) == _values_of(self.texts[name]):
                    self.texts[name], trace.texts[name] = text, moved


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
        is_named_unrendered: whether a chart on the command line could not be rendered because helm is missing.
    """

    def __init__(self) -> None:
        self.renderings: dict[tuple[str, str, str], Rendering] = {}
        self.findings: list[Finding] = []
        self.passed: list[SkippedFile] = []
        self.limited: list[SkippedFile] = []
        self.rendered: set[str] = set()
        self.only: dict[str, frozenset[str]] = {}
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

    def relocated(self, findings: Sequence[Finding], used: Collection[int] = ()) -> list[Finding]:
        """Return findings with their places in templates. Equal findings of several sets of values become one that names the sets.

        `used`: offsets of ignore comments that cover a finding.
        """
        mover = _Mover(self)
        result: list[Finding] = []
        merged: dict[tuple[str, str, Range, str], Finding] = {}
        names: dict[tuple[str, str, Range, str], dict[str, None]] = defaultdict(dict)
        charts: dict[tuple[str, str, Range, str], str] = {}
        for finding in findings:
            path = rendered_path(finding.file)
            if path is None:
                result.append(finding)
                continue
            if path.chart in self.only and path.template not in self.only[path.chart]:
                continue
            if self.is_test_value(finding, path):
                continue
            moved = mover.finding(finding, path)
            key = moved.rule, moved.file, moved.range, moved.message
            merged.setdefault(key, moved)
            names[key][path.values] = None
            charts[key] = path.chart
        sets: dict[str, set[str]] = defaultdict(set)
        for chart, values, _ in self.renderings:
            sets[chart].add(values)
        for key, finding in merged.items():
            if len(names[key]) < len(sets[charts[key]]):
                if finding.rule == UNUSED:
                    # Another set of values may need it.
                    continue
                shown = [name or "values.yaml" for name in names[key]]
                text = ", ".join(shown[:_MAX_NAMED]) + (", ..." if len(shown) > _MAX_NAMED else "")
                finding = finding._replace(message=f"{finding.message} (with {text})")
            result.append(finding)
        return result


    def is_test_value(self, finding: Finding, path: RenderedPath) -> bool:
        """Return whether a practice was found in a value that only tests of the chart use."""
        rendering = self.renderings[path.rendering]
        if not rendering.is_test or finding.family != "practice" or finding.severity >= ERROR:
            return False
        trace = rendering.trace
        traced = trace.texts.get(path.name)
        stack = [] if traced is None else trace.stacks.of(traced.stack_at(finding.place.start))
        return bool(stack) and stack[0].kind == "action" and "Values" in rendering.chart.source(stack[0].file).text[stack[0].start : stack[0].end]


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
            first = _start_of_segment(traced.starts, offset)
            start = piece.start + offset - first
            stop = min(piece.end, piece.start + max(end, offset + 1) - first)
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

    def is_on_line(self, rendering: Rendering, one: Piece, other: Piece) -> bool:
        """Return whether a piece begins on the line where another one does."""
        source = self.source(rendering.chart, one.file)
        return source.position(one.start).line == source.position(other.start).line

    def located(self, place: Location, rendering: Rendering, piece: Piece, start: int, stop: int, text: str) -> Location:
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

    def dependency(self, place: Location, chart: Chart, piece: Piece) -> Location:
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
        match = pattern(r":(\d+)").match(after)
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


def _level_of(stack: Sequence[Piece]) -> int:
    """Return the index of the innermost piece that belongs to the chart of the template, rather than to a library."""
    prefix = _chart_prefix(stack[-1].file)
    return next((level for level, piece in enumerate(stack) if _chart_prefix(piece.file) == prefix), len(stack) - 1)


def _chart_prefix(path: str) -> str:
    return path.partition("templates/")[0]


def _start_of_segment(starts: Sequence[int], offset: int) -> int:
    from bisect import bisect_right

    return starts[max(bisect_right(starts, offset) - 1, 0)]


def _end_of_line(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end


def _line_at(text: str, offset: int) -> str:
    return text[text.rfind("\n", 0, offset) + 1 : _end_of_line(text, offset)]


def find_charts(targets: Iterable[Target], roles: RoleFinder) -> list[_FoundChart]:
    """Return the charts of an input that are rendered on their own: those in folders, and archives and templates of the command line."""
    targets = list(targets)
    files = {os.path.dirname(each.path): each for each in targets if posixpath.basename(each.path) == CHART_FILE and not each.stdin}
    found: dict[str, _FoundChart] = {}
    for folder, target in files.items():
        if _parent_chart(folder) not in files:
            found[folder] = _FoundChart(folder, target, roles.of_folder(target))
    for target in targets:
        if target.named and target.path.endswith(".tgz"):
            found[target.path] = _FoundChart(target.path, target, UNKNOWN)
    named: dict[str, set[str]] = defaultdict(set)
    for target in targets:
        if target.named and (folder := _chart_of_template(target.path)) is not None and folder not in files:
            named[folder].add(target.path)
    for folder, templates in named.items():
        path = f"{folder}/{CHART_FILE}" if folder else CHART_FILE
        found[folder] = _FoundChart(folder, Target(path, named=True), UNKNOWN, frozenset(templates))
    return list(found.values())


def _parent_chart(folder: str) -> str | None:
    """Return the chart whose folder `charts` contains a chart, None if there is none."""
    above, name = posixpath.split(posixpath.dirname(folder))
    return above if name == "charts" else None


def _chart_of_template(path: str) -> str | None:
    """Return the folder of the outermost chart that a file is a template of, None if it is not a template."""
    parts = path.split("/")
    for at, part in enumerate(parts[:-1]):
        folder = "/".join(parts[:at])
        if part in ("templates", "charts") and os.path.isfile(os.path.join(folder, CHART_FILE)):
            return folder if "templates" in parts[at:-1] else None
    return None


class ChartStage:
    """Renders the charts of an input.

    Args:
        session: the session of the run.
        helm: how charts are rendered.
        definitions: texts of files that define kinds, which the cluster is assumed to have.
        progress: called with the number of charts that were rendered, and of all charts.
    """

    def __init__(
        self, session: Session, helm: Helm, definitions: Iterable[str] = (), progress: Callable[[int, int], None] | None = None
    ) -> None:  # fmt: skip
        self.session = session
        self.program = find_program() if helm.program is None else helm.program
        self.helm = helm
        self.definitions = definitions
        self.progress = progress
        self.charts = RenderedCharts()
        self._cache = _RenderingCache(helm, self.program)
        self._custom: frozenset[str] | None = None

    def render(self, found: Sequence[_FoundChart]) -> list[RenderedFile]:
        """Render charts and return the texts to check. `RenderedCharts` in the session contains everything else."""
        self.session.charts = self.charts
        ready: list[tuple[_FoundChart, Chart]] = []
        for each in found:
            if each.role.name in UNMAINTAINED:
                self.charts.passed.append(SkippedFile(each.target.path, each.role.reason))
                continue
            chart = self._read(each)
            if chart is None:
                continue
            if chart.metadata().kind == "library":
                self.charts.passed.append(SkippedFile(each.target.path, "library chart: the charts that use it are rendered"))
            elif not self.program:
                self._report_missing_program(each, chart)
            else:
                ready.append((each, chart))
        linked = {os.path.realpath(folder) for _, chart in ready for folder in chart.linked.values()}
        ready = [pair for pair in ready if os.path.realpath(pair[1].folder) not in linked]
        files: list[RenderedFile] = []
        if ready:
            with ThreadPoolExecutor(max(self.helm.jobs, 1)) as pool:
                jobs = [_ChartJob(self, pool, each, chart) for each, chart in ready]
                for number, job in enumerate(jobs, 1):
                    files += job.files()
                    if self.progress is not None:
                        self.progress(number, len(jobs))
            self._cache.save()
        return files

    def _read(self, found: _FoundChart) -> Chart | None:
        root = repository_of(found.folder)
        try:
            chart = read_chart(found.folder, lambda path: os.path.commonpath([root, path]) == root)
        except (BadChart, ValueError) as error:
            self.report(FAILED, found, found.target.path, Complaint(f"the chart cannot be read: {error}", ""))
            return None
        link_dependencies(chart, root)
        return chart

    def _report_missing_program(self, found: _FoundChart, chart: Chart) -> None:
        message = Complaint(f'chart "{chart.metadata().name}" was not checked: helm is not installed', "install helm, or use --helm")
        self.report(SKIPPED, found, found.target.path, message)
        if found.only or found.target.path[found.target.start :] in (CHART_FILE, found.target.path):
            self.charts.is_named_unrendered = True

    def report(self, rule: str, found: _FoundChart, file: str, message: str, line: int = 1, column: int = 1, text: str = "") -> None:
        """Add a finding about a chart."""
        for finding in file_findings(rule, file, line, message, self.session.rules_for(file, found.role.name)):
            place = finding.place._replace(range=Range(line, column, line, column), line=redact.line(text)[:LINE_LIMIT])
            self.charts.findings.append(finding._replace(place=place, unit=Unit("chart", found.folder, True)))

    def api_versions(self, store: Store, chart: Chart) -> tuple[str, ...]:
        """Return the API versions and kinds of a cluster: those of Kubernetes, and those that the run or the chart defines."""
        builtin = [f"{version}/{kind}" for version, kind in store.definitions.kinds()]
        versions = {version for version, _ in store.definitions.kinds()}
        custom = {f"{version}/{kind}" for version, kind in store.custom} | {version for version, _ in store.custom}
        texts = [chart.source(path).text for path in chart.files if "crds/" in path and path.endswith((".yaml", ".yml", ".json"))]
        return tuple(sorted({*builtin, *versions, *custom, *self._custom_versions(), *_defined_versions(texts)}))

    def _custom_versions(self) -> frozenset[str]:
        if self._custom is None:
            self._custom = frozenset(_defined_versions(self.definitions))
        return self._custom


def _defined_versions(texts: Iterable[str]) -> Iterator[str]:
    """Yield the API versions and kinds that CustomResourceDefinitions define, as their texts indicate them."""
    for text in texts:
        for document in text.split("\n---"):
            if "CustomResourceDefinition" not in document:
                continue
            group, kind = _GROUP.search(document), _KIND.search(document)
            for version in dict.fromkeys(_VERSION.findall(document)) if group else ():
                assert group is not None
                yield f"{group[1]}/{version}"
                if kind is not None:
                    yield f"{group[1]}/{version}/{kind[1]}"


def value_files(chart: Chart) -> list[str]:
    """Return the paths of the files with values that tests of the chart use: those in the folder `ci`."""
    return sorted(path for path in chart.files if _CI_VALUES.fullmatch(path))


def repository_of(folder: str) -> str:
    """Return the repository that contains a chart, otherwise the chart."""
    own = os.path.realpath(folder or ".")
    above = own
    while not os.path.exists(os.path.join(above, ".git")):
        if os.path.dirname(above) == above:
            return own
        above = os.path.dirname(above)
    return above


def link_dependencies(chart: Chart, root: str, depth: int = 0) -> None:
    """Add the local charts that a chart depends on, as `helm dependency build` does. `root`: the folder that they must be in."""
    if os.path.isfile(chart.folder) or depth > 4:
        return
    for dependency in chart.metadata().dependencies:
        if not dependency.repository.startswith("file://"):
            continue
        if any(chart.metadata(each).name == dependency.name for each in chart.subcharts()):
            continue
        folder = posixpath.normpath(posixpath.join(chart.folder or ".", dependency.repository.removeprefix("file://")))
        real = os.path.realpath(folder)
        if not (real == root or real.startswith(os.path.join(root, ""))) or not os.path.isfile(os.path.join(folder, CHART_FILE)):
            continue
        with suppress(BadChart):
            other = read_chart(folder, lambda path: path.startswith(os.path.join(root, "")))
            link_dependencies(other, root, depth + 1)
            prefix = f"charts/{posixpath.basename(real)}/"
            chart.add_subchart(prefix, other)


class _ChartJob:
    """The renderings of one chart."""

    def __init__(self, stage: ChartStage, pool: ThreadPoolExecutor, found: _FoundChart, chart: Chart) -> None:
        self.stage = stage
        self.pool = pool
        self.found = found
        self.chart = chart
        self.config = stage.helm.settings_of(found.folder)
        self.values = list(self._value_sets())
        stores = stage.session.stores_for(found.target.path)
        depends = any("Capabilities" in chart.source(path).text for path in chart.templates) or bool(chart.metadata().kubernetes)
        self.stores = stores if depends else stores[-1:]
        self.has_comments = any(
            action.keyword == "comment" and "kcheck" in action.code for path in chart.templates for action in chart.template(path).actions
        )
        self.runs: list[tuple[_Values, Store, HelmSettings, Future[StoredRendering]]] = []
        for values in self.values:
            for store in self.stores:
                settings = HelmSettings(
                    self.config.release, self.config.namespace, f"{store.definitions.release}", stage.api_versions(store, chart),
                    values.texts, self.config.set,
                )  # fmt: skip
                self.runs.append((values, store, settings, pool.submit(stage._cache.rendering, chart, values.name, settings)))

    def _value_sets(self) -> Iterator[_Values]:
        if self.config.sets is None:
            yield _Values("", (), ())
            for path in value_files(self.chart):
                yield _Values(path, (path,), (self.chart.source(path).text,))
            return
        for paths in self.config.sets:
            texts = []
            for path in paths:
                full = posixpath.join(self.found.folder, path)
                try:
                    texts.append(Path(full).read_text(encoding="utf-8"))
                except (OSError, UnicodeDecodeError) as error:
                    self.stage.report(FAILED, self.found, full, Complaint(f"values cannot be read: {error}", ""))
                    break
            else:
                yield _Values(", ".join(paths), tuple(paths), tuple(texts))

    def files(self) -> Iterator[RenderedFile]:
        """Yield the rendered texts."""
        charts = self.stage.charts
        failures: list[tuple[_Values, str]] = []
        renderings: list[Rendering] = []
        for values, outputs in self._by_values().items():
            for versions, settings, output in outputs:
                if output.error:
                    failures.append((values, output.error))
                    continue
                texts = dict(zip(output.names, output.texts, strict=True))
                is_test = self.config.sets is None and bool(values.name)
                tracer = self._tracer(values, settings, dict(texts))
                rendering = Rendering(self.chart, values.name, settings, versions, texts, tracer, is_test)
                if self.has_comments:
                    rendering.insert_comments()
                renderings.append(rendering)
        self._report_failures(failures, bool(renderings))
        if not renderings:
            return
        charts.rendered.add(self.found.folder)
        if self.found.only:
            charts.only[self.found.folder] = self.found.only
        for rendering in renderings:
            key = self.found.folder, rendering.values, rendering.versions
            charts.renderings[key] = rendering
            for name, text in rendering.texts.items():
                path = self.chart.rendered_names.get(name, "")
                if path.endswith("NOTES.txt") or not path:
                    continue
                template = self.chart.place_of(path)[0]
                full = charts.add_path(RenderedPath(template, *key, name))
                yield RenderedFile(full, f"{text}\n", self._role(path, text), self.found.target)

    def _by_values(self) -> dict[_Values, list[tuple[str, HelmSettings, StoredRendering]]]:
        """Return the different outputs of each set of values, with the Kubernetes versions that they were rendered for."""
        found: dict[_Values, dict[StoredRendering, list[tuple[str, HelmSettings]]]] = {}
        for values, store, settings, future in self.runs:
            found.setdefault(values, {}).setdefault(future.result(), []).append((store.definitions.version, settings))
        return {
            values: [
                (",".join(version for version, _ in uses) if len(outputs) > 1 else "", uses[-1][1], output)
                for output, uses in outputs.items()
            ]
            for values, outputs in found.items()
        }

    def _tracer(self, values: _Values, settings: HelmSettings, texts: dict[str, str]) -> Callable[[], Trace]:
        def trace() -> Trace:
            return self.stage._cache.trace(self.chart, values.name, settings, texts)

        return trace

    def _role(self, path: str, text: str) -> Role:
        """Return the role of a rendered template: tests of a chart run in a cluster."""
        if self.found.role.name in TESTS:
            return self.found.role
        if "/tests/" in path or ("helm.sh/hook: test" in text and "\n---" not in text):
            return Role(TEST_MANIFEST, "test of a Helm chart")
        return self.found.role

    def _report_failures(self, failures: list[tuple[_Values, str]], has_output: bool) -> None:
        """Report why a chart cannot be rendered. A chart may need values that its own lack."""
        for values, error in failures:
            found = read_error(error)
            needs_values = not values.name and has_output and len(self.values) > 1
            if self.found.role.name in TESTS or needs_values:
                self.stage.charts.limited.append(
                    SkippedFile(self.found.target.path, f"not rendered with {values.name or 'its own values'}: {found.message}")
                )
                continue
            file, line, column, text = self._place_of(found, values)
            suffix = f" (with {values.name})" if values.name else ""
            message = Complaint(f"helm cannot render the chart: {found.message}{suffix}", found.help)
            self.stage.report(
                FAILED, self.found, file, redact.message(str(message)), line, column, text
            ) if not found.help else self.stage.report(
                FAILED, self.found, file, Complaint(redact.message(str(message)), found.help), line, column, text
            )
            if not has_output:
                return

    def _place_of(self, error: HelmError, values: _Values) -> tuple[str, int, int, str]:
        """Return file, line, column and text of the line that an error is about."""
        chart = self.chart
        path = chart.rendered_names.get(error.template, "")
        if path:
            shown, archive = chart.place_of(path)
            if not archive or archive == chart.folder:
                source = chart.source(path)
                line = min(error.line, len(source.line_starts))
                return shown, line, error.column, source.line(line)
        return chart.place_of(CHART_FILE)[0], 1, 1, ""


class _RenderingCache:
    """Renders charts, unless an earlier run has done so."""

    def __init__(self, helm: Helm, program: str) -> None:
        self._program = program
        self._state = f"{__version__} {program_state(program)}".encode() if program else b""
        self._store = None
        if helm.cache is not None and program:
            from kcheck.cache.store import Cache

            self._store = Cache(helm.cache, os.getcwd())

    def _key(self, chart: Chart, settings: HelmSettings) -> str:
        parts = [self._state, chart.digest, repr(settings).encode("utf-8", "surrogateescape")]
        return digest_of_parts(*parts).hex()

    def rendering(self, chart: Chart, name: str, settings: HelmSettings) -> StoredRendering:
        """Return the output of helm."""
        stored = self._get("texts", chart, name, settings, StoredRendering)
        if isinstance(stored, StoredRendering):
            return stored
        try:
            texts = render_chart(self._program, chart, settings)
        except HelmFailed as error:
            return StoredRendering((), (), str(error))
        ordered = sorted(texts)
        rendering = StoredRendering(tuple(ordered), tuple(texts[each] for each in ordered))
        self._put("texts", chart, name, settings, rendering, StoredRendering)
        return rendering

    def trace(self, chart: Chart, name: str, settings: HelmSettings, texts: Mapping[str, str]) -> Trace:
        """Return the origins of the characters of a rendered chart."""
        stored = self._get("trace", chart, name, settings, StoredTrace)
        if isinstance(stored, StoredTrace):
            with suppress(ValueError):
                return restore_trace(stored)
        trace = trace_chart(self._program, chart, settings, texts)
        self._put("trace", chart, name, settings, store_trace(trace), StoredTrace)
        self.save()
        return trace

    def _pack(self, chart: Chart) -> str:
        return f"chart-{digest_of_parts(chart.folder.encode('utf-8', 'surrogateescape')).hex()[:2]}"

    def _get(self, what: str, chart: Chart, name: str, settings: HelmSettings, kind: type) -> object:
        if self._store is None:
            return None
        from kcheck.codec.encoding import DecodeError, unpacked

        parts = self._store.get(self._pack(chart), f"{what} {chart.folder} {name}", self._key(chart, settings))
        with suppress(DecodeError, ValueError):
            if parts is not None:
                return unpacked(b"".join(parts), kind)
        return None

    def _put(self, what: str, chart: Chart, name: str, settings: HelmSettings, value: object, kind: type) -> None:
        if self._store is None:
            return
        from kcheck.codec.encoding import DecodeError, packed

        with suppress(DecodeError):
            self._store.put(
                self._pack(chart), f"{what} {chart.folder} {name}", self._key(chart, settings), (packed(value, kind),), max_keys=4
            )

    def save(self) -> None:
        """Write what was rendered."""
        if self._store is not None:
            self._store.save()

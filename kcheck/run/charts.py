"""Charts of an input: finds them, renders them with helm, and moves findings from rendered texts to templates."""

from __future__ import annotations

import os
import posixpath
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from kcheck.check.file import file_findings
from kcheck.check.session import Session
from kcheck.discovery.discover import Target
from kcheck.facts.unit import Unit
from kcheck.finding.rendered import RenderedPath
from kcheck.finding.report import SkippedFile
from kcheck.finding.role import TEST_MANIFEST, TESTS, UNKNOWN, UNMAINTAINED, Role
from kcheck.helm.chart import CHART_FILE, VALUES_FILE, BadChart, Chart, ChartBudget, ChartTooLarge, read_chart
from kcheck.helm.errors import NEEDS_VALUES, HelmError, read_error
from kcheck.helm.program import HelmSettings, find_program
from kcheck.helm.rendering import Trace
from kcheck.helm.settings import Helm
from kcheck.helm.stored import StoredRendering
from kcheck.helm.values import ChartValues, TextQuery, ValueLeaf
from kcheck.kube.suggestions import did_you_mean
from kcheck.redaction import redact
from kcheck.repository.roles import RoleFinder
from kcheck.run.chart_releases import Release, ReleaseValues, is_below, read_value_file, repository_of
from kcheck.run.rendered_charts import RenderedCharts, RenderedFile, Rendering
from kcheck.run.rendering_cache import Pool, RenderingCache, StoredMistake
from kcheck.schema.locator import LINE_LIMIT
from kcheck.schema.store import Store
from kcheck.text.complaint import Complaint
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.text.span import Range
from kcheck.yaml.node import Node

FAILED = "failed-chart-render"
SKIPPED = "unrendered-chart"

_CI_VALUES = pattern(r"ci/[^/]+[-_.]values\.ya?ml|ci/values[^/]*\.ya?ml")
_GROUP = pattern(r"^[ \t]*group: *[\"']?([\w.-]+)", 8)
_KIND = pattern(r"^[ \t]+kind: *[\"']?(\w+)", 8)
_VERSION = pattern(r"^[ \t-]+name: *[\"']?(v\d\w*)[\"']?\s*$", 8)


_START = Range(1, 1, 1, 1)
_MISTAKES = {
    "unused": ("unused-chart-value", 'no template reads the value "{}"'),
    "misspelled": ("misspelled-chart-value", 'unknown value "{}"'),
    "undeclared": ("undeclared-chart-value", 'values.yaml does not contain the value "{}"'),
    "undefined-template": ("undefined-chart-template", 'no template is named "{}"'),
}
_HELP = {
    "unused": "remove it, or use it in a template",
    "misspelled": "",
    "undeclared": "add it to values.yaml with its default, also if it is empty",
    "undefined-template": "define it, or remove the call",
}


class _ValueSet(NamedTuple):
    """A set of values.

    Attributes:
        name: its name in reports, "" for the values of the chart alone.
        files: the files with values, in order.
        release: name of the release.
        namespace: namespace of the release.
        set: values that are set in addition.
        is_test: whether only tests of the chart use it.
        entry: see `Release`.
    """

    name: str
    files: tuple[ReleaseValues, ...]
    release: str
    namespace: str
    set: tuple[str, ...]
    is_test: bool = False
    entry: tuple[str, int] | None = None


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

    @property
    def renders(self) -> bool:
        """Whether it may have something to render."""
        folders = ("templates", "charts")
        return self.folder.endswith(".tgz") or any(os.path.isdir(os.path.join(self.folder, name)) for name in folders)


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
        if target.named and (owner := _chart_of_template(target.path)) is not None and owner not in files:
            named[owner].add(target.path)
    for folder, templates in named.items():
        path = f"{folder}/{CHART_FILE}" if folder else CHART_FILE
        found[folder] = _FoundChart(folder, Target(path, named=True), UNKNOWN, frozenset(templates))
    return list(found.values())


def _path_in(folder: str, path: str) -> str:
    """Return the path of a file relative to a folder, "" if it is elsewhere. A link in the folder to a file elsewhere is in the folder."""
    for resolved in (os.path.abspath, os.path.realpath):
        start, full = os.path.join(resolved(folder), ""), resolved(path)
        if full.startswith(start):
            return full.removeprefix(start).replace(os.sep, "/")
    return ""


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
        releases: releases of charts that the input describes.
        progress: called with the number of charts that were rendered, and of all charts.
        contents: targets whose content replaces that of the file, such as standard input.
    """

    def __init__(
        self,
        session: Session,
        helm: Helm,
        definitions: Iterable[str] = (),
        releases: Iterable[Release] = (),
        progress: Callable[[int, int], None] | None = None,
        contents: Iterable[Target] = (),
    ) -> None:
        self.session = session
        self.contents = tuple(contents)
        program = helm.program
        self.program = find_program() if program is None else program
        self.helm = helm
        self.definitions = definitions
        self.releases = _by_folder(releases)
        self.progress = progress
        self.charts = RenderedCharts()
        self.cache = RenderingCache(helm.cache, self.program, helm.jobs, helm.place)
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
            if not chart.templates and not chart.metadata().dependencies:
                # It has nothing to render.
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
            with Pool(self.helm.jobs) as pool:
                jobs = [_ChartJob(self, pool, each, chart) for each, chart in ready]
                for number, job in enumerate(jobs, 1):
                    files += job.files()
                    if self.progress is not None:
                        self.progress(number, len(jobs))
            self.cache.save()
        return files

    def _read(self, found: _FoundChart) -> Chart | None:
        root = repository_of(found.folder)
        budget = ChartBudget()
        try:
            chart = read_chart(found.folder, lambda path: is_below(path, root), budget)
            for target in self.contents:
                # Its path may be absolute.
                if target.data is not None and (path := _path_in(found.folder, target.path)):
                    chart.files[path] = target.data
            link_dependencies(chart, root, budget)
            # Raises ChartTooLarge.
            _ = chart.instances
        except (BadChart, ValueError) as error:
            self.report(FAILED, found, found.target.path, Complaint(f"the chart cannot be read: {error}", ""))
            return None
        return chart

    def _report_missing_program(self, found: _FoundChart, chart: Chart) -> None:
        message = Complaint(f'chart "{chart.metadata().name}" was not checked: helm is not installed', "install helm, or use --helm")
        self.report(SKIPPED, found, found.target.path, message)
        self.charts.is_unrendered = True
        if found.target.named or found.target.path[found.target.start :] == CHART_FILE:
            self.charts.is_named_unrendered = True

    def report(self, rule: str, found: _FoundChart, file: str, message: str, range: Range = _START, text: str = "") -> None:
        """Add a finding about a chart. `text`: the line of the range."""
        for finding in file_findings(rule, file, range.line, message, self.session.rules_for(file, found.role.name)):
            place = finding.place._replace(range=range, line=redact.line(text)[:LINE_LIMIT])
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


def _by_folder(releases: Iterable[Release]) -> dict[str, list[Release]]:
    """Return releases by the folders where their charts may be, with symbolic links resolved."""
    found: dict[str, list[Release]] = defaultdict(list)
    for release in releases:
        for folder in {os.path.realpath(each) for each in release.folders if "\0" not in each}:
            found[folder].append(release)
    return found


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


def link_dependencies(chart: Chart, root: str, budget: ChartBudget, depth: int = 0) -> None:
    """Add the local charts that a chart depends on, as `helm dependency build` does. Raises ChartTooLarge.

    `root`: the folder that they must be in.
    """
    if os.path.isfile(chart.folder) or depth > 4:
        return
    for dependency in chart.metadata().dependencies:
        if not dependency.repository.startswith("file://"):
            continue
        if any(chart.metadata(each).name == dependency.name for each in chart.subcharts()):
            continue
        folder = posixpath.normpath(posixpath.join(chart.folder or ".", dependency.repository.removeprefix("file://")))
        if not is_below(folder, root) or not os.path.isfile(os.path.join(folder, CHART_FILE)):
            continue
        try:
            other = read_chart(folder, lambda path: is_below(path, root), budget)
        except ChartTooLarge:
            raise
        except BadChart:
            # helm reports that it is missing.
            continue
        link_dependencies(other, root, budget, depth + 1)
        chart.add_subchart(f"charts/{os.path.basename(os.path.realpath(folder))}/", other)


def _with_names(error: str, files: Sequence[ReleaseValues]) -> str:
    """Return a message of helm with the paths of files with values instead of those of their copies."""
    for number, file in enumerate(files):
        error = error.replace(f"kcheck-values-{number}.yaml", file.path or "values")
    return error


class _ChartJob:
    """The renderings of one chart."""

    def __init__(self, stage: ChartStage, pool: Pool, found: _FoundChart, chart: Chart) -> None:
        self.stage = stage
        self.pool = pool
        self.found = found
        self.chart = chart
        self.config = stage.helm.settings_of(found.folder)
        self.values = list(self._value_sets())
        stores = stage.session.stores_for(found.target.path)
        depends = any("Capabilities" in chart.source(path).text for path in chart.templates) or bool(chart.metadata().kubernetes)
        self.stores = stores if depends else stores[-1:]
        self.has_comments = any("kcheck" in chart.source(path).text for path in chart.templates) and any(
            action.keyword == "comment" and "kcheck" in action.code for path in chart.templates for action in chart.template(path).actions
        )
        self.runs: list[tuple[_ValueSet, Store, HelmSettings, Callable[[], StoredRendering]]] = []
        for values in self.values:
            for store in self.stores:
                settings = HelmSettings(
                    values.release, values.namespace, store.definitions.release, stage.api_versions(store, chart),
                    tuple(each.text for each in values.files), values.set,
                )  # fmt: skip
                self.runs.append((values, store, settings, stage.cache.rendering(pool, chart, values.name, settings)))

    def _value_sets(self) -> Iterator[_ValueSet]:
        """Yield the sets of values of the config or of the chart, and those of releases in the input."""
        common = self.config.release, self.config.namespace, self.config.set
        if self.config.sets is None:
            yield _ValueSet("", (), *common)
            for path in value_files(self.chart):
                yield _ValueSet(path, (ReleaseValues(self._shown(path), self.chart.source(path).text),), *common, is_test=True)
        for paths in self.config.sets or ():
            chosen = [self._value_file(path) for path in paths]
            if None not in chosen:
                yield _ValueSet(", ".join(paths), tuple(each for each in chosen if each is not None), *common)
        real = os.path.realpath(self.found.folder or ".")
        titles: Counter[str] = Counter()
        for release in self.stage.releases.get(real, ()):
            titles[release.title] += 1
            number = titles[release.title]
            title = f"{release.title} ({number})" if number > 1 else release.title
            found = [(path, read_value_file(path, folders)) for path, folders in release.files]
            absent = next((path for path, file in found if file is None), "")
            unknown = release.unknown or (f'the file "{absent}" was not found' if absent and not release.skips_missing else "")
            if unknown:
                self.stage.charts.limited.append(SkippedFile(self.found.target.path, f"not rendered for {title}: {unknown}"))
                continue
            files = [ReleaseValues(*file) for _, file in found if file is not None]
            values = (*files, *release.values)
            yield _ValueSet(title, values, release.name, release.namespace, release.set, entry=release.entry)

    def _value_file(self, path: str) -> ReleaseValues | None:
        """Return a file of the config, None after reporting that it cannot be read."""
        full = self._shown(path)
        try:
            if not self._is_in_repository(full):
                raise OSError(0, "it is outside of the repository")
            return ReleaseValues(full, Path(full).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not a text file"
            self.stage.report(FAILED, self.found, full, Complaint(f"values cannot be read: {reason}", ""))
            return None

    def _is_in_repository(self, path: str) -> bool:
        return is_below(path, repository_of(self.found.folder))

    def files(self) -> Iterator[RenderedFile]:
        """Yield the rendered texts."""
        charts = self.stage.charts
        failures: list[tuple[_ValueSet, str]] = []
        renderings: list[Rendering] = []
        # While helm runs.
        mistakes = self._mistakes()
        by_name = self._by_values()
        for values, outputs in ((each, by_name[each.name]) for each in self.values):
            for versions, settings, output in outputs:
                if output.error:
                    failures.append((values, output.error))
                    continue
                texts = dict(zip(output.names, output.texts, strict=True))
                tracer = self._tracer(values, settings, dict(texts))
                rendering = Rendering(self.chart, values.name, settings, versions, texts, tracer, values.is_test)
                rendering.values_of = partial(ChartValues, self.chart, values.files)
                rendering.prove = self._prove
                if self.has_comments:
                    rendering.insert_comments()
                renderings.append(rendering)
        self._report_failures(failures, bool(renderings))
        self._report_mistakes(mistakes)
        charts.limited += (
            SkippedFile(self.chart.place_of(path)[0], "it refers to other documents, so values were not validated")
            for path in self.chart.schemas_with_links
        )
        if not renderings:
            return
        entries = {values.name: values.entry for values in self.values}
        charts.rendered.add(self.found.folder)
        if self.found.only:
            charts.only[self.found.folder] = self.found.only
        for rendering in renderings:
            key = self.found.folder, rendering.values, rendering.versions
            charts.renderings[key] = rendering
            shown: dict[str, str] = {}
            if (entry := entries[rendering.values]) is not None:
                charts.of_kustomizations[entry] = shown
            for name, text in rendering.texts.items():
                path = self.chart.rendered_names.get(name, "")
                if path.endswith("NOTES.txt") or not path:
                    continue
                template = self.chart.place_of(path)[0]
                full = charts.add_path(RenderedPath(template, *key, name))
                shown[full] = f"{text}\n"
                yield RenderedFile(full, shown[full], self._role(path, text), self.found.target)

    def _by_values(self) -> dict[str, list[tuple[str, HelmSettings, StoredRendering]]]:
        """Return the different outputs of each set of values, with the Kubernetes versions that they were rendered for."""
        found: dict[str, dict[StoredRendering, list[tuple[str, HelmSettings]]]] = {}
        for values, store, settings, future in self.runs:
            found.setdefault(values.name, {}).setdefault(future(), []).append((store.definitions.version, settings))
        return {
            values: [
                (",".join(version for version, _ in uses) if len(outputs) > 1 else "", uses[-1][1], output)
                for output, uses in outputs.items()
            ]
            for values, outputs in found.items()
        }

    def _tracer(self, values: _ValueSet, settings: HelmSettings, texts: dict[str, str]) -> Callable[[], Trace]:
        def trace() -> Trace:
            return self.stage.cache.trace(self.chart, values.name, settings, texts)

        return trace

    def _prove(self, rendering: Rendering, queries: Sequence[TextQuery]) -> Mapping[TextQuery, Sequence[ValueLeaf]]:
        values = rendering.values_of()
        plain = rendering.plain
        return self.stage.cache.proven_values(
            rendering.chart, rendering.values, rendering.settings, values, plain.texts, plain.traces, rendering.trace.stacks, queries
        )

    def _shown(self, path: str) -> str:
        return posixpath.normpath(posixpath.join(self.found.folder, path))

    def _role(self, path: str, text: str) -> Role:
        """Return the role of a rendered template: tests of a chart run in a cluster."""
        if self.found.role.name in TESTS:
            return self.found.role
        if "/tests/" in path or ("helm.sh/hook: test" in text and "\n---" not in text):
            return Role(TEST_MANIFEST, "test of a Helm chart")
        return self.found.role

    def _report_failures(self, failures: list[tuple[_ValueSet, str]], has_output: bool) -> None:
        """Report why a chart cannot be rendered. A chart may need values that its own lack."""
        for values, error in failures:
            found = read_error(_with_names(error, values.files))
            needs_values = not values.name and has_output and len(self.values) > 1
            if self.found.role.name in TESTS or needs_values:
                self.stage.charts.limited.append(
                    SkippedFile(self.found.target.path, f"not rendered with {values.name or 'its own values'}: {found.message}")
                )
                continue
            file, range, text = self._place_of(found, values)
            suffix = f" (with {values.name})" if values.name else ""
            help = "" if values.name and found.help == NEEDS_VALUES else found.help
            message = Complaint(redact.message(f"helm cannot render the chart: {found.message}{suffix}"), help)
            self.stage.report(FAILED, self.found, file, message, range, text)
            if not has_output:
                return

    def _mistakes(self) -> Sequence[StoredMistake]:
        """Return what is wrong with values and templates whatever they render."""
        files = [(each.path, each.text) for values in self.values for each in values.files if each.node is None]
        return self.stage.cache.mistakes(self.chart, list(dict(files).items()))

    def _report_mistakes(self, mistakes: Sequence[StoredMistake]) -> None:
        for each in mistakes:
            rule, message = _MISTAKES[each.kind]
            help = did_you_mean(each.near) if each.near else _HELP[each.kind]
            if self.found.only and each.path not in self.found.only:
                continue
            self.stage.report(rule, self.found, each.path, Complaint(message.format(each.name), help), each.range, each.line)

    def _place_of(self, error: HelmError, values: _ValueSet) -> tuple[str, Range, str]:
        """Return the file and range of an error, and the text of its line."""
        chart = self.chart
        path = chart.rendered_names.get(error.template, "")
        if path:
            shown, archive = chart.place_of(path)
            if not archive or archive == chart.folder:
                source = chart.source(path)
                line = min(error.line, len(source.line_starts))
                return shown, Range(line, error.column, line, error.column), source.line(line)
        place = self._value_place(error, values) if error.file == VALUES_FILE else self._chart_file_place(error)
        if place is None:
            return chart.place_of(CHART_FILE)[0], _START, ""
        source, node = place
        range = source.range(node.start, node.end) if not (node.is_map or node.is_list) else source.range(*node.key_span)
        return source.path, range, source.line(range.line)

    def _chart_file_place(self, error: HelmError) -> tuple[Source, Node] | None:
        """Return the dependency or the field of the Chart.yaml that an error is about."""
        metadata = self.chart.metadata()
        node = next((each.node["name"] for each in metadata.dependencies if each.name == error.subject), metadata.root[error.subject])
        return (Source(self.chart.place_of(CHART_FILE)[0], metadata.source.text), node) if node.exists else None

    def _value_place(self, error: HelmError, values: _ValueSet) -> tuple[Source, Node] | None:
        """Return the value that an error is about; if it is missing, the innermost map around it."""
        known = ChartValues(self.chart, values.files)
        prefix = next((each for each in self.chart.prefixes[1:] if self.chart.metadata(each).name == error.subject), "")
        path = (*known.scopes(prefix)[0], *(int(part) if part.isdigit() else part for part in error.pointer))
        while path:
            if (found := known.find(path)) is not None:
                return found
            path = path[:-1]
        return None

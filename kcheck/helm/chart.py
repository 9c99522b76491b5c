"""Charts: their files, metadata and sub-charts, in a folder or in an archive."""

from __future__ import annotations

import json
import os
import posixpath
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import cached_property

from kcheck.helm.template import Template
from kcheck.text.digest import digest_of_parts
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

CHART_FILE = "Chart.yaml"
VALUES_FILE = "values.yaml"
SCHEMA_FILE = "values.schema.json"

_MAX_FILES = 20_000
_MAX_BYTES = 64 * 1024 * 1024
_MAX_DEPTH = 8
_MAX_INSTANCES = 1000
_SKIPPED = frozenset({".git", ".svn", ".hg", "node_modules"})
_PUBLISHED_SCHEMA = pattern(r"https?://json-schema\.org/(?:schema|draft-0[4-7]/schema|draft/20(?:19-09|20-12)/schema)#?\Z")
_ARCHIVE = pattern(r"charts/[^/]+\.tgz")


class BadChart(Exception):
    """The files of a chart cannot be read; the message explains why."""


class ChartTooLarge(BadChart):
    """A chart has too many files, bytes or instances of sub-charts."""


class ChartBudget:
    """What may still be read of a chart, its archives and the charts that it is linked to: files, folders and bytes."""

    def __init__(self) -> None:
        self.files, self.bytes = _MAX_FILES, _MAX_BYTES

    def take(self, size: int) -> None:
        """Count a file or folder. Raises ChartTooLarge if nothing is left. `size`: its bytes."""
        self.files -= 1
        self.bytes -= size
        if self.files < 0 or self.bytes < 0:
            raise ChartTooLarge(f"it is larger than {_MAX_FILES} files or {_MAX_BYTES >> 20} MiB")


class Dependency(NamedTuple):
    """An entry of `dependencies` in the metadata of a chart.

    Attributes:
        name: name of the chart.
        alias: the name that replaces it, "" if there is none.
        repository: where helm downloads it from; `file://PATH` is a folder.
        condition: paths of values that enable it, separated by commas.
        tags: tags in the values that enable it.
        node: the entry.
    """

    name: str
    alias: str
    repository: str
    condition: str
    tags: tuple[str, ...]
    node: Node

    @property
    def key(self) -> str:
        """The key of its values in the values of the parent."""
        return self.alias or self.name


class Metadata(NamedTuple):
    """The content of a Chart.yaml.

    Attributes:
        name: name of the chart, "" if the file cannot be read.
        version: version of the chart.
        kind: "application" or "library".
        kubernetes: constraint of `kubeVersion`.
        dependencies: the charts that it depends on.
        source: the text of the file.
        root: the content of the file.
    """

    name: str
    version: str
    kind: str
    kubernetes: str
    dependencies: tuple[Dependency, ...]
    source: Source
    root: Node


class Chart:
    """A chart with its sub-charts.

    Attributes:
        folder: path of the folder or archive, as shown.
        files: content of its files by their path in the chart, with archives in `charts` unpacked.
        archives: paths of these archives, by the folder that they were unpacked to, with "/" at the end.
        linked: paths of local folders that were added as sub-charts, by the folder in the chart, with "/" at the end.
    """

    def __init__(self, folder: str, files: dict[str, bytes]) -> None:
        self.folder = folder
        self.files = files
        self.archives: dict[str, str] = {}
        self.linked: dict[str, str] = {}
        self._metadata: dict[str, Metadata] = {}
        self._templates: dict[str, Template] = {}
        self._sources: dict[str, Source] = {}

    @cached_property
    def digest(self) -> bytes:
        """A digest of all files."""
        return digest_of_parts(
            *(part for path, data in sorted(self.files.items()) for part in (path.encode("utf-8", "surrogateescape"), data))
        )

    @cached_property
    def schemas_with_links(self) -> list[str]:
        """The paths of schemas of values that refer to other documents, which helm would read from the disk or download."""
        paths = [f"{prefix}{SCHEMA_FILE}" for prefix in self.prefixes]
        return [path for path in paths if path in self.files and _refers_to_other_documents(self.files[path])]

    @property
    def files_for_helm(self) -> dict[str, bytes]:
        """The files that helm may read."""
        return {path: data for path, data in self.files.items() if path not in self.schemas_with_links}

    def add_subchart(self, prefix: str, other: Chart) -> None:
        """Add a chart of another folder as a sub-chart. `prefix`: its folder in this chart, with "/" at the end."""
        self.files.update((prefix + path, data) for path, data in other.files.items())
        self.archives.update((prefix + inner, archive) for inner, archive in other.archives.items())
        self.linked.update((prefix + inner, folder) for inner, folder in other.linked.items())
        self.linked[prefix] = other.folder
        for name in ("prefixes", "_paths", "_inner_charts", "templates", "instances", "rendered_names", "digest", "schemas_with_links"):
            self.__dict__.pop(name, None)

    def metadata(self, prefix: str = "") -> Metadata:
        """Return the metadata of the chart or of a sub-chart in a folder, with "/" at the end."""
        if prefix not in self._metadata:
            self._metadata[prefix] = read_metadata(self.source(prefix + CHART_FILE), self.files.get(f"{prefix}requirements.yaml"))
        return self._metadata[prefix]

    def source(self, path: str) -> Source:
        """Return the text of a file; an absent file is empty."""
        if path not in self._sources:
            self._sources[path] = Source(path, self.files.get(path, b"").decode("utf-8", "replace"))
        return self._sources[path]

    def template(self, path: str) -> Template:
        """Return a file as a template."""
        if path not in self._templates:
            self._templates[path] = Template(self.source(path).text)
        return self._templates[path]

    @cached_property
    def prefixes(self) -> list[str]:
        """The folders of the chart and its sub-charts: "" and such as `charts/common/`."""
        return sorted(path[: -len(CHART_FILE)] for path in self.files if _is_chart_file(path))

    def subcharts(self, prefix: str = "") -> list[str]:
        """Return the folders of the direct sub-charts of a chart."""
        return self._inner_charts.get(prefix, [])

    @cached_property
    def _inner_charts(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for prefix in self.prefixes:
            if prefix:
                found.setdefault(prefix[: prefix.rindex("charts/")], []).append(prefix)
        return found

    @cached_property
    def templates(self) -> list[str]:
        """The paths of all templates, also of helpers and sub-charts."""
        return [f"{prefix}{rest}" for prefix in self.prefixes for rest in self._files_below(prefix, "templates/")]

    @cached_property
    def _paths(self) -> list[str]:
        return sorted(self.files)

    def _files_below(self, prefix: str, folder: str) -> Iterator[str]:
        start = prefix + folder
        for at in range(bisect_left(self._paths, start), len(self._paths)):
            if not self._paths[at].startswith(start):
                return
            yield self._paths[at][len(prefix) :]

    @cached_property
    def instances(self) -> list[tuple[str, tuple[str, ...]]]:
        """The chart and its sub-charts as helm renders them: the folder of each and the keys that lead to its values.

        A sub-chart has an instance for each dependency that names it, so the number may grow exponentially with the depth. Raises
        ChartTooLarge.
        """
        found: list[tuple[str, tuple[str, ...]]] = [("", ())]
        for prefix, keys in found:
            for sub in self.subcharts(prefix):
                if len(found) >= _MAX_INSTANCES or len(keys) >= _MAX_DEPTH:
                    raise ChartTooLarge(f"it has more than {_MAX_INSTANCES} sub-charts, or they are nested more than {_MAX_DEPTH} deep")
                found += ((sub, (*keys, key)) for key in self._keys_of(prefix, sub))
        return found

    def _keys_of(self, prefix: str, sub: str) -> list[str]:
        """Return the keys of the values of a sub-chart in those of its parent."""
        name = self.metadata(sub).name
        # A sub-chart whose version is not that of the dependency keeps its name.
        return list(dict.fromkeys([*(each.key for each in self.metadata(prefix).dependencies if each.name == name), name]))

    @cached_property
    def rendered_names(self) -> dict[str, str]:
        """The paths of the templates by the names under which helm prints them. Raises ChartTooLarge."""
        own = self.metadata().name
        return {
            f"{'/charts/'.join((own, *keys))}/{rest}": prefix + rest
            for prefix, keys in self.instances
            for rest in self._files_below(prefix, "templates/")
        }

    def place_of(self, path: str) -> tuple[str, str]:
        """Return the path of a file as shown, and the archive that contains it, "" if it is not packed."""
        for prefix, folder in self.linked.items():
            if path.startswith(prefix):
                return posixpath.normpath(f"{folder}/{path[len(prefix) :]}"), ""
        for prefix, archive in self.archives.items():
            if path.startswith(prefix):
                return self._shown(path), self._shown(archive)
        return self._shown(path), self.folder if self.folder.endswith(".tgz") else ""

    def _shown(self, path: str) -> str:
        return f"{self.folder}/{path}" if self.folder else path


def _refers_to_other_documents(schema: bytes) -> bool:
    """Return whether a JSON Schema refers to another document, other than a published version of JSON Schema."""
    # Read as leniently as any version of helm does: with invalid UTF-8, large numbers and text after the end.
    decoder = json.JSONDecoder(parse_int=str, parse_float=str)
    try:
        stack = [decoder.raw_decode(schema.decode("utf-8", "replace").lstrip())[0]]
    except RecursionError:
        return True
    except ValueError:
        # helm reports that it is not JSON.
        return False
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            for key in ("$schema", "$ref", "$dynamicRef", "$recursiveRef"):
                target = node.get(key)
                if isinstance(target, str) and not target.startswith("#") and not _PUBLISHED_SCHEMA.match(target):
                    return True
            stack += node.values()
        elif isinstance(node, list):
            stack += node
    return False


def _is_chart_file(path: str) -> bool:
    parts = path.split("/")
    return parts[-1] == CHART_FILE and len(parts) % 2 == 1 and all(part == "charts" for part in parts[:-1:2])


def read_chart(folder: str, is_allowed: Callable[[str], bool] = lambda path: True, budget: ChartBudget | None = None) -> Chart:
    """Return the chart in a folder or `.tgz` archive. Raises BadChart.

    `is_allowed`: whether a file that a symbolic link leads to, as an absolute path, may be read.
    """
    budget = budget or ChartBudget()
    if os.path.isfile(folder):
        chart = Chart(folder, _archive_files(_read(folder, budget), budget))
    else:
        chart = Chart(folder, dict(_folder_files(folder or ".", is_allowed, budget)))
    _unpack(chart, budget, 0)
    return chart


def _read(path: str, budget: ChartBudget) -> bytes:
    try:
        with open(path, "rb") as file:
            content = file.read(budget.bytes + 1)
    except OSError as error:
        raise BadChart(f"cannot be read: {error.strerror or error}") from None
    budget.take(len(content))
    return content


def _folder_files(folder: str, is_allowed: Callable[[str], bool], budget: ChartBudget) -> Iterator[tuple[str, bytes]]:
    """Yield the paths in a folder and the contents of all files. Links to folders that contain them are not followed."""
    stack: list[tuple[str, tuple[str, ...]]] = [("", (os.path.realpath(folder),))]
    while stack:
        inner, above = stack.pop()
        # Links may lead to the same folders again and again.
        budget.take(0)
        try:
            with os.scandir(os.path.join(folder, inner)) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            raise BadChart(f"{inner or '.'} cannot be read: {error.strerror or error}") from None
        for entry in entries:
            path = f"{inner}/{entry.name}" if inner else entry.name
            real = os.path.realpath(entry.path) if entry.is_symlink() else os.path.join(above[-1], entry.name)
            if entry.is_symlink() and not is_allowed(real):
                continue
            if entry.is_dir():
                if entry.name not in _SKIPPED and real not in above and len(above) <= 4 * _MAX_DEPTH:
                    stack.append((path, (*above, real)))
            elif entry.is_file():
                yield path, _read(entry.path, budget)


def _archive_files(data: bytes, budget: ChartBudget) -> dict[str, bytes]:
    """Return the files of a packed chart without their first folder. Raises BadChart."""
    # Imported on first use: few charts are packed.
    import gzip
    import io
    import tarfile
    import zlib

    files: dict[str, bytes] = {}
    try:
        # Unpacked here: tarfile would unpack any number of bytes to skip a file or to read a long name.
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            unpacked = packed.read(budget.bytes + 1)
        budget.take(len(unpacked))
        with tarfile.open(fileobj=io.BytesIO(unpacked), mode="r:") as archive:
            for member in archive:
                budget.take(0)
                full = member.name.replace("\\", "/")
                path = posixpath.normpath(full).partition("/")[2]
                if not member.isreg() or not path or full.startswith("/") or ".." in full.split("/"):
                    continue
                if member.issparse():
                    # It may be much larger than its archive.
                    raise BadChart(f"{path} is a sparse file")
                content = archive.extractfile(member)
                if content is not None:
                    files[path] = content.read()
    except (tarfile.TarError, zlib.error, OSError, EOFError, ValueError, ArithmeticError, LookupError, RecursionError) as error:
        raise BadChart(f"it is not a packed chart: {error}") from None
    return files


def _unpack(chart: Chart, budget: ChartBudget, depth: int) -> None:
    """Replace archives in `charts` by their files."""
    if depth >= _MAX_DEPTH:
        return
    found = [path for path in chart.files if path.endswith(".tgz") and _ARCHIVE.search(path)]
    for path in found:
        data = chart.files.pop(path)
        try:
            files = _archive_files(data, budget)
        except ChartTooLarge:
            raise
        except BadChart:
            # helm reports it.
            chart.files[path] = data
            continue
        prefix = f"{path[: -len('.tgz')]}/"
        chart.archives[prefix] = path
        chart.files.update((prefix + inner, content) for inner, content in files.items())
    if found:
        _unpack(chart, budget, depth + 1)


def read_metadata(source: Source, requirements: bytes | None = None) -> Metadata:
    """Return the content of a Chart.yaml. `requirements`: content of the file with the dependencies of old charts."""
    documents = parse(source)
    root = documents[0].root if documents and documents[0].fault is None else Node(None, 0, 0)
    dependencies = root["dependencies"]
    if requirements is not None and not dependencies:
        old = parse(Source("", requirements.decode("utf-8", "replace")))
        dependencies = old[0].root["dependencies"] if old and old[0].fault is None else dependencies
    return Metadata(
        root["name"].text,
        root["version"].text,
        root["type"].text or "application",
        root["kubeVersion"].text,
        tuple(_dependency(each) for each in dependencies if each.is_map),
        source,
        root,
    )


def _dependency(node: Node) -> Dependency:
    tags = tuple(each.text for each in node["tags"])
    return Dependency(node["name"].text, node["alias"].text, node["repository"].text, node["condition"].text, tags, node)

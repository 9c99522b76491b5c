"""Charts: their files, metadata and sub-charts, in a folder or in an archive."""

from __future__ import annotations

import json
import os
import posixpath
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
_SKIPPED = frozenset({".git", ".svn", ".hg", "node_modules"})
_PUBLISHED_SCHEMA = pattern(r"https?://json-schema\.org/(?:schema|draft-0[4-7]/schema|draft/20(?:19-09|20-12)/schema)#?\Z")
_ARCHIVE = pattern(r"charts/[^/]+\.tgz")


class BadChart(Exception):
    """The files of a chart cannot be read; the message explains why."""


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
        for name in ("prefixes", "templates", "rendered_names", "digest", "schemas_with_links"):
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
        start = f"{prefix}charts/"
        return [each for each in self.prefixes if each.startswith(start) and each.count("/", len(start)) == 1]

    @cached_property
    def templates(self) -> list[str]:
        """The paths of all templates, also of helpers and sub-charts."""
        return [f"{prefix}{rest}" for prefix in self.prefixes for rest in self._files_below(prefix, "templates/")]

    def _files_below(self, prefix: str, folder: str) -> Iterator[str]:
        for path in self.files:
            if path.startswith(prefix + folder):
                yield path[len(prefix) :]

    @cached_property
    def rendered_names(self) -> dict[str, str]:
        """The paths of the templates by the names under which helm prints them. A sub-chart has an alias for each dependency."""
        names: dict[str, str] = {}
        self._add_names("", self.metadata().name, names, 0)
        return names

    def _add_names(self, prefix: str, name: str, names: dict[str, str], depth: int) -> None:
        for rest in self._files_below(prefix, "templates/"):
            names[f"{name}/{rest}"] = prefix + rest
        if depth >= _MAX_DEPTH:
            return
        dependencies = self.metadata(prefix).dependencies
        for sub in self.subcharts(prefix):
            own = self.metadata(sub).name
            for key in dict.fromkeys((own, *(each.key for each in dependencies if each.name == own))):
                self._add_names(sub, f"{name}/charts/{key}", names, depth + 1)

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


def read_chart(folder: str, is_allowed: Callable[[str], bool] = lambda path: True) -> Chart:
    """Return the chart in a folder or `.tgz` archive. Raises BadChart.

    `is_allowed`: whether a file that a symbolic link leads to, as an absolute path, may be read.
    """
    if os.path.isfile(folder):
        chart = Chart(folder, _archive_files(folder, _read(folder)))
    else:
        chart = Chart(folder, dict(_folder_files(folder or ".", is_allowed)))
    _unpack(chart, 0)
    return chart


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise BadChart(f"cannot be read: {error.strerror or error}") from None


def _folder_files(folder: str, is_allowed: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Yield the paths in a folder and the contents of all files."""
    stack, number, size = [("", 0)], 0, 0
    while stack:
        inner, depth = stack.pop()
        try:
            with os.scandir(os.path.join(folder, inner)) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            raise BadChart(f"{inner or '.'} cannot be read: {error.strerror or error}") from None
        for entry in entries:
            path = f"{inner}/{entry.name}" if inner else entry.name
            if entry.is_symlink() and not is_allowed(os.path.realpath(entry.path)):
                continue
            if entry.is_dir():
                if entry.name not in _SKIPPED and depth < 4 * _MAX_DEPTH:
                    stack.append((path, depth + 1))
            elif entry.is_file():
                content = _read(entry.path)
                number += 1
                size += len(content)
                if number > _MAX_FILES or size > _MAX_BYTES:
                    raise BadChart(f"the chart is larger than {_MAX_FILES} files or {_MAX_BYTES >> 20} MiB")
                yield path, content


def _archive_files(name: str, data: bytes) -> dict[str, bytes]:
    """Return the files of a packed chart without their first folder. Raises BadChart."""
    # Imported on first use: few charts are packed.
    import io
    import tarfile

    files: dict[str, bytes] = {}
    size = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as archive:
            for member in archive:
                if not member.isreg():
                    continue
                path = posixpath.normpath(member.name.replace("\\", "/")).partition("/")[2]
                size += member.size
                if len(files) >= _MAX_FILES or size > _MAX_BYTES:
                    raise BadChart(f"{name} is larger than {_MAX_FILES} files or {_MAX_BYTES >> 20} MiB")
                content = archive.extractfile(member)
                if path and not path.startswith(("/", "../")) and content is not None:
                    files[path] = content.read()
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        raise BadChart(f"{name} is not a packed chart: {error}") from None
    return files


def _unpack(chart: Chart, depth: int) -> None:
    """Replace archives in `charts` by their files."""
    if depth >= _MAX_DEPTH:
        return
    found = [path for path in chart.files if path.endswith(".tgz") and _ARCHIVE.search(path)]
    for path in found:
        data = chart.files.pop(path)
        try:
            files = _archive_files(path, data)
        except BadChart:
            # helm reports it.
            chart.files[path] = data
            continue
        prefix = f"{path[: -len('.tgz')]}/"
        chart.archives[prefix] = path
        chart.files.update((prefix + inner, content) for inner, content in files.items())
    if found:
        _unpack(chart, depth + 1)


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

"""Releases of charts that the input describes: Argo CD Applications, Flux HelmReleases, and `helmCharts` of kustomizations.

Sources: the documentation of Argo CD, "Helm", of Flux, "Helm Releases", and of kustomize, "helmCharts".
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kcheck.helm.settings import NAMESPACE
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

_ARGO, _FLUX = "argoproj.io/", "helm.toolkit.fluxcd.io/"
_VALUES_OF_SOURCE = "$"
_MAX_BYTES = 1_000_000
_COMMA = pattern(r"(?<!\\),")
# helm refuses names in --set that are nested more deeply.
_PATH = pattern(r"[\w-]+(?:\.[\w-]+){0,29}")
_INTEGER = pattern(r"-?(?:0|[1-9][0-9]{0,17})")


class ReleaseValues(NamedTuple):
    """Values of a release.

    Attributes:
        path: path of the file, as shown, "" if the values are a string in another file.
        text: the values, as YAML.
        source: the text of the file, None if it contains nothing but the values.
        node: the values in this file.
    """

    path: str
    text: str
    source: Source | None = None
    node: Node | None = None


class Release(NamedTuple):
    """A release of a chart.

    Attributes:
        title: the object that describes it, such as `Application shop`.
        folders: absolute paths where the chart may be: in the folder of the object, or one above it.
        files: paths of files with values, each with the absolute folders that it may be relative to.
        values: further values, which override those of the files.
        set: values that are set, such as `image.tag=1.2`.
        name: name of the release.
        namespace: its namespace.
        skips_missing: whether files with values may be missing.
        unknown: why its values are not known, "" if they are.
        entry: path of the kustomization whose `helmCharts` describe it, and the index of the entry.
    """

    title: str
    folders: tuple[str, ...]
    files: tuple[tuple[str, tuple[str, ...]], ...]
    values: tuple[ReleaseValues, ...]
    set: tuple[str, ...]
    name: str
    namespace: str
    skips_missing: bool = False
    unknown: str = ""
    entry: tuple[str, int] | None = None


def may_describe_release(text: str) -> bool:
    """Return whether a file may contain an object that describes a release."""
    return (_ARGO in text and "Application" in text and "path" in text) or _FLUX in text or "helmCharts" in text


def find_releases(sources: Sequence[Source]) -> Iterator[Release]:
    """Yield the releases that the objects of some files describe."""
    config_maps = ConfigMaps(sources)
    for source in filter(lambda each: may_describe_release(each.text), sources):
        above = _folders_above(os.path.dirname(os.path.abspath(source.path)))
        for document in parse(source):
            root = document.root
            if document.fault is not None or not root.is_map:
                continue
            api_version, kind = root["apiVersion"].text, root["kind"].text
            if api_version.startswith(_ARGO) and kind == "Application":
                yield from _of_application(root, source, above)
            elif api_version.startswith(_FLUX) and kind == "HelmRelease":
                yield from _of_helm_release(root, source, above, config_maps)
            elif root["helmCharts"].is_list:
                yield from _of_kustomization(root, source, above[-1])


def _of_application(root: Node, source: Source, above: tuple[str, ...]) -> Iterator[Release]:
    spec = root["spec"]
    sources = [spec["source"], *spec["sources"]]
    for each in sources:
        path, helm = each["path"].text.strip("/"), each["helm"]
        if not path:
            continue
        folders = tuple(os.path.normpath(os.path.join(folder, path)) for folder in above)
        files = tuple(_value_file(file.text, folders, above) for file in helm["valueFiles"] if file.text)
        values = [*_inline(helm["values"], source), *_map(helm["valuesObject"], source)]
        assigned = tuple(
            f"{parameter['name'].text}={_without_lists(parameter['value'].text)}"
            for parameter in helm["parameters"]
            if parameter["name"].text and not parameter["forceString"].value
        )
        unknown = "it has values from another repository" if any("://" in path for path, _ in files) else ""
        for name, text in _strings(helm, folders, above):
            if text is None or not _PATH.fullmatch(name):
                unknown = f'the value of its parameter "{name}" is not known'
            else:
                values.append(ReleaseValues("", json.dumps(_nested(name, text))))
        title = root["metadata"]["name"].text
        namespace = helm["namespace"].text or spec["destination"]["namespace"].text or NAMESPACE
        yield Release(
            f"Application {title}", folders, files, tuple(values), assigned, helm["releaseName"].text or title, namespace,
            bool(helm["ignoreMissingValueFiles"].value), unknown,
        )  # fmt: skip


def _strings(helm: Node, folders: tuple[str, ...], above: tuple[str, ...]) -> Iterator[tuple[str, str | None]]:
    """Yield the names of the parameters that are strings in any case, with their values; None for a file that does not exist."""
    for parameter in helm["parameters"]:
        if parameter["forceString"].value:
            yield parameter["name"].text, parameter["value"].text
    for parameter in helm["fileParameters"]:
        found = read_value_file(*_value_file(parameter["path"].text, folders, above))
        yield parameter["name"].text, None if found is None else found[1]


def _without_lists(value: str) -> str:
    """Return a value for `--set` in which commas do not separate values, as Argo CD does."""
    return value if value.startswith("{") and value.endswith("}") else _COMMA.sub(r"\,", value)


def _nested(path: str, value: object) -> object:
    """Return a value in maps with the keys of a path."""
    for key in reversed(path.split(".")):
        value = {key: value}
    return value


def _value_file(path: str, folders: tuple[str, ...], above: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    if path.startswith(_VALUES_OF_SOURCE):
        # `$values/path`: relative to the root of another source, often of the same repository.
        return path.partition("/")[2], above
    return (path.lstrip("/"), above) if path.startswith("/") else (path, folders)


def _of_helm_release(root: Node, source: Source, above: tuple[str, ...], config_maps: ConfigMaps) -> Iterator[Release]:
    spec, metadata = root["spec"], root["metadata"]
    chart = spec["chart"]["spec"]
    path = chart["chart"].text
    if chart["sourceRef"]["kind"].text not in ("GitRepository", "Bucket") or not path:
        return
    folders = tuple(os.path.normpath(os.path.join(folder, path.strip("/"))) for folder in above)
    files = tuple((file.text, above) for file in chart["valuesFiles"] if file.text)
    namespace = spec["targetNamespace"].text or metadata["namespace"].text or NAMESPACE
    name = metadata["name"].text
    release = spec["releaseName"].text or (f"{spec['targetNamespace'].text}-{name}" if spec["targetNamespace"].text else name)
    values: list[ReleaseValues] = []
    unknown = ""
    for each in spec["valuesFrom"]:
        found = config_maps.values_of(each, metadata["namespace"].text, above)
        if found is not None:
            values += found
        elif each["kind"].text != "ConfigMap" or not each["optional"].value:
            unknown = f'the values in {each["kind"].text} "{each["name"].text}" are not known'
    values += _map(spec["values"], source)
    skips_missing = bool(chart["ignoreMissingValuesFiles"].value)
    yield Release(f"HelmRelease {name}", folders, files, tuple(values), (), release, namespace, skips_missing, unknown)


class ConfigMaps:
    """The values in ConfigMaps of an input, which are read when a release refers to them."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        self._found: dict[str, list[_ConfigMap]] | None = None

    def values_of(self, reference: Node, namespace: str, above: Sequence[str]) -> list[ReleaseValues] | None:
        """Return the values that an item of `valuesFrom` adds, None if they are not known.

        `namespace`, `above`: the namespace of the release, and the folders above it.
        """
        if reference["kind"].text != "ConfigMap":
            return None
        if self._found is None:
            self._found = defaultdict(list)
            for each in self._read():
                self._found[each.name].append(each)
        every = [each for each in self._found.get(reference["name"].text, ()) if namespace in (each.namespace, "") or not each.namespace]
        nearest = [each for folder in reversed(above) for each in every if each.folder == folder] or every
        if not nearest or (len(nearest) > 1 and nearest[1].folder == nearest[0].folder) or (len(nearest) > 1 and nearest is every):
            return None
        value = nearest[0].value_of(reference["valuesKey"].text or "values.yaml")
        path = reference["targetPath"].text
        if value is None or not path:
            return None if value is None else [value]
        return [ReleaseValues("", json.dumps(_nested(path, _typed(value.text))))] if _PATH.fullmatch(path) else None

    def _read(self) -> Iterator[_ConfigMap]:
        for source in self._sources:
            if "ConfigMap" not in source.text and "configMapGenerator" not in source.text:
                continue
            folder = os.path.dirname(os.path.abspath(source.path))
            for document in parse(source):
                root = document.root
                if document.fault is not None or not root.is_map:
                    continue
                if root["kind"].text == "ConfigMap":
                    yield _ConfigMap(root["metadata"]["name"].text, root["metadata"]["namespace"].text, folder, source, root)
                for each in root["configMapGenerator"]:
                    yield _ConfigMap(each["name"].text, each["namespace"].text or root["namespace"].text, folder, source, each)


class _ConfigMap(NamedTuple):
    """A ConfigMap of an input.

    Attributes:
        name: its name, for a generator without the hash.
        namespace: its namespace, "" if it is not known.
        folder: absolute path of the folder of its file.
        source: its file.
        node: the object, or the entry of `configMapGenerator`.
    """

    name: str
    namespace: str
    folder: str
    source: Source
    node: Node

    def value_of(self, key: str) -> ReleaseValues | None:
        """Return the data of a key, None if there is none."""
        data = self.node["data"]
        if data.is_map:
            return _inline_value(data[key], self.source) if data[key].exists else None
        return _generated(self.node, self.folder, key)


def _generated(generator: Node, folder: str, wanted: str) -> ReleaseValues | None:
    """Return the data of a key that a `configMapGenerator` makes of a file or literal, None if there is none."""
    for each in generator["literals"]:
        key, _, text = each.text.partition("=")
        if key == wanted:
            return ReleaseValues("", text)
    for each in generator["files"]:
        key, _, path = each.text.rpartition("=")
        if (key or os.path.basename(path)) == wanted:
            found = read_value_file(path, (folder,))
            return None if found is None else ReleaseValues(*found)
    return None


def _typed(text: str) -> object:
    """Return a value of `targetPath` as Flux reads it: like `--set` of helm, as a string if it is quoted."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if text in ("true", "false", "null"):
        return {"true": True, "false": False}.get(text)
    return int(text) if _INTEGER.fullmatch(text) else text


def _of_kustomization(root: Node, source: Source, folder: str) -> Iterator[Release]:
    home = root["helmGlobals"]["chartHome"].text or "charts"
    for index, each in enumerate(root["helmCharts"]):
        name = each["name"].text
        if not name:
            continue
        paths = [each["valuesFile"].text, *(file.text for file in each["additionalValuesFiles"])]
        release = each["releaseName"].text or name
        yield Release(
            f"{release} in {source.path}",
            (os.path.normpath(os.path.join(folder, home, name)),),
            tuple((path, (folder,)) for path in paths if path),
            tuple(_map(each["valuesInline"], source)),
            (),
            release,
            each["namespace"].text or root["namespace"].text or NAMESPACE,
            entry=(source.path, index),
        )


def _map(node: Node, source: Source) -> Iterator[ReleaseValues]:
    if node.is_map and len(node):
        yield ReleaseValues(source.path, json.dumps(node.plain()), source, node)


def _inline(node: Node, source: Source) -> Iterator[ReleaseValues]:
    if node.text.strip():
        yield _inline_value(node, source)


def _inline_value(node: Node, source: Source) -> ReleaseValues:
    """Return values in a string, with their places in the file if it is a block whose lines are those of the values."""
    if node.style == "|":
        start = source.text.find("\n", node.start) + 1
        # The text before it becomes whitespace, so that offsets stay the same.
        blank = "\n".join(" " * len(line) for line in source.text[:start].split("\n"))
        block = Source(source.path, blank + source.text[start : node.end])
        if _plain(block) == _plain(Source("", node.text)):
            return ReleaseValues(source.path, node.text, block)
    return ReleaseValues("", node.text)


def _plain(source: Source) -> object:
    """Return the only document of a text as plain data, None if there are several or an error."""
    documents = parse(source)
    return documents[0].root.plain() if len(documents) == 1 and documents[0].fault is None else None


def _folders_above(folder: str) -> tuple[str, ...]:
    """Return a folder and those above it up to the root of the repository, which comes first."""
    found = [folder]
    while not os.path.exists(os.path.join(folder, ".git")) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        found.append(folder)
    return tuple(reversed(found))


def repository_of(folder: str) -> str:
    """Return the repository that contains a chart, otherwise the working folder if it does, otherwise the chart."""
    own, here = os.path.realpath(folder or "."), os.getcwd()
    above = own
    while not os.path.exists(os.path.join(above, ".git")):
        if os.path.dirname(above) == above:
            return here if f"{own}/".startswith(os.path.join(here, "")) else own
        above = os.path.dirname(above)
    return above


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is a folder or in it, with symbolic links resolved."""
    return os.path.join(os.path.realpath(path), "").startswith(os.path.join(os.path.realpath(folder), ""))


def read_value_file(path: str, folders: Iterable[str]) -> tuple[str, str] | None:
    """Return the path, as shown, and the text of a file with values in one of some folders, None if the repository has none."""
    for folder in folders:
        full = os.path.normpath(os.path.join(folder, path))
        if os.path.isfile(full) and os.path.getsize(full) <= _MAX_BYTES and is_below(full, repository_of(folder)):
            try:
                with open(full, encoding="utf-8") as file:
                    return os.path.relpath(full).replace(os.sep, "/"), file.read()
            except (OSError, UnicodeDecodeError):
                return None
    return None

"""Releases of charts that the input describes: Argo CD Applications, Flux HelmReleases, and `helmCharts` of kustomizations.

Sources: the documentation of Argo CD, "Helm", of Flux, "Helm Releases", and of kustomize, "helmCharts".
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator

from kcheck.helm.settings import NAMESPACE
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

_ARGO, _FLUX = "argoproj.io/", "helm.toolkit.fluxcd.io/"
_VALUES_OF_SOURCE = "$"
_MAX_BYTES = 1_000_000


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
    """

    title: str
    folders: tuple[str, ...]
    files: tuple[tuple[str, tuple[str, ...]], ...]
    values: tuple[ReleaseValues, ...]
    set: tuple[str, ...]
    name: str
    namespace: str


def may_describe_release(text: str) -> bool:
    """Return whether a file may contain an object that describes a release."""
    return (_ARGO in text and "Application" in text and "path" in text) or _FLUX in text or "helmCharts" in text


def find_releases(sources: Iterable[Source]) -> Iterator[Release]:
    """Yield the releases that the objects of some files describe."""
    for source in sources:
        above = _folders_above(os.path.dirname(os.path.abspath(source.path)))
        for document in parse(source):
            root = document.root
            if document.fault is not None or not root.is_map:
                continue
            api_version, kind = root["apiVersion"].text, root["kind"].text
            if api_version.startswith(_ARGO) and kind == "Application":
                yield from _of_application(root, source, above)
            elif api_version.startswith(_FLUX) and kind == "HelmRelease":
                yield from _of_helm_release(root, source, above)
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
        files = tuple(_value_file(file.text, folders, above) for file in helm["valueFiles"] if file.text and "://" not in file.text)
        values = [*_inline(helm["values"], source), *_map(helm["valuesObject"], source)]
        assigned = tuple(
            f"{parameter['name'].text}={parameter['value'].text}" for parameter in helm["parameters"] if parameter["name"].text
        )
        name = root["metadata"]["name"].text
        namespace = spec["destination"]["namespace"].text or NAMESPACE
        yield Release(f"Application {name}", folders, files, tuple(values), assigned, helm["releaseName"].text or name, namespace)


def _value_file(path: str, folders: tuple[str, ...], above: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    if path.startswith(_VALUES_OF_SOURCE):
        # `$values/path`: relative to the root of another source, often of the same repository.
        return path.partition("/")[2], above
    return (path.lstrip("/"), above) if path.startswith("/") else (path, folders)


def _of_helm_release(root: Node, source: Source, above: tuple[str, ...]) -> Iterator[Release]:
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
    yield Release(f"HelmRelease {name}", folders, files, tuple(_map(spec["values"], source)), (), release, namespace)


def _of_kustomization(root: Node, source: Source, folder: str) -> Iterator[Release]:
    home = root["helmGlobals"]["chartHome"].text or "charts"
    for each in root["helmCharts"]:
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
        )


def _map(node: Node, source: Source) -> Iterator[ReleaseValues]:
    if node.is_map and len(node):
        yield ReleaseValues(source.path, json.dumps(node.plain()), source, node)


def _inline(node: Node, source: Source) -> Iterator[ReleaseValues]:
    if node.text.strip():
        # Lines of a string are not lines of the file.
        yield ReleaseValues("", node.text)


def _folders_above(folder: str) -> tuple[str, ...]:
    """Return a folder and those above it up to the root of the repository, which comes first."""
    found = [folder]
    while not os.path.exists(os.path.join(folder, ".git")) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        found.append(folder)
    return tuple(reversed(found))


def read_value_file(path: str, folders: Iterable[str]) -> tuple[str, str] | None:
    """Return the path, as shown, and the text of a file with values in one of some folders, None if there is none."""
    for folder in folders:
        full = os.path.normpath(os.path.join(folder, path))
        if os.path.isfile(full) and os.path.getsize(full) <= _MAX_BYTES:
            try:
                with open(full, encoding="utf-8") as file:
                    return os.path.relpath(full).replace(os.sep, "/"), file.read()
            except (OSError, UnicodeDecodeError):
                return None
    return None

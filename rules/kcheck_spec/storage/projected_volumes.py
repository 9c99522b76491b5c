"""Files that a volume makes of ConfigMaps, Secrets, tokens and fields of the pod.

Source: validateKeyToPath, validateDownwardAPIVolumeFile, validateProjectionSources (pkg/apis/core/validation/validation.go), and
warningsForOverlappingVirtualPaths (pkg/api/pod/warnings.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, fields, file_modes, missing, validator
from kcheck_spec._support import file_paths as paths
from kcheck_spec.objects.common_constraints import dropped, dubious_setting, given, require
from kcheck_spec.workloads.field_refs import field_problems, resource_problems

# A server with default feature gates takes these away before it validates; what is left is a source without anything.
_DROPPED = ("clusterTrustBundle", "podCertificate")
_KINDS = ("secret", "configMap", "downwardAPI", "serviceAccountToken")
# What a file may be told of its pod: not where the pod runs, which is not settled yet.
_FIELDS = ("metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.uid")
_SHORTEST_TOKEN, _LONGEST_TOKEN = 600, 1 << 32

tables = [
    fields("core/v1 KeyToPath", key=(), path=()),
    fields(("core/v1 DownwardAPIVolumeFile", "core/v1 ServiceAccountTokenProjection"), path=()),
    fields("core/v1 VolumeProjection", **dict.fromkeys(_DROPPED, dropped)),
]


def file_mode(mode: Node, field: Node | None = None) -> Iterator[Problem]:
    """Permissions of a file. `field`: where the server has another path for it."""
    number = mode.integer
    wrong = file_modes.mode(number) if number is not None else ""
    if wrong:
        yield Problem(mode, wrong, reason="Invalid", field=field)


def file_path(path: Node, field: Node | None = None) -> Iterator[Problem]:
    """Where a file goes inside its volume."""
    if not path.text:
        yield missing(path).replace(reason="Required", field=field)
    elif wrong := paths.local(path.text):
        yield Problem(path, wrong, reason="Invalid", field=field)


def items(source: Node) -> Iterator[Problem]:
    """Keys of a ConfigMap or Secret and the files that they become."""
    for item in source["items"]:
        if not given(item["key"]):
            yield missing(item["key"])
        yield from file_path(item["path"])
        yield from file_mode(item["mode"])


def files(source: Node) -> Iterator[Problem]:
    """A ConfigMap or Secret as a volume of its own."""
    yield from file_mode(source["defaultMode"])
    yield from items(source)


def downward_items(source: Node) -> Iterator[Problem]:
    """Fields of the pod as files. The server leaves the list and its index out of all paths."""
    for item in source["items"]:
        yield from file_path(item["path"], source.imaginary("path"))
        field, resource = item["fieldRef"], item["resourceFieldRef"]
        if field and resource:
            yield Problem(
                item, "fieldRef and resourceFieldRef are two contents of one file", help="take one away", reason="Invalid", field=source
            )
        elif not field and not resource:
            yield Problem(item, "the file has no content", help="add fieldRef or resourceFieldRef", reason="Required", field=source)
        for problem in field_problems(item, _FIELDS) if field else resource_problems(item, container=True) if resource else ():
            yield _lifted(problem, item, source)
        yield from file_mode(item["mode"], source.imaginary("mode"))


def _lifted(problem: Problem, item: Node, source: Node) -> Problem:
    """The same problem of an item, under the path that it has without the item."""
    assert isinstance(problem.node, Node)
    at = problem.field if isinstance(problem.field, Node) else problem.node
    way: list[str] = []
    while at is not item and at.parent is not None:
        way.append(at.name)
        at = at.parent
    return problem.replace(field=source.imaginary(*reversed(way)))


def downward_api(source: Node) -> Iterator[Problem]:
    """Fields of the pod as a volume of their own."""
    yield from file_mode(source["defaultMode"])
    yield from downward_items(source)


def token(source: Node, volume: Node) -> Iterator[Problem]:
    """A token of the pod's service account. The server looks for its path one level higher than it stands."""
    seconds = source["expirationSeconds"]
    number = seconds.integer
    if number is not None and number < _SHORTEST_TOKEN:
        yield Problem(seconds, f"{number} seconds are too short for a token", help=f"write at least {_SHORTEST_TOKEN}", reason="Invalid")
    elif number is not None and number > _LONGEST_TOKEN:
        yield Problem(seconds, f"{number} seconds are too long for a token", help=f"write at most {_LONGEST_TOKEN}", reason="Invalid")
    yield from file_path(source["path"], volume.imaginary("path"))


def projected(volume: Node) -> Iterator[Problem]:
    """Several sources in one volume, each of one kind, and no two files in the same place."""
    yield from file_mode(volume["defaultMode"])
    seen: set[str] = set()
    for source in volume["sources"]:
        kinds = [kind for kind in _KINDS if source[kind]]
        if len(kinds) > 1:
            yield Problem(
                source,
                f"one entry has one source, this has {' and '.join(kinds)}",
                help="make each an entry of its own",
                reason="Forbidden",
            )
        for kind in kinds:
            part = source[kind]
            if kind == "serviceAccountToken":
                yield from token(part, volume)
            elif kind == "downwardAPI":
                yield from downward_items(part)
            else:
                if not part["name"].text:
                    yield require(part["name"])
                yield from items(part)
            for item in part["items"]:
                path = item["path"]
                if path.text in seen:
                    yield Problem(
                        path,
                        f"{path.text} is another file of this volume already",
                        help="write another path",
                        reason="Invalid",
                        field=volume,
                    )
                if path.text:
                    seen.add(path.text)


@validator("core/v1 Volume", rule=dubious_setting, fields="projected")
def projections_have_sources(volume: Node) -> Iterator[Problem]:
    """An entry of a projected volume holds something."""
    for source in volume["projected"]["sources"]:
        if not any(source[kind] for kind in _KINDS):
            gone = [kind for kind in _DROPPED if source[kind]]
            what = f"{gone[0]} is switched off in servers with default feature gates, which drop it" if gone else "this source is empty"
            yield Problem(source, f"{what}: nothing of it gets into the volume")


@validator("core/v1 Volume", rule=dubious_setting, fields=("configMap", "secret", "downwardAPI", "projected"))
def files_do_not_overlap(volume: Node) -> Iterator[Problem]:
    """No file of a volume stands where another one, or a folder of it, goes."""
    for kind in ("configMap", "secret", "downwardAPI"):
        yield from _overlaps([item["path"] for item in volume[kind]["items"]])
    yield from _overlaps([path for source in volume["projected"]["sources"] for path in _paths(source)])


def _paths(source: Node) -> list[Node]:
    """The files of one source: the server looks at one kind only."""
    for kind in ("configMap", "secret", "downwardAPI"):
        if source[kind]["items"]:
            return [item["path"] for item in source[kind]["items"]]
    return [source["serviceAccountToken"]["path"]]


def _overlaps(found: list[Node]) -> Iterator[Problem]:
    for index, path in enumerate(found):
        mine = path.text.rstrip("/")
        for other in found[:index]:
            its = other.text.rstrip("/")
            if mine and its and (f"{mine}/".startswith(f"{its}/") or f"{its}/".startswith(f"{mine}/")):
                yield Problem(path, f"{mine} overlaps {its} in the same volume: one of the two files is lost")
                break

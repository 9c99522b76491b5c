"""Files of volumes from ConfigMaps, Secrets, tokens and fields of the Pod.

Source: validateKeyToPath, validateDownwardAPIVolumeFile, validateProjectionSources (pkg/apis/core/validation/validation.go), and
warningsForOverlappingVirtualPaths (pkg/api/pod/warnings.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, TypedValue, fields, file_modes, missing, validator
from kcheck_spec._support import file_paths as paths
from kcheck_spec.objects.common_constraints import dubious_setting, given, require
from kcheck_spec.workloads.field_refs import field_problems, resource_problems

# The first version that warns about empty projections and overlapping paths.
_WARNS_SINCE = 32
_KINDS = ("secret", "configMap", "downwardAPI", "serviceAccountToken")
# The fields of a Pod that can become files. The node is not among them, because it is not known yet.
_FIELDS = ("metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.uid")
_MIN_TOKEN, _MAX_TOKEN = 600, 1 << 32

tables = [
    fields("core/v1 KeyToPath", key=(), path=()),
    fields(("core/v1 DownwardAPIVolumeFile", "core/v1 ServiceAccountTokenProjection"), path=()),
]


def file_mode(mode: Node, field: Node | None = None) -> Iterator[Problem]:
    """Yield an invalid file mode. `field`: the node whose path the API server reports, if not `mode`."""
    number = mode.integer
    wrong = file_modes.mode(number) if number is not None else ""
    if wrong:
        yield Problem(mode, wrong, reason="Invalid", field=field)


def file_path(path: Node, field: Node | None = None) -> Iterator[Problem]:
    """Yield a missing or invalid path of a file within its volume. `field`: as of `file_mode`."""
    if not path.text:
        yield missing(path).replace(reason="Required", field=field)
    elif wrong := paths.local(path.text):
        yield Problem(path, wrong, reason="Invalid", field=field)


def items(source: Node) -> Iterator[Problem]:
    """Yield problems of the items of a ConfigMap or Secret volume."""
    for item in source["items"]:
        if not given(item["key"]):
            yield missing(item["key"])
        yield from file_path(item["path"])
        yield from file_mode(item["mode"])


def files(source: Node) -> Iterator[Problem]:
    """Yield problems of a ConfigMap or Secret volume."""
    yield from file_mode(source["defaultMode"])
    yield from items(source)


def downward_items(source: Node) -> Iterator[Problem]:
    """Yield problems of the items of a downwardAPI volume. The API server omits `items` and the index from their paths."""
    for item in source["items"]:
        yield from file_path(item["path"], source.virtual("path"))
        field, resource = item["fieldRef"], item["resourceFieldRef"]
        if field and resource:
            message = "fieldRef and resourceFieldRef are mutually exclusive"
            yield Problem(item, message, help="remove one of them", reason="Invalid", field=source)
        elif not field and not resource:
            message = "the downwardAPI item has neither fieldRef nor resourceFieldRef"
            yield Problem(item, message, help="add one of them", reason="Required", field=source)
        for problem in field_problems(item, _FIELDS) if field else resource_problems(item, container=True) if resource else ():
            yield _lifted(problem, item, source)
        yield from file_mode(item["mode"], source.virtual("mode"))


def _lifted(problem: Problem, item: Node, source: Node) -> Problem:
    """The problem with a field path that omits the item."""
    assert isinstance(problem.node, Node)
    at = problem.field if isinstance(problem.field, Node) else problem.node
    way: list[str] = []
    while at is not item and at.parent is not None:
        way.append(at.name)
        at = at.parent
    return problem.replace(field=source.virtual(*reversed(way)))


def downward_api(source: Node) -> Iterator[Problem]:
    """Yield problems of a downwardAPI volume."""
    yield from file_mode(source["defaultMode"])
    yield from downward_items(source)


def token(source: Node, volume: Node) -> Iterator[Problem]:
    """Yield problems of a serviceAccountToken source. The API server reports its path one level higher."""
    seconds = source["expirationSeconds"]
    number = seconds.integer
    if number is not None and not _MIN_TOKEN <= number <= _MAX_TOKEN:
        message = f"expirationSeconds {number} is out of range ({_MIN_TOKEN}-{_MAX_TOKEN})"
        yield Problem(seconds, message, reason="Invalid")
    yield from file_path(source["path"], volume.virtual("path"))


def projected(volume: Node) -> Iterator[Problem]:
    """Yield problems of a projected volume: entries with several sources, invalid sources and duplicate paths."""
    yield from file_mode(volume["defaultMode"])
    seen: set[str] = set()
    for source in volume["sources"]:
        kinds = [kind for kind in _KINDS if source[kind]]
        if len(kinds) > 1:
            yield Problem(
                source,
                f"the projected source has several kinds: {' and '.join(kinds)}",
                help="move each to a separate entry of sources",
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
                        f'duplicate path "{path.text}" in the projected volume',
                        help="use another path",
                        reason="Invalid",
                        field=volume,
                    )
                if path.text:
                    seen.add(path.text)


@validator("core/v1 Volume", rule=dubious_setting, fields="projected")
def projections_have_sources(value: TypedValue) -> Iterator[Problem]:
    """Yield entries of a projected volume without a source."""
    for source in () if value.resource.is_before(_WARNS_SINCE) else value.node["projected"]["sources"]:
        if not any(source[kind] for kind in _KINDS):
            gone = next((each.name for each in value.resource.dropped if each.parent is source), "")
            reason = f"{gone} is dropped by API servers with default feature gates" if gone else "the projected source is empty"
            yield Problem(source, f"{reason}, so it adds no files to the volume")


@validator("core/v1 Volume", rule=dubious_setting, fields=("configMap", "secret", "downwardAPI", "projected"))
def files_do_not_overlap(value: TypedValue) -> Iterator[Problem]:
    """Yield files of a volume whose path overlaps that of another one."""
    volume = value.node
    if value.resource.is_before(_WARNS_SINCE):
        return
    for kind in ("configMap", "secret", "downwardAPI"):
        yield from _overlaps([item["path"] for item in volume[kind]["items"]])
    yield from _overlaps([path for source in volume["projected"]["sources"] for path in _paths(source)])


def _paths(source: Node) -> list[Node]:
    """The paths of one source. The API server only looks at one kind."""
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
                message = f'path "{mine}" overlaps path "{its}" of the same volume, so one of the files is lost'
                yield Problem(path, message, help="use another path")
                break

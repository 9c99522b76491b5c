"""The `pods` key of a config: custom kinds that contain pods but have no schema that shows where."""

from __future__ import annotations

from kcheck.config.values import Values, quoted, shown
from kcheck.schema.pods.known_kinds import Places, PodPlace, read_path
from kcheck.text.pattern import pattern
from kcheck.yaml.node import Node

_KEYS = ("kind", "group", "path", "lasts")
_PATH = pattern(r"(?:[\w-]+|\*)(?:\[[\d*]*\])?(?:\.(?:[\w-]+|\*)(?:\[[\d*]*\])?)*")


def read_pods(node: Node, values: Values) -> dict[tuple[str, str], Places]:
    """Returns the pod locations of each kind, by (group, kind)."""
    places: dict[tuple[str, str], Places] = {}
    if node and not node.is_list:
        values.wrong(node, f"pods must be a list of maps with kind, group and path, not {shown(node)}")
        return places
    for each in node:
        if not each.is_map:
            values.wrong(each, f"an item of pods must be a map with kind, group and path, not {shown(each)}")
            continue
        entries = dict(values.entries(each, _KEYS))
        for name in ("kind", "path"):
            if name not in entries:
                values.wrong(each, f"{name} is missing; set kind, and path to the location of its pods, such as spec.template")
        key = (_text(entries, "group", values), _text(entries, "kind", values))
        lasts = values.flag(entries["lasts"]) if "lasts" in entries else None
        paths = values.texts(entries["path"]) if "path" in entries else []
        places[key] = (
            *places.get(key, ()),
            *(PodPlace(read_path(path.text), runs_forever=lasts) for path in paths if _is_path(path, values)),
        )
    return places


def _text(entries: dict[str, Node], name: str, values: Values) -> str:
    node = entries.get(name)
    if node is not None and not node.text:
        values.wrong(node, f"{name} must be a string, not {shown(node)}")
    return node.text if node is not None else ""


def _is_path(node: Node, values: Values) -> bool:
    if _PATH.fullmatch(node.text):
        return True
    values.wrong(
        node, f"{quoted(node.text)} is not a valid path; separate keys with dots and use * for all items, such as spec.tasks.*.template"
    )
    return False

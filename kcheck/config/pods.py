"""What a config says of kinds that hold pods and have no schema to show it."""

from __future__ import annotations

from kcheck.config.values import Values, shown
from kcheck.schema.pods.known_kinds import Places, PodPlace, read_path
from kcheck.text.pattern import pattern
from kcheck.yaml.node import Node

_KEYS = ("kind", "group", "path", "lasts")
_PATH = pattern(r"(?:[\w-]+|\*)(?:\[[\d*]*\])?(?:\.(?:[\w-]+|\*)(?:\[[\d*]*\])?)*")


def read_pods(node: Node, values: Values) -> dict[tuple[str, str], Places]:
    """(group, kind) -> the places of pods in objects of the kind."""
    found: dict[tuple[str, str], Places] = {}
    if node and not node.is_list:
        values.wrong(node, f"pods is a list of maps with kind, group and path, not {shown(node)}")
        return found
    for each in node:
        if not each.is_map:
            values.wrong(each, f"what holds pods is a map with kind, group and path, not {shown(each)}")
            continue
        said = dict(values.entries(each, _KEYS))
        for name in ("kind", "path"):
            if name not in said:
                values.wrong(each, f"this says no {name}: write a kind and the path to its pods, such as spec.template")
        key = (_text(said, "group", values), _text(said, "kind", values))
        lasts = values.flag(said["lasts"]) if "lasts" in said else None
        paths = values.texts(said["path"]) if "path" in said else []
        found[key] = (*found.get(key, ()), *(PodPlace(read_path(path.text), lasts=lasts) for path in paths if _is_path(path, values)))
    return found


def _text(said: dict[str, Node], name: str, values: Values) -> str:
    node = said.get(name)
    if node is not None and not node.text:
        values.wrong(node, f"{name} is a text, not {shown(node)}")
    return node.text if node is not None else ""


def _is_path(node: Node, values: Values) -> bool:
    if _PATH.fullmatch(node.text):
        return True
    values.wrong(node, f"{node.text!r} is no path: write keys with dots, and * for all items, such as spec.tasks.*.template")
    return False

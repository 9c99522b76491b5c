"""The `charts` key of a config: how charts are rendered."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.config.values import Values, quoted, shown
from kcheck.helm.settings import NAMESPACE, RELEASE, ChartSettings
from kcheck.kube.names import dns_label
from kcheck.text.pattern import pattern
from kcheck.text.words import enumeration
from kcheck.yaml.node import Node

_KEYS = ("values", "set", "release", "namespace")
_MAX_RELEASE = 53
_ASSIGNMENT = pattern(r"[^=]+=.*", 16)


def read_charts(node: Node, values: Values) -> tuple[tuple[str, ChartSettings], ...]:
    """Return the settings of charts by globs of their folders."""
    if node and not node.is_map:
        values.wrong(node, f"charts must be a map from globs of charts to settings, not {shown(node)}")
        return ()
    return tuple(_chart(glob, child, values) for glob, child in node.entries)


def _chart(glob: str, node: Node, values: Values) -> tuple[str, ChartSettings]:
    if ".." in glob.split("/"):
        values.wrong(node, f"{quoted(glob)} leaves the folder of this file; globs match charts in this folder and below", at="key")
    if node and not node.is_map:
        values.wrong(node, f"the settings of a chart must be a map with {enumeration(_KEYS, 'or')}, not {shown(node)}")
        return glob, ChartSettings()
    entries = dict(values.entries(node, _KEYS))
    sets = tuple(_value_sets(entries["values"], values)) if "values" in entries else None
    assigned = values.texts(entries["set"]) if "set" in entries else []
    for each in assigned:
        if not _ASSIGNMENT.fullmatch(each.text):
            values.wrong(each, f"set must contain values such as image.tag=1.2, not {shown(each)}")
    return glob, ChartSettings(
        sets,
        tuple(each.text for each in assigned),
        _name(entries.get("release"), RELEASE, values, _MAX_RELEASE),
        _name(entries.get("namespace"), NAMESPACE, values, 63),
    )


def _value_sets(node: Node, values: Values) -> Iterator[tuple[str, ...]]:
    """Yield the sets of values: a file, or a list of files of which later ones override earlier ones."""
    if node.value is not None and not node.is_list:
        values.wrong(node, f"values must be a list of files or of lists of files, not {shown(node)}")
        return
    for each in node:
        if each.is_list and not each.value:
            values.wrong(each, "a set of values must name a file; use values.yaml for the values of the chart alone")
            continue
        files = values.texts(each)
        for file in files:
            if file.text.startswith(("/", "\\")) or "://" in file.text:
                values.wrong(file, f"{shown(file)} is not a path relative to the chart")
        if files:
            yield tuple(file.text for file in files)


def _name(node: Node | None, default: str, values: Values, most: int) -> str:
    if node is None:
        return default
    if dns_label(node.text) or len(node.text) > most:
        values.wrong(node, f"{node.name} must be a name of at most {most} lowercase letters, digits and hyphens, not {shown(node)}")
        return default
    return node.text

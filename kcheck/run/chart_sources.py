"""Finds the template files that `helm template` names in its output.

Helm writes `# Source: CHART/templates/FILE` before each object. CHART is the name of the chart, not of its folder, and another chart may
have this name: therefore the object must match the text of the template, and its label `helm.sh/chart` the version of the chart.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache

from kcheck.discovery.discover import SKIPPED_FOLDERS, STDIN, Discovery, UnreadablePath
from kcheck.discovery.load import load_file
from kcheck.finding.rendered import Rendered
from kcheck.helm.comparison import may_print
from kcheck.helm.template import Template
from kcheck.text.pattern import pattern

_MAX_FOLDERS = 5000
_MAX_DEPTH = 4
_HEAD_BYTES = 64 * 1024
_TEMPLATE_BYTES = 3 * 1024 * 1024

_MARK = pattern(r"^(?:---(?=\s|$)|# Source: ([^\r\n]+?)[ \t]*\r?$)", re.MULTILINE)
_NAME = pattern(rb"""^name[ \t]*:[ \t]*["']?([^\s"'#]+)""", re.MULTILINE)
_VERSION = pattern(rb"""^version[ \t]*:[ \t]*["']?([^\s"'#]+)""", re.MULTILINE)
_LABEL = pattern(r"""^[ \t]+helm\.sh/chart:[ \t]*["']?([^\s"']+)""", re.MULTILINE)


def rendered_input(found: Discovery) -> dict[str, Rendered]:
    """Returns the templates of standard input, by name, unless the user gave it the path of a file."""
    targets = [target for target in found.targets if target.stdin and target.path == STDIN and target.data is not None]
    sources = [load_file(target) for target in targets]
    return {source.path: rendered_text(source.text) for source in sources if not isinstance(source, UnreadablePath)}


def rendered_text(text: str) -> Rendered:
    """Returns the template files in the current folder that the objects of a rendered text come from, by line."""
    charts, template_at = cache(_charts), cache(_read_template)
    starts: list[tuple[int, str]] = []
    line, at = 1, 0
    marks = list(_MARK.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=False):
        line += text.count("\n", at, mark.start())
        at = mark.start()
        file = _template_file(mark[1], charts()) if mark[1] else ""
        is_source = file and may_print(template_at(file), document := text[mark.end() : end]) and _has_version(document, file)
        starts.append((line, file if is_source else ""))
    return Rendered(starts)


def _read_template(path: str) -> Template:
    try:
        with open(path, "rb") as file:
            return Template(file.read(_TEMPLATE_BYTES).decode("utf-8", "replace"))
    except OSError:
        return Template("")


def _has_version(document: str, file: str) -> bool:
    """Returns whether an object was rendered from the version of the chart that a template belongs to, as far as its labels say."""
    label = _LABEL.search(document)
    if label is None:
        return True
    head = _head(file[: max(file.rfind("templates/"), 0)] + "Chart.yaml")
    name, version = (match[1].decode("utf-8", "replace") if (match := each.search(head)) else "" for each in (_NAME, _VERSION))
    shown, _, rest = label[1].partition(f"{name}-")
    return bool(shown or not rest[:1].isdigit()) or label[1] == f"{name}-{version}".replace("+", "_")[:63].rstrip("-.")


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""


def _template_file(source: str, charts: dict[str, list[str]]) -> str:
    """Returns the path of a template, "" unless there is exactly one such file."""
    chart, _, rest = source.partition("/")
    parts = rest.split("/")
    # The text may be untrusted, so it cannot name files elsewhere.
    if not rest or not {"", ".", ".."}.isdisjoint(parts) or "\\" in rest or "\0" in rest:
        return ""
    found = [path for folder in charts.get(chart, ()) if os.path.isfile(path := f"{folder}/{rest}" if folder else rest)]
    return found[0] if len(found) == 1 else ""


def _charts() -> dict[str, list[str]]:
    """Returns the folders of the charts in the current folder, by name. Charts in the folder `charts` of another one belong to it."""
    charts: dict[str, list[str]] = {}
    for folder in _chart_folders():
        name = _NAME.search(_head(os.path.join(folder, "Chart.yaml")))
        if name is not None:
            charts.setdefault(name[1].decode("utf-8", "replace"), []).append(folder)
    return charts


def _chart_folders() -> Iterator[str]:
    folders = [("", 0)]
    for _ in range(_MAX_FOLDERS):
        if not folders:
            return
        folder, depth = folders.pop()
        try:
            with os.scandir(folder or ".") as listing:
                entries = list(listing)
        except OSError:
            continue
        is_chart = any(entry.name == "Chart.yaml" for entry in entries)
        if is_chart:
            yield folder
        if depth == _MAX_DEPTH:
            continue
        for entry in entries:
            inner = entry.name in SKIPPED_FOLDERS or (is_chart and entry.name in ("charts", "templates"))
            if not inner and not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                folders.append((f"{folder}/{entry.name}" if folder else entry.name, depth + 1))

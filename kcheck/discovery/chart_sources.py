"""Finds the template files that `helm template` names in its output.

Helm writes `# Source: CHART/templates/FILE` before each object. CHART is the name of the chart, not of its folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache

from kcheck.discovery.discover import SKIPPED_FOLDERS, STDIN, Discovery, UnreadablePath
from kcheck.discovery.load import load_file
from kcheck.finding.rendered import Rendered
from kcheck.text.pattern import pattern

_MAX_FOLDERS = 5000
_MAX_DEPTH = 4
_HEAD_BYTES = 64 * 1024

_MARK = pattern(r"^(?:---(?=\s|$)|# Source: ([^\r\n]+?)[ \t]*\r?$)", re.MULTILINE)
_NAME = pattern(rb"""^name[ \t]*:[ \t]*["']?([^\s"'#]+)""", re.MULTILINE)


def rendered_input(found: Discovery) -> dict[str, Rendered]:
    """Returns the templates of standard input, by name, unless the user gave it the path of a file."""
    targets = [target for target in found.targets if target.stdin and target.path == STDIN and target.data is not None]
    sources = [load_file(target) for target in targets]
    return {source.path: rendered_text(source.text) for source in sources if not isinstance(source, UnreadablePath)}


def rendered_text(text: str) -> Rendered:
    """Returns the template files that exist in the current folder, by line of a rendered text."""
    charts = cache(_charts)
    starts: list[tuple[int, str]] = []
    line, at = 1, 0
    for mark in _MARK.finditer(text):
        line += text.count("\n", at, mark.start())
        at = mark.start()
        starts.append((line, _template_file(mark[1], charts()) if mark[1] else ""))
    return Rendered(starts)


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
        try:
            with open(os.path.join(folder, "Chart.yaml"), "rb") as file:
                name = _NAME.search(file.read(_HEAD_BYTES))
        except OSError:
            continue
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

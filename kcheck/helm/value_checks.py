"""Mistakes in the values and templates of a chart that are seen without rendering it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal

from kcheck.helm.chart import SCHEMA_FILE, VALUES_FILE, Chart
from kcheck.helm.template import calls
from kcheck.helm.values import chain_spans, chains, path_text
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.text.span import Span
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

MistakeKind = Literal["unused", "misspelled", "undeclared", "undefined-template"]
Nearest = Any
"""A function that returns the name among others that is the most like a name, "" or None if none is."""

_MAX_TEXT = 1_000_000
# Values that helpers of `helm create` read in almost every chart.
_CONVENTIONAL = frozenset({"nameOverride", "fullnameOverride", "namespaceOverride"})
# All values are processed, so their keys may be any.
_LISTS = pattern(r"\b(?:range(?:\s+\$\w+(?:,\s*\$\w+)?\s*:=)?|keys|values|toYaml|toJson)\s+\$?\.Values(?![\w.])")
_FAILS = pattern(r"\s*fail\b")
_CALLS_TEMPLATE = pattern(r"\b(?:include|template)\b")


class ChartMistake(NamedTuple):
    """A mistake in a chart.

    Attributes:
        kind: what it is.
        path: path of the file, as shown.
        source: the text of the file.
        span: the characters that are wrong.
        name: the value or template that is wrong.
        near: what may be meant, "" if that is not known.
    """

    kind: MistakeKind
    path: str
    source: Source
    span: Span
    name: str
    near: str = ""


class ChartChecker:
    """Finds mistakes in a chart.

    Args:
        chart: the chart.
        nearest: see `Nearest`.
    """

    def __init__(self, chart: Chart, nearest: Nearest) -> None:
        self.chart = chart
        self.nearest = nearest
        own = chart.source(VALUES_FILE)
        documents = parse(own)
        self.root = documents[0].root if documents and documents[0].fault is None else Node({}, 0, 0)
        self.text = own.text
        self.schema = self._read_schema()
        self.reads = self._all_reads()
        self.passed = self._passed_keys()
        self.lists_values = any(
            _LISTS.search(action.code) for path in chart.templates for action in chart.template(path).actions if action.keyword != "comment"
        )
        # What a parent sets for all charts, and values of sub-charts, whose own values.yaml has the defaults.
        self.foreign = {("global",), *((each.key,) for each in chart.metadata().dependencies)}
        self.foreign |= {(chart.metadata(prefix).name,) for prefix in chart.subcharts()}

    def mistakes(self, files: Sequence[tuple[str, str]] = ()) -> Iterator[ChartMistake]:
        """Yield the mistakes. `files`: paths, as shown, and contents of further files with values."""
        yield from self._undefined_templates()
        if self.lists_values:
            return
        # A template that passes all values on may read any of them. Keys that are near to known ones are still mistakes.
        passes_values = () in self.reads
        if not passes_values and any(self._renders(path) for path in self.chart.templates):
            yield from self._unused(self.root, ())
        if not passes_values:
            yield from self._undeclared()
        for path, text in files:
            source = Source(path, text)
            documents = parse(source)
            if documents and documents[0].fault is None and documents[0].root.is_map:
                found = self._unknown_keys(source, documents[0].root, self.root, ())
                yield from (each for each in found if each.kind == "misspelled" or not passes_values)

    def _renders(self, path: str) -> bool:
        """Return whether a template of the chart itself is rendered: a chart of helpers only serves others."""
        name = path.rpartition("/")[2]
        return not (path.startswith("charts/") or name.startswith("_") or name == "NOTES.txt")

    def _read_schema(self) -> Any:
        try:
            return json.loads(self.chart.files.get(SCHEMA_FILE, b"{}"))
        except ValueError:
            return {}

    def _all_reads(self) -> set[tuple[str, ...]]:
        """Return the paths of all values that something in the chart may read."""
        found: set[tuple[str, ...]] = set()
        for path in self.chart.templates:
            # Helpers of other charts may be called with the values of this one.
            if path.startswith("charts/") and not self.chart.template(path).defines:
                continue
            for action in self.chart.template(path).actions:
                if action.keyword != "comment":
                    found.update(chains(action.code))
        templates = set(self.chart.templates)
        for path, data in self.chart.files.items():
            is_text = path not in templates and not path.startswith("charts/") and len(data) < _MAX_TEXT and b".Values" in data
            # Files and values may be templates as well.
            if is_text and not path.endswith((".md", ".gotmpl")):
                found.update(each for each in chains(self.chart.source(path).text) if each)
        return found

    def _passed_keys(self) -> set[tuple[str, ...]]:
        """Return the paths of values that helm reads itself."""
        metadata = self.chart.metadata()
        # A parent chart enables its sub-charts by this name.
        found: set[tuple[str, ...]] = {("global",), ("tags",), ("enabled",)}
        for each in metadata.dependencies:
            found.add((each.key,))
            found.update(tuple(path.strip().split(".")) for path in each.condition.split(",") if path.strip())
        for prefix in self.chart.subcharts():
            found.add((self.chart.metadata(prefix).name,))
        return found

    def _is_read(self, path: tuple[str, ...]) -> bool:
        """Return whether something reads a value, or a map that contains it."""
        return any(path[:length] in self.reads or path[:length] in self.passed for length in range(1, len(path) + 1))

    def _reads_below(self, path: tuple[str, ...]) -> bool:
        return any(each[: len(path)] == path for each in (*self.reads, *self.passed))

    def _unused(self, node: Node, path: tuple[str, ...]) -> Iterator[ChartMistake]:
        for key, child in node.entries:
            own = (*path, key)
            if self._is_read(own) or self._declares_anchor(child) or key.startswith(("x-", "_")):
                continue
            if not self._reads_below(own):
                shown = self.chart.place_of(VALUES_FILE)[0]
                yield ChartMistake("unused", shown, self.chart.source(VALUES_FILE), _key_span(child), path_text(own))
            elif child.is_map:
                yield from self._unused(child, own)

    def _declares_anchor(self, node: Node) -> bool:
        """Return whether a value has an anchor, so that other values may use it."""
        start = node.key_span.end
        return "&" in self.text[start : self.text.find("\n", start)].partition("#")[0]

    def _undeclared(self) -> Iterator[ChartMistake]:
        seen: set[tuple[str, ...]] = set()
        unused = self._uncalled_helpers()
        for file in self.chart.templates:
            if file.startswith("charts/"):
                continue
            actions = self.chart.template(file).actions
            for number, action in enumerate(actions, 1):
                # A value that makes the chart fail is not supported any more.
                is_refused = number < len(actions) and _FAILS.match(actions[number].code) is not None
                if action.keyword == "comment" or action.define in unused or is_refused:
                    continue
                for path, start, end in chain_spans(action.code):
                    if path in seen or not path:
                        continue
                    missing = self._missing_key(path)
                    if missing is None:
                        continue
                    at, near = missing
                    if path[: at + 1] in seen:
                        continue
                    # One finding for a value, however many of its keys are read.
                    seen |= {path, path[: at + 1]}
                    span = Span(action.code_start + start, action.code_start + end)
                    shown = self.chart.place_of(file)[0]
                    name = path_text(path[: at + 1])
                    wanted = path_text((*path[:at], near)) if near else ""
                    yield ChartMistake("misspelled" if near else "undeclared", shown, self.chart.source(file), span, name, wanted)

    def _uncalled_helpers(self) -> frozenset[str]:
        """Return the helpers of the chart that nothing calls, such as those that `helm create` makes; none if a name is computed."""
        if self.chart.metadata().kind == "library":
            return frozenset()
        called: set[str] = set()
        defined: set[str] = set()
        for file in self.chart.templates:
            template = self.chart.template(file)
            if not file.startswith("charts/"):
                defined.update(template.defines)
            for action in template.actions:
                if action.keyword == "comment":
                    continue
                found = calls(action)
                if len(found) < len(_CALLS_TEMPLATE.findall(action.code)):
                    return frozenset()
                called.update(each.name for each in found if each.name != action.define)
        return frozenset(defined - called)

    def _missing_key(self, path: tuple[str, ...]) -> tuple[int, str] | None:
        """Return the index of the first key of a path that the values lack, and the key that may be meant; None if nothing is wrong."""
        node = self.root
        for at, key in enumerate(path):
            if not node.is_map or not len(node):
                # Its keys are up to the user.
                return None
            if node[key].exists:
                node = node[key]
                continue
            if key in _CONVENTIONAL or path[: at + 1] in self.passed or path[:1] in self.foreign or self._is_mentioned(path, at):
                return None
            siblings = [name for name, _ in node.entries]
            near = self.nearest(key, siblings)
            # A key of a map that is also used as a whole may be set by the user.
            if not near and any(path[:length] in self.reads for length in range(1, at + 1)):
                return None
            return at, near or ""
        return None

    def _is_mentioned(self, path: tuple[str, ...], at: int) -> bool:
        """Return whether a comment in the values or their schema names a key."""
        if pattern(rf"(?m)^\s*#.*\b{_escaped(path[at])}\b").search(self.text):
            return True
        properties: Any = self.schema
        for key in path[: at + 1]:
            properties = properties.get("properties", {}).get(key) if isinstance(properties, dict) else None
            if properties is None:
                return False
        return True

    def _unknown_keys(self, source: Source, node: Node, known: Node, path: tuple[str, ...]) -> Iterator[ChartMistake]:
        for key, child in node.entries:
            own = (*path, key)
            if own in self.passed or path[:1] in self.foreign:
                continue
            if known.is_map and known[key].exists:
                if child.is_map and not self._is_read(own) and len(known[key]):
                    yield from self._unknown_keys(source, child, known[key], own)
                continue
            if self._is_read(own) or self._reads_below(own) or (path and self._is_read(path)) or self._is_mentioned(own, len(own) - 1):
                continue
            siblings = {name for name, _ in known.entries} | {each[len(path)] for each in self.reads if each[: len(path)] == path != each}
            near = self.nearest(key, sorted(siblings - {name for name, _ in node.entries}))
            wanted = path_text((*path, near)) if near else ""
            yield ChartMistake("misspelled" if near else "unused", source.path, source, child.key_span, path_text(own), wanted)

    def _undefined_templates(self) -> Iterator[ChartMistake]:
        """Yield calls of templates that nothing defines."""
        names = {name for file in self.chart.templates for name in self.chart.template(file).defines} | set(self.chart.rendered_names)
        if any(self.chart.template(file).faults for file in self.chart.templates) or not self._has_dependencies():
            return
        for file in self.chart.templates:
            if file.startswith("charts/"):
                continue
            for action in self.chart.template(file).actions:
                for call in calls(action) if _CALLS_TEMPLATE.search(action.code) else ():
                    if call.name and call.name not in names and action.keyword != "block":
                        near = self.nearest(call.name, sorted(names))
                        shown = self.chart.place_of(file)[0]
                        yield ChartMistake(
                            "undefined-template", shown, self.chart.source(file), Span(call.start, call.end), call.name, near or ""
                        )

    def _has_dependencies(self) -> bool:
        present: Collection[str] = {self.chart.metadata(prefix).name for prefix in self.chart.subcharts()}
        return all(each.name in present for each in self.chart.metadata().dependencies)


def _key_span(node: Node) -> Span:
    return node.key_span


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if not char.isalnum() and char != "_" else char for char in text)

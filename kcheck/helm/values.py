"""The values of a chart: which of them templates read, and which one a rendered text comes from."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kcheck.helm.chart import VALUES_FILE, Chart
from kcheck.helm.marking import TemplatePiece
from kcheck.helm.template import Action, Template
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

_CHAIN = pattern(r"(?<![\w\"])(?:\$[\w]*|\)?)((?:\.\w+)*?)\.Values((?:\.\w+)*)")
_PASSED = pattern(r"""(?<=["`]Values["`])\s+\$?\.Values(?![\w.])""")
_INDEX = pattern(r"""\b(?:index|get|dig|pluck|hasKey)\s+\(?[$\w.]*\.Values((?:\.\w+)*)\)?((?:\s+"[^"]*")*)""")
_VARIABLE = pattern(r"\$\w+")
_INCLUDED = pattern(r"""\b(?:include|template)\s+"([^"]+)\"""")
_MAX_CANDIDATES = 12
_MAX_RUNS = 40
_MAX_SINGLE = 6

ValuePath = tuple[str | int, ...]
"""Keys and indexes that lead to a value, from the values of the chart."""


class ValueLeaf(NamedTuple):
    """A value that is not a map or list.

    Attributes:
        path: keys and indexes from the values of the chart.
        source: the file that sets it.
        node: the value in this file.
    """

    path: ValuePath
    source: Source
    node: Node

    @property
    def name(self) -> str:
        """The path as in templates, such as `image.tag`."""
        return path_text(self.path)


class TextQuery(NamedTuple):
    """A part of a rendered text: the name of its template, and its offsets."""

    name: str
    start: int
    end: int


def path_text(path: Iterable[str | int]) -> str:
    """Return a path of values as in templates."""
    return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in path).removeprefix(".")


def chains(code: str) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the values that an action reads. An empty path means all values."""
    for path, _, _ in chain_spans(code):
        yield path


def chain_spans(code: str) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Yield the paths of the values that an action reads, each with its start and end."""
    # A helper that gets the values under their name reads them as others do.
    indexed: list[tuple[int, int]] = [match.span() for match in _PASSED.finditer(code)]
    for match in _INDEX.finditer(code):
        indexed.append(match.span())
        yield (*filter(None, match[1].split(".")), *re.findall(r'"([^"]*)"', match[2])), *match.span()
    for match in _CHAIN.finditer(code):
        if not any(start <= match.start() < end for start, end in indexed):
            yield tuple(filter(None, match[2].split("."))), *match.span()


def reads_values(chart: Chart, piece: TemplatePiece) -> bool:
    """Return whether an action prints values: it names them, or prints "." within `with` or `range` of values."""
    template = chart.template(piece.file)
    code = template.text[piece.start : piece.end]
    return "Values" in code or (
        "." in code and any("Values" in each.code for each in _around(template, piece.start) if each.keyword in ("with", "range"))
    )


class ChartValues:
    """The values that a chart is rendered with, in order of precedence.

    Args:
        chart: the chart.
        files: the files with values, the last of which takes precedence: path, as shown; text; and, if the values are a part of another
            file, its text and the values in it.
    """

    def __init__(self, chart: Chart, files: Sequence[tuple[str, str, Source | None, Node | None]] = ()) -> None:
        self.chart = chart
        self.roots: list[tuple[ValuePath, Source, Node]] = []
        for path, text, source, node in reversed(files):
            own = source or Source(path, text)
            root = node or _root(own)
            if root is not None:
                self.roots.append(((), own, root))
        for prefix, keys in chart.instances:
            shown, archive = chart.place_of(prefix + VALUES_FILE)
            own = Source(shown, chart.source(prefix + VALUES_FILE).text)
            if not (archive and archive != chart.folder) and (root := _root(own)) is not None:
                self.roots.append((keys, own, root))

    def scopes(self, prefix: str) -> list[tuple[str, ...]]:
        """Return the keys that lead to the values of a chart in a folder."""
        return [keys for folder, keys in self.chart.instances if folder == prefix]

    def leaves(self, path: ValuePath) -> Iterator[ValueLeaf]:
        """Yield the values at and below a path; of several files, that of the first one."""
        seen: set[ValuePath] = set()
        blocked: set[ValuePath] = set()
        for start, source, root in self.roots:
            if path[: len(start)] == start:
                node, base = _at(root, path[len(start) :]), path
            elif start[: len(path)] == path:
                node, base = root, start
            else:
                continue
            if node is None:
                continue
            for leaf in _leaves(node, base, source):
                if leaf.path in seen or any(leaf.path[:length] in blocked for length in range(len(leaf.path) + 1)):
                    continue
                seen.add(leaf.path)
                yield leaf
            # A list replaces the list of another file.
            blocked |= set(_lists(node, base))

    def find(self, path: ValuePath) -> tuple[Source, Node] | None:
        """Return the value at a path, also a map or list, and the first file that sets it."""
        for start, source, root in self.roots:
            if path[: len(start)] == start and (node := _at(root, path[len(start) :])) is not None:
                return source, node
        return None

    def effective(self, path: ValuePath) -> Any:
        """Return the value at a path as plain data, None if it is not set."""
        merged: Any = None
        for start, _, root in reversed(self.roots):
            if path[: len(start)] == start and (node := _at(root, path[len(start) :])) is not None:
                merged = _merged(merged, node.plain())
        return merged


def _root(source: Source) -> Node | None:
    documents = parse(source)
    return documents[0].root if documents and documents[0].fault is None and documents[0].root.is_map else None


def _at(node: Node, path: ValuePath) -> Node | None:
    for key in path:
        if isinstance(key, int):
            items = node.value if node.is_list else []
            if key >= len(items):
                return None
            node = items[key]
        else:
            node = node[key]
            if not node.exists:
                return None
    return node


def _leaves(node: Node, path: ValuePath, source: Source) -> Iterator[ValueLeaf]:
    if node.is_map:
        for key, child in node.entries:
            yield from _leaves(child, (*path, key), source)
    elif node.is_list:
        for index, child in enumerate(node.value):
            yield from _leaves(child, (*path, index), source)
    else:
        yield ValueLeaf(path, source, node)


def _lists(node: Node, path: ValuePath) -> Iterator[ValuePath]:
    if node.is_list:
        yield path
    elif node.is_map:
        for key, child in node.entries:
            yield from _lists(child, (*path, key))


def _merged(base: Any, over: Any) -> Any:
    if isinstance(base, dict) and isinstance(over, dict):
        return {**base, **{key: _merged(base.get(key), value) for key, value in over.items()}}
    return over


class ChangedValue(NamedTuple):
    """A value that is changed: the leaf, its text and another text."""

    leaf: ValueLeaf
    old: str
    new: str
    value: object


class ValueTracer:
    """Finds the values that rendered texts come from.

    Args:
        values: the values of the rendering.
        texts: the rendered texts by the names of their templates.
        stack_of: returns the pieces of a template that a character comes from, the innermost first.
    """

    def __init__(self, values: ChartValues, texts: Mapping[str, str], stack_of: Any) -> None:
        self.values = values
        self.chart = values.chart
        self.texts = texts
        self.stack_of = stack_of
        self._reads: dict[tuple[str, int], list[tuple[str, ...]]] = {}

    def candidates(self, query: TextQuery) -> list[ValueLeaf]:
        """Return the values that a part of a text may come from, the most likely first."""
        stack = self.stack_of(query.name, query.start)
        part = self.texts[query.name][query.start : query.end]
        if not stack or not part.strip():
            return []
        scopes = self.values.scopes(_prefix_of(stack[-1].file))
        found: dict[ValuePath, ValueLeaf] = {}
        for piece in stack:
            for path in self.reads(piece):
                for scope in [()] if path[:1] == ("global",) else scopes:
                    for leaf in self.values.leaves((*scope, *path)):
                        text = _text_of(leaf.node)
                        if text and any(line and line in part for line in text.split("\n")) and leaf.path not in found:
                            found[leaf.path] = leaf
            if len(found) >= _MAX_CANDIDATES:
                break
        # Of values that occur in the text, a longer one explains more of it.
        return sorted(found.values(), key=lambda leaf: -len(_text_of(leaf.node)))[:_MAX_CANDIDATES]

    def reads(self, piece: TemplatePiece) -> list[tuple[str, ...]]:
        """Return the paths of the values that may determine what a piece prints, the most specific first."""
        key = piece.file, piece.start
        if key not in self._reads:
            self._reads[key] = list(dict.fromkeys(self._find_reads(piece)))
        return self._reads[key]

    def _find_reads(self, piece: TemplatePiece) -> Iterator[tuple[str, ...]]:
        template = self.chart.template(piece.file)
        action = next((each for each in template.actions if each.start == piece.start), None)
        around = list(_around(template, piece.start))
        codes = [*([action.code] if action is not None else []), *(each.code for each in around)]
        for code in codes:
            yield from chains(code)
        define = action.define if action is not None else around[0].define if around else ""
        names = {name for code in codes for name in _VARIABLE.findall(code)}
        helpers = [name for code in codes for name in _INCLUDED.findall(code)]
        # Variables and helpers that are computed from values.
        for _ in range(3):
            for each in template.actions:
                if each.define == define and (each.keyword == "assignment" or each.keyword in ("range", "with")):
                    assigned = _VARIABLE.findall(each.code.partition("=")[0])
                    if not names.isdisjoint(assigned):
                        yield from chains(each.code)
                        names.update(_VARIABLE.findall(each.code))
                        helpers += _INCLUDED.findall(each.code)
        yield from self._reads_of_helpers(helpers)

    def _reads_of_helpers(self, names: Iterable[str]) -> Iterator[tuple[str, ...]]:
        seen: set[str] = set()
        todo = list(names)
        while todo:
            name = todo.pop(0)
            if name in seen:
                continue
            seen.add(name)
            for path in self.chart.templates:
                template = self.chart.template(path)
                if name not in template.defines:
                    continue
                for action in template.actions:
                    if action.define == name and action.keyword != "comment":
                        yield from chains(action.code)
                        todo += _INCLUDED.findall(action.code)

    def proven(self, queries: Sequence[TextQuery], render: Any, run: Any = map) -> dict[TextQuery, list[ValueLeaf]]:
        """Return the values that parts of texts come from, proven by renderings in which they are changed.

        Args:
            queries: the parts.
            render: returns the texts for additional values, as JSON; None if helm fails.
            run: calls a function for each item of a list, as `map` does, but maybe in parallel.
        """
        asked = {query: self.candidates(query) for query in queries}
        leaves = {leaf.path: leaf for found in asked.values() for leaf in found}
        changes = {path: change for number, (path, leaf) in enumerate(leaves.items()) if (change := changed_leaf(leaf, number)) is not None}
        together = [change for change in changes.values() if not isinstance(change.value, bool)]
        alone = [change for change in changes.values() if isinstance(change.value, bool)]
        result: dict[TextQuery, list[ValueLeaf]] = defaultdict(list)
        groups = [each for each in (together, *([change] for change in alone)) if each]
        runs = 0
        while groups and runs < _MAX_RUNS:
            groups = groups[: _MAX_RUNS - runs]
            runs += len(groups)
            parts: list[list[ChangedValue]] = []
            for group, output in zip(groups, run(render, [self.override(each) for each in groups]), strict=True):
                whole = output is not None and self._compare(asked, group, output, result)
                if not whole and len(group) > 1:
                    # They cannot be changed together: the chart verifies a value, for example.
                    size = len(group) // 2 if len(group) > _MAX_SINGLE else 1
                    parts += (group[start : start + size] for start in range(0, len(group), size))
            groups = parts
        return result

    def override(self, changes: Iterable[ChangedValue]) -> str:
        """Return values, as JSON, that replace some of the values of the rendering."""
        result: dict[str, Any] = {}
        for leaf, _, _, value in changes:
            self._put(result, leaf.path, value)
        return json.dumps(result)

    def _put(self, result: dict[str, Any], path: ValuePath, value: object) -> None:
        target: Any = result
        for at, key in enumerate(path[:-1]):
            following = path[at + 1]
            if isinstance(key, str) and key not in target:
                # A list is replaced as a whole.
                target[key] = self.values.effective(path[: at + 1]) if isinstance(following, int) else {}
            target = target[key]
        target[path[-1]] = value

    def _compare(
        self,
        asked: Mapping[TextQuery, Sequence[ValueLeaf]],
        changes: Sequence[ChangedValue],
        output: Mapping[str, str],
        result: dict[TextQuery, list[ValueLeaf]],
    ) -> bool:
        """Add the values whose change is seen. Returns whether the texts of all queries can be compared line by line."""
        by_path = {change.leaf.path: change for change in changes}
        lines: dict[str, tuple[list[str], list[str]]] = {}
        whole = True
        for query, found in asked.items():
            relevant = [by_path[leaf.path] for leaf in found if leaf.path in by_path]
            if not relevant:
                continue
            if query.name not in lines:
                lines[query.name] = self.texts[query.name].split("\n"), output.get(query.name, "").split("\n")
            before, after = lines[query.name]
            if len(before) != len(after):
                whole = False
                continue
            text = self.texts[query.name]
            number = text.count("\n", 0, query.start)
            column = query.start - (text.rfind("\n", 0, query.start) + 1)
            old, new = before[number], after[number]
            for change in relevant:
                if change.leaf in result.get(query, ()):
                    continue
                if _is_replaced(old, new, change, column, column + query.end - query.start):
                    result[query].append(change.leaf)
        return whole


def _is_replaced(old: str, new: str, change: ChangedValue, start: int, end: int) -> bool:
    """Return whether a line has the changed value where it had the value, within some columns of the old line."""
    for one, other in zip(change.old.split("\n"), change.new.split("\n"), strict=False):
        if not one or one == other:
            continue
        at = old.find(one, max(start - len(one) + 1, 0))
        while 0 <= at < end:
            if new.count(other) > old.count(other) and new != old:
                return True
            at = old.find(one, at + 1)
    return False


def _prefix_of(path: str) -> str:
    return path.partition("templates/")[0]


def _around(template: Template, offset: int) -> Iterator[Action]:
    """Yield the actions that contain an offset, such as `with` and `range`, the innermost first."""
    opened: list[Action] = []
    for action in template.actions:
        if action.start >= offset:
            break
        if action.keyword in ("if", "range", "with", "define", "block"):
            opened.append(action)
        elif action.keyword == "else" and opened and action.code.split()[1:]:
            opened.append(action._replace(keyword="else if"))
        elif action.keyword == "end":
            while opened and opened[-1].keyword == "else if":
                opened.pop()
            if opened:
                opened.pop()
    yield from reversed(opened)


def _text_of(node: Node) -> str:
    value = node.value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else ""


_CHANGEABLE = pattern(r"[A-Za-z0-9](?=[^A-Za-z0-9]*\Z)")


def changed_leaf(leaf: ValueLeaf, number: int) -> ChangedValue | None:
    """Return another value of the same kind. `number`: different changes of equal values differ."""
    value, old = leaf.node.value, _text_of(leaf.node)
    if isinstance(value, bool):
        return ChangedValue(leaf, old, "false" if value else "true", not value)
    if isinstance(value, int):
        other = value + number + 1 if value < 60_000 else value - number - 1
        return ChangedValue(leaf, old, str(other), other)
    if isinstance(value, float):
        changed = round(value + 0.1 * (number % 9 + 1), 3)
        return ChangedValue(leaf, old, str(changed), changed)
    if not isinstance(value, str) or "{{" in value:
        return None
    match = _CHANGEABLE.search(value)
    if match is None:
        return None
    alphabet = "0123456789" if match[0].isdigit() else "abcdefghijklmnopqrstuvwxyz"
    index = alphabet.find(match[0].lower())
    letter = alphabet[(index + 1 + number % (len(alphabet) - 1)) % len(alphabet)]
    # In a text of several lines, each line changes.
    new = "\n".join(_replace_last(line, letter) for line in value.split("\n"))
    return ChangedValue(leaf, old, new, new)


def _replace_last(line: str, letter: str) -> str:
    match = _CHANGEABLE.search(line)
    if match is None:
        return line
    other = letter if letter.isdigit() == match[0].isdigit() else "7" if match[0].isdigit() else "q"
    return line[: match.start()] + other + line[match.end() :]

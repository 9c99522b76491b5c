"""Insertion of ignore comments into YAML files, without changing any value."""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from kcheck.check.suppressions import DIRECTIVE, UNKNOWN, UNUSED, read_ignores
from kcheck.finding.finding import Finding
from kcheck.rule.registry import Registry
from kcheck.text.edit import Edit, apply_edits
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

_CONTENT = pattern(r"[^\r\n]*")
_INDENT = pattern(r"[ \t]*")


class Commented(NamedTuple):
    """A text with ignore comments.

    Attributes:
        text: The new text.
        covered: The findings that a comment covers.
        uncovered: The findings that no comment can cover.
    """

    text: str
    covered: list[Finding]
    uncovered: list[Finding]


class _Place(NamedTuple):
    """Where to insert a comment: at the end of the line that begins at `line`, or with `own_line` before it."""

    line: int
    own_line: bool


def add_comments(source: Source, findings: Iterable[Finding], reason: str, registry: Registry) -> Commented:
    """Adds ignore comments for the findings of a file. The values of the file stay the same, which is checked.

    A comment is added at the end of the line of the finding. If that is not possible, because the line is part of a text, it is added on a
    separate line before the entry that contains the finding. JSON has no comments.
    """
    wanted = list(findings)
    # They are about comments, so they are removed by editing those.
    skipped = [each for each in wanted if each.rule in (UNUSED, UNKNOWN)]
    if source.path.lower().endswith(".json") or source.text.lstrip().startswith(("{", "[")):
        return Commented(source.text, [], wanted)
    text, covered, uncovered = _Commenter(source, reason, registry).add_all([each for each in wanted if each.rule not in (UNUSED, UNKNOWN)])
    return Commented(text, covered, uncovered + skipped)


class _Commenter:
    def __init__(self, source: Source, reason: str, registry: Registry) -> None:
        self.source = source
        self.reason = f" {reason}" if reason else ""
        self.registry = registry
        self.documents = parse(source)
        self.values = _values(self.documents)
        self.edits: list[Edit] = []
        self.text = source.text

    def add_all(self, findings: Sequence[Finding]) -> Commented:
        left = list(findings)
        covered: list[Finding] = []
        for places in (self.line_end, self.own_line):
            by_place: defaultdict[_Place, list[Finding]] = defaultdict(list)
            for finding in left:
                if (place := places(finding)) is not None:
                    by_place[place].append(finding)
            done = {id(finding) for finding in self.add(list(by_place.items()))}
            covered += [finding for finding in left if id(finding) in done]
            left = [finding for finding in left if id(finding) not in done]
        return Commented(self.text, covered, left)

    def line_end(self, finding: Finding) -> _Place:
        return self.place(finding.place.start, False)

    def own_line(self, finding: Finding) -> _Place | None:
        """Returns the place before the smallest block entry that contains a finding."""
        start = finding.place.start
        document = next((each for each in self.documents if each.start <= start < max(each.end, each.start + 1)), None)
        entry = _block_entry(document.root, start) if document is not None else None
        return None if entry is None else self.place(_start(entry), True)

    def place(self, offset: int, own_line: bool) -> _Place:
        return _Place(self.source.line_starts[self.source.position(offset).line - 1], own_line)

    def add(self, wanted: Sequence[tuple[_Place, list[Finding]]]) -> list[Finding]:
        """Adds the comments that are possible: all at once, or else in halves. Returns the findings that they cover."""
        if not wanted:
            return []
        edits = sorted(self.edits + [self.edit(place, findings) for place, findings in wanted])
        text = apply_edits(self.source.text, edits)
        findings = [finding for _, found in wanted for finding in found]
        if self.is_safe(text, edits, findings):
            self.edits, self.text = edits, text
            return findings
        if len(wanted) == 1:
            return []
        half = len(wanted) // 2
        return self.add(wanted[:half]) + self.add(wanted[half:])

    def edit(self, place: _Place, findings: Sequence[Finding]) -> Edit:
        text, line = self.source.text, place.line
        rules = ", ".join(sorted({finding.rule for finding in findings}))
        if place.own_line:
            indent = _INDENT.match(text, line)
            ending = "\r\n" if "\r\n" in text else "\n"
            return Edit(line, line, f"{indent[0] if indent else ''}# kcheck: ignore[{rules}]{self.reason}{ending}")
        content = _CONTENT.match(text, line)
        assert content is not None
        existing = DIRECTIVE.search(content[0])
        if existing is not None:
            at = line + existing.end("names")
            return Edit(at, at, f", {rules}")
        end = line + len(content[0].rstrip())
        return Edit(end, end, f"  # kcheck: ignore[{rules}]{self.reason}")

    def is_safe(self, text: str, edits: Sequence[Edit], findings: Iterable[Finding]) -> bool:
        """Whether a text has the same values as the original one, and its comments cover the findings."""
        source = Source(self.source.path, text)
        documents = parse(source)
        if _values(documents) != self.values:
            return False
        ignores = read_ignores(source, documents, self.registry)
        offsets = _Offsets(edits)
        return all(ignores.covers(each._replace(place=each.place._replace(start=offsets.after(each.place.start)))) for each in findings)


def _values(documents: Iterable[Document]) -> list[Any]:
    """Returns everything about documents that a comment must not change."""
    return [(repr(each.root.plain()), each.fault is not None, len(each.duplicates)) for each in documents]


class _Offsets:
    """Converts offsets before insertions to those after them. A comment on its own line moves the line that it precedes."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self._starts = [edit.start - edit.text.endswith("\n") for edit in edits]
        self._lengths = [0, *accumulate(len(edit.text) for edit in edits)]

    def after(self, offset: int) -> int:
        return offset + self._lengths[bisect(self._starts, offset - 1)]


def _block_entry(node: Node, offset: int) -> Node | None:
    """Returns the smallest entry of a block collection that contains an offset, except the root."""
    found = None
    while node.style == "" and (node.is_map or node.is_list):
        inner = next((each for each in node if _start(each) <= offset < max(each.end, _start(each) + 1)), None)
        if inner is None:
            break
        found = node = inner
    return found


def _start(node: Node) -> int:
    return node.key.start if isinstance(node.key, Node) else node.start

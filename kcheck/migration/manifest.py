"""Rewriting of manifests: ignore annotations of other tools become annotations of kcheck, and exemptions of a Polaris config are added to
the objects that they match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kcheck.check.suppressions import ANNOTATION, covered_span
from kcheck.kube.resource import resources
from kcheck.migration import editing
from kcheck.migration.draft import RESTRICTED_FAMILY
from kcheck.migration.equivalents import Counterparts
from kcheck.migration.note import Note, note_at
from kcheck.migration.polaris import Exemption
from kcheck.migration.suppressions import AskedSuppression, asked_by
from kcheck.text.edit import Edit, apply_edits
from kcheck.text.source import Source
from kcheck.text.span import Span
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")

Found = Callable[[str, Span], frozenset[str]]
"""Returns the rules that have findings in a span of a file, including rules that are off."""


@dataclass(slots=True)
class _AnnotationPlace:
    """The metadata of an object or template, and the annotation to write there.

    Attributes:
        metadata: The node of the metadata.
        spans: What the annotation applies to. With aliases, the same metadata can belong to several objects.
        names: The rules to ignore.
        reasons: The reasons to write.
        settled: Annotations of other tools that are replaced.
    """

    metadata: Node
    spans: list[Span]
    names: dict[str, None] = field(default_factory=dict)
    reasons: dict[str, None] = field(default_factory=dict)
    settled: list[Node] = field(default_factory=list)


class Manifest:
    """A manifest to migrate. `used`: the exemptions that match an object in it."""

    def __init__(self, source: Source, documents: list[Document], counterparts: Counterparts, found: Found, keep: bool = False) -> None:
        self.source = source
        self.documents = documents
        self.counterparts = counterparts
        self.found = found
        self.keep = keep
        self.notes: list[Note] = []
        self.used: set[Exemption] = set()
        self._places: dict[int, _AnnotationPlace] = {}
        self._containers: dict[int, tuple[Node, dict[str, None]]] = {}

    def rewritten(self, exemptions: Sequence[Exemption] = ()) -> str:
        """Returns the new text, or the old one if nothing changes. Adds what could not be migrated to `notes`."""
        old = self.source.text
        try:
            new = apply_edits(old, self._edits(exemptions))
        except ValueError:  # overlapping edits
            new = ""
        # An anchor in an annotation may be used elsewhere. This check guarantees that only annotations change.
        if new != old and [_unannotated(d.root) for d in parse(Source(self.source.path, new))] != [
            _unannotated(d.root) for d in self.documents
        ]:
            self.notes.append(Note(self.source.path, 0, "annotations share anchors with other fields; change this file by hand"))
            return old
        return new

    def _edits(self, exemptions: Sequence[Exemption]) -> list[Edit]:
        for document in self.documents:
            if document.fault is not None:
                self.notes.append(Note(self.source.path, self._line(document.fault.start), "invalid YAML, so this document is not changed"))
                continue
            self._annotations(document)
            self._exemptions(document, exemptions)
        return sorted(set(self._all_edits()))

    def _annotations(self, document: Document) -> None:
        """Collects the annotations of objects and templates."""
        stack = [document.root]
        while stack:
            node = stack.pop()
            stack += reversed(list(node))
            for key, value in node.at("metadata", "annotations").entries:
                if (asked := asked_by(key, value.value)) is None:
                    continue
                if not editing.own(node.at("metadata", "annotations"), value):
                    self._note(value, f"{key}: defined by an alias; change it by hand")
                elif asked.idle:
                    self._note(value, f"{key}: not changed, as it has no effect in {asked.tool}: {asked.idle}")
                elif asked.enables:
                    self._enable(key, value, asked)
                else:
                    self._ignore(value, asked, self._place(node, document))

    def _place(self, owner: Node, document: Document) -> _AnnotationPlace:
        metadata = owner["metadata"]
        place = self._places.setdefault((metadata["annotations"] or metadata).start, _AnnotationPlace(metadata, []))
        span = covered_span(owner, document)
        if span not in place.spans:
            place.spans.append(span)
        return place

    def _ignore(self, value: Node, asked: AskedSuppression, place: _AnnotationPlace) -> None:
        """Migrates an ignore annotation. Checks without an equivalent are reported. An annotation with only such checks is kept."""
        missing = [check for check in asked.checks or () if not self.counterparts.rules(asked.tool, check)]
        for check in missing:
            self._note(value, f"{asked.tool} {check}: kcheck has no such rule, so there is nothing to ignore")
        if asked.checks and len(missing) == len(asked.checks):
            return
        names = self._names(asked, place.spans, guess=True)
        if not names:
            checks = ", ".join(asked.checks or ("all checks",))
            self._note(value, f"{asked.tool} {checks}: kcheck has no such finding here, so there is nothing to ignore")
        place.names.update(dict.fromkeys(names))
        if names:
            place.reasons[asked.reason or f"as in {asked.tool}"] = None
        if value not in place.settled:
            place.settled.append(value)

    def _names(self, asked: AskedSuppression, spans: Sequence[Span], guess: bool) -> list[str]:
        """Returns the rules to ignore: only those with findings, as an unused ignore is a finding itself.

        `guess`: whether to include all rules about several objects, as these may be in other files.
        """
        finding = frozenset().union(*(self.found(self.source.path, span) for span in spans))
        if asked.checks is None:
            return [RESTRICTED_FAMILY] if any(self.counterparts.rule(id).family == RESTRICTED_FAMILY for id in finding) else []
        rules = sorted(self.counterparts.of_all(asked.tool, asked.checks))
        return [id for id in rules if id in finding or (guess and self.counterparts.rule(id).scope == "bundle")]

    def _enable(self, key: str, value: Node, asked: AskedSuppression) -> None:
        for check in asked.checks or ():
            rules = self.counterparts.rules(asked.tool, check)
            switches = ", ".join(f"{id}: on" for id in rules if not self.counterparts.rule(id).default)
            if switches:
                self._note(
                    value,
                    f"{key} {check}: rules are not enabled by object in kcheck; add {{{switches}}} to rules or overrides in .kcheck.yaml",
                )
            else:
                self._note(value, f"{key} {check}: {'the rule is on by default' if rules else 'kcheck has no such rule'}")

    def _exemptions(self, document: Document, exemptions: Sequence[Exemption]) -> None:
        for resource in resources(document):
            for exemption in exemptions:
                if exemption.namespace not in ("", resource.namespace) or not _has_prefix(resource.name, exemption.controllers):
                    continue
                asked = AskedSuppression("polaris", exemption.checks or None)
                if exemption.containers:
                    self._exempt_containers(resource.node, exemption, asked)
                    continue
                self.used.add(exemption)
                names = self._names(asked, [covered_span(resource.node, document)], guess=False)
                if names:
                    place = self._place(resource.node, document)
                    place.names.update(dict.fromkeys(names))
                    place.reasons["exempt in polaris"] = None

    def _exempt_containers(self, node: Node, exemption: Exemption, asked: AskedSuppression) -> None:
        for item in _containers(node):
            if _has_prefix(item["name"].text, exemption.containers):
                self.used.add(exemption)
                names = self._names(asked, [item.span], guess=False)
                if names:
                    self._containers.setdefault(item.start, (item, {}))[1].update(dict.fromkeys(names))

    def _all_edits(self) -> Iterator[Edit]:
        for place in self._places.values():
            try:
                # All edits or none: a part of them could lose an annotation.
                yield from list(self._place_edits(place))
            except editing.ByHand as error:
                self._note(place.metadata["annotations"], f"add {ANNOTATION}: {_value(place)!r} by hand: {error}")
        for item, names in self._containers.values():
            comment = f"# kcheck: ignore[{', '.join(names)}] exempt in polaris"
            try:
                yield editing.comment_above(self.source.text, item, comment)
            except editing.ByHand as error:
                self._note(item, f"add {comment} above this container by hand: {error}")

    def _place_edits(self, place: _AnnotationPlace) -> Iterator[Edit]:
        """Yields the edits that replace the annotations of other tools by the annotation of kcheck."""
        text, parent = self.source.text, place.metadata["annotations"]
        ours = parent[ANNOTATION]
        going = [] if self.keep else list(place.settled)
        if place.names and ours.text:
            yield editing.new_value(text, ours, _merged(ours.text, place))
        elif place.names and going:
            yield editing.exchange(text, parent, going.pop(0), ANNOTATION, _value(place))
        elif place.names:
            yield self._new(place)
        if going and len(going) == len(parent):
            if len(place.metadata) == 1:
                raise editing.ByHand("the metadata would be empty")
            yield from editing.remove(text, place.metadata, [parent])
        else:
            yield from editing.remove(text, parent, going)

    def _new(self, place: _AnnotationPlace) -> Edit:
        """Returns the edit that adds the annotation of kcheck where no annotation can be replaced."""
        text, parent = self.source.text, place.metadata["annotations"]
        if parent.is_map and len(parent):
            first = next(iter(parent))
            if not editing.own(parent, first):
                raise editing.ByHand("the annotations are an alias")
            return editing.insert_before(text, parent, first, editing.entry_text(parent, ANNOTATION, _value(place)))
        if parent.exists or not len(place.metadata):
            raise editing.ByHand("a map for it is missing")
        first = next(iter(place.metadata))
        if not editing.own(place.metadata, first):
            raise editing.ByHand("the metadata is an alias")
        entry = editing.entry_text(place.metadata, ANNOTATION, _value(place))
        written = f'"annotations": {{{entry}}}' if place.metadata.style == "{" else f"annotations:\n  {entry}"
        return editing.insert_before(text, place.metadata, first, written)

    def _note(self, node: Node, message: str) -> None:
        self.notes.append(note_at(self.source, node, message))

    def _line(self, offset: int) -> int:
        return self.source.position(offset).line


def _value(place: _AnnotationPlace) -> str:
    return f"{', '.join(place.names)}; {'; '.join(place.reasons)}"


def _merged(ours: str, place: _AnnotationPlace) -> str:
    """Returns the value of an existing annotation of kcheck with rules and reasons added."""
    names, _, reason = ours.partition(";")
    all_names = dict.fromkeys([*filter(None, (name.strip() for name in names.split(","))), *place.names])
    return f"{', '.join(all_names)}; {'; '.join(dict.fromkeys([*filter(None, [reason.strip()]), *place.reasons]))}"


def _unannotated(node: Node) -> Any:
    """Returns the value of a node without any `annotations`."""
    if node.is_map:
        return {key: _unannotated(child) for key, child in node.entries if key != "annotations"}
    return [_unannotated(child) for child in node] if node.is_list else node.value


def _has_prefix(name: str, beginnings: Sequence[str]) -> bool:
    return not beginnings or any(name.startswith(beginning) for beginning in beginnings)


def _containers(node: Node) -> Iterator[Node]:
    """Yields the containers in a node, at any depth."""
    stack = [node]
    while stack:
        each = stack.pop()
        stack += list(each)
        for key in _CONTAINERS:
            yield from (item for item in each[key] if each[key].is_list and item["name"].text)

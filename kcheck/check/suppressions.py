"""Ignores: comments and annotations that say which findings are accepted where, and what is wrong with them themselves.

image: nginx:latest  # kcheck: ignore[latest-tag] pinned by the release pipeline
annotations: {kcheck.dev/ignore: "latest-tag; pinned by the release pipeline"}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kcheck.finding.finding import Finding
from kcheck.kube.location import Location
from kcheck.kube.resource import resources
from kcheck.kube.suggestions import nearest
from kcheck.redaction import redact
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import ALWAYS, RuleSet
from kcheck.schema.locator import Locator, ObjectIndex
from kcheck.text.complaint import Complaint, help_of
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.text.span import Span
from kcheck.yaml.comments import Comment, comments
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node

ANNOTATION = "kcheck.dev/ignore"
UNUSED = "unused-ignore"
UNKNOWN = "unknown-ignore"

_FORM = "# kcheck: ignore[rule] reason"

_BLOCK, _WIDE = 2048, 64 * 2048
"""Characters that share a list of ignores, and those beyond which one is looked at for each finding: a shard may claim any number."""

# What is looked at: text that names the program, or a misspelling of it before the one word that it knows.
_CANDIDATE = pattern(r"#[ \t]*+(?:kcheck\b|[\w-]++[ \t]*+:?+[ \t]*+ignore[ \t]*+\[)", re.IGNORECASE)
_DIRECTIVE = pattern(r"#[ \t]*+kcheck[ \t]*+:[ \t]*+ignore[ \t]*+\[(?P<names>[^\]\r\n]*+)\]")
_NAMED = pattern(r"#[ \t]*+kcheck[ \t]*+:[ \t]*+(?P<word>[\w-]*+)(?P<bracket>[ \t]*+\[[^\]\r\n]*+\]?+)?+", re.IGNORECASE)
_NO_COLON = pattern(r"#[ \t]*+kcheck[ \t./_-]*+(?P<word>[a-z]++)[ \t]*+[\[(:=]", re.IGNORECASE)
_OTHER_NAME = pattern(r"#[ \t]*+(?P<tool>[\w-]++)[ \t]*+:?+[ \t]*+ignore[ \t]*+\[", re.IGNORECASE)


@dataclass(slots=True)
class Ignore:
    """One name in a comment or annotation.

    `rules`: the ids that it stands for; `needs`: those that must run before anybody can say that it is of no use; `spans`: the
    characters that it covers; `place`: where the name stands.
    """

    name: str
    rules: frozenset[str]
    needs: frozenset[str]
    spans: tuple[Span, ...]
    place: Location
    used: bool = False

    def covers(self, finding: Finding) -> bool:
        start = finding.place.start
        return finding.rule in self.rules and any(s.start <= start < max(s.end, s.start + 1) for s in self.spans)


class BadDirective(NamedTuple):
    """Something that looks like an ignore and is none."""

    place: Location
    message: str


@dataclass(slots=True)
class Ignores:
    """The ignores of one file; small, so that they can go from one process to another."""

    entries: list[Ignore] = field(default_factory=list)
    misuses: list[BadDirective] = field(default_factory=list)
    _blocks: dict[int, list[Ignore]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __bool__(self) -> bool:
        return bool(self.entries or self.misuses)

    def covers(self, finding: Finding) -> bool:
        """Whether a finding of this file is accepted; all ignores that say so have been of use then."""
        if finding.rule in ALWAYS:
            return False
        covering = [i for i in self._near(finding.place.start) if i.covers(finding)]
        for ignore in covering:
            ignore.used = True
        return bool(covering)

    def _near(self, offset: int) -> Iterable[Ignore]:
        """The ignores that may cover a character: a file of many objects may have thousands."""
        if not self._blocks:
            for ignore in self.entries:
                spans = () if any(s.end - s.start > _WIDE for s in ignore.spans) else ignore.spans
                for block in {n for s in spans for n in range(s.start // _BLOCK, max(s.end, s.start + 1) // _BLOCK + 1)} or {-1}:
                    self._blocks.setdefault(block, []).append(ignore)
        return (*self._blocks.get(-1, ()), *self._blocks.get(offset // _BLOCK, ()))


class Partition(NamedTuple):
    kept: list[Finding]
    suppressed: list[Finding]


def ignores_of(source: Source, documents: list[Document], registry: Registry) -> Ignores:
    """The ignores that a file has."""
    if "kcheck" not in source.text and "ignore[" not in source.text:
        return Ignores()
    return _DirectiveReading(source, documents, registry).run()


def apply(
    findings: Iterable[Finding], ignores: Mapping[str, Ignores], rules_for: Callable[[str], RuleSet], complete: bool = False
) -> Partition:
    """Part the findings of all files by what their ignores say, and add those about the ignores themselves.

    `ignores`: by file. `complete`: the input is all there is.
    """
    sifted = Partition([], [])
    for each in ignores.values():
        # They may come from an earlier run, as in an editor.
        for ignore in each.entries:
            ignore.used = False

    def sift(found: Iterable[Finding]) -> None:
        for finding in found:
            of_file = ignores.get(finding.file)
            (sifted.suppressed if of_file is not None and of_file.covers(finding) else sifted.kept).append(finding)

    # Two versions of Kubernetes may find the same.
    sift(dict.fromkeys(findings))
    # An ignore may name these two rules as well, so what they find is sifted before those ignores are judged.
    for file, each in ignores.items():
        rules = rules_for(file)
        sift([*unknown(each, rules), *unused(each, rules, complete)])
        sifted.kept.extend(unused(each, rules, complete, of_ignores=True))
    return sifted


def unknown(ignores: Ignores, rules: RuleSet) -> list[Finding]:
    """Findings about what looks like an ignore and is none."""
    return [finding for m in ignores.misuses for finding in _finding(UNKNOWN, m.place, m.message, rules)]


def unused(ignores: Ignores, rules: RuleSet, complete: bool = False, *, of_ignores: bool = False) -> list[Finding]:
    """Findings about ignores that have covered nothing although their rules ran.

    A rule over several objects has run only where the input is `complete`. `of_ignores`: look at the ignores that name the rules
    about ignores, instead of the others.
    """
    told: list[Finding] = []
    for ignore in ignores.entries:
        if ignore.used or (ignore.name in (UNUSED, UNKNOWN)) != of_ignores or not ignore.needs <= rules.active.keys():
            continue
        if not complete and any(rules[id].rule.scope == "bundle" for id in ignore.rules if id in rules):
            continue
        told += _finding(UNUSED, ignore.place, Complaint(f"ignore of {ignore.name} suppresses no finding", "remove it"), rules)
    return told


def _finding(id: str, place: Location, message: str, rules: RuleSet) -> Iterator[Finding]:
    if id in rules:
        active = rules[id]
        yield Finding(id, active.severity, active.rule.family, str(message), place, help=help_of(message))


class _DirectiveReading:
    """The ignores of one file being read."""

    def __init__(self, source: Source, documents: list[Document], registry: Registry) -> None:
        self.source = source
        self.documents = documents
        self.registry = registry
        self.ignores = Ignores()
        self.seen: dict[tuple[int, str], Ignore] = {}
        self.owners: dict[int, ObjectIndex] = {}

    def run(self) -> Ignores:
        for comment in comments(self.source, self.documents, _CANDIDATE):
            self.comment(comment)
        for document in self.documents:
            if "kcheck" in self.source.text[document.start : document.end]:
                self.annotations(document)
        return self.ignores

    def comment(self, comment: Comment) -> None:
        at = max(comment.about[0].start, comment.document.root.start) if comment.about else comment.start
        placer = self.placer(comment.document, at)
        match = _DIRECTIVE.match(self.source.text, comment.start)
        if match is None:
            wrong = _misspelt(self.source.text, comment.start)
            if wrong is not None:
                self.misuse(placer.at(wrong[0]), wrong[1])
            return
        # What is said of the comment itself can be ignored in it, too.
        spans = (*comment.about, Span(comment.start, comment.end))
        names = list(_names(match["names"], match.start("names")))
        for name, span in names:
            self.name(name, placer.at(span), spans)
        if not names:
            self.misuse(placer.at(Span(*match.span())), Complaint("ignore comment names no rule", f"use {_FORM}"))

    def annotations(self, document: Document) -> None:
        """The annotations of the objects and templates of a document."""
        stack = [document.root]
        while stack:
            node = stack.pop()
            stack += node
            for key, value in node.at("metadata", "annotations").entries:
                if key == ANNOTATION:
                    self.annotation(value, node, document)
                elif key.startswith(("kcheck.dev/", "kcheck/")) or nearest(key, (ANNOTATION,)):
                    place = self.annotation_place(value, node, document, value.key_span)
                    self.misuse(place, Complaint(f'unknown kcheck annotation "{key}"', f'did you mean "{ANNOTATION}"?'))

    def annotation(self, value: Node, owner: Node, document: Document) -> None:
        spans = (covered_by(owner, document), value.span)
        names = [name for name, _ in _names(value.text.partition(";")[0], 0)]
        written = self.source.text[value.start : value.end]
        for name in names:
            at = re.search(rf"(?<![\w/-]){re.escape(name)}(?![\w/-])", written)
            span = Span(value.start + at.start(), value.start + at.end()) if at else value.span
            self.name(name, self.annotation_place(value, owner, document, span), spans)
        if not names:
            span = value.span if value.end > value.start else value.key_span
            message = Complaint(f"annotation {ANNOTATION} names no rule", f'use {ANNOTATION}: "rule; reason"')
            self.misuse(self.annotation_place(value, owner, document, span), message)

    def annotation_place(self, value: Node, owner: Node, document: Document, span: Span) -> Location:
        placer = self.placer(document, value.start)
        return placer.at(span, f"{placer.path(owner['metadata']['annotations'])}[{value.name}]")

    def placer(self, document: Document, offset: int) -> Locator:
        """What tells the place of a character, for it knows the object in which it stands."""
        if document.index not in self.owners:
            self.owners[document.index] = ObjectIndex(resources(document))
        return Locator(document, self.owners[document.index].at(offset))

    def name(self, name: str, place: Location, spans: tuple[Span, ...]) -> None:
        """Take in one name of an ignore."""
        known, groups = self.registry.rules, self.registry.groups
        if (seen := self.seen.get((place.start, name))) is not None:
            # An annotation that an alias brings to a second place.
            seen.spans += spans
        elif name in ALWAYS:
            self.misuse(place, Complaint(f"{name} cannot be ignored, because it reports what was not checked", "remove it"))
        elif name in known or name in groups:
            # The rules about ignores must be named: a group would accept that it is of no use itself.
            ids = frozenset((name,)) if name in known else groups[name] - ALWAYS - {UNUSED, UNKNOWN}
            usual = frozenset(id for id in ids if known[id].default)
            ignore = self.seen[place.start, name] = Ignore(name, ids, usual or ids, spans, place)
            self.ignores.entries.append(ignore)
        else:
            near = nearest(name, [*(known.keys() - ALWAYS), *groups])
            hint = f'did you mean "{near}"?' if near else "use the rule id that is shown with the finding"
            if " " in name and name.split()[0] in {*known, *groups}:
                hint = 'move the reason after the bracket, or after ";" in an annotation'
            self.misuse(place, Complaint(f'unknown rule or group "{name}"', hint))

    def misuse(self, place: Location, message: str) -> None:
        self.ignores.misuses.append(BadDirective(place, redact.message(message)))


def _names(text: str, start: int) -> Iterator[tuple[str, Span]]:
    """The names of a list with commas (or lines), and where they stand."""
    for match in re.finditer(r"[^\s,](?:[^,\r\n]*[^\s,])?", text):
        yield match[0], Span(start + match.start(), start + match.end())


def covered_by(owner: Node, document: Document) -> Span:
    """The characters that an annotation of an object or template covers."""
    # What lacks in a template is shown at its key; an object may have findings before and behind it.
    start = owner.key.start if isinstance(owner.key, Node) else owner.start
    return Span(document.start, document.end) if owner is document.root else Span(start, owner.end)


def _misspelt(text: str, start: int) -> tuple[Span, str] | None:
    """What is wrong with a comment that looks like an ignore, None where it is prose."""
    if match := _NAMED.match(text, start):
        word, bracket = match["word"], match["bracket"]
        if word.lower() != "ignore":
            message = Complaint(f'unknown kcheck directive "{word}"' if word else "kcheck comment without a directive", f"use {_FORM}")
        elif bracket is None:
            message = Complaint("ignore comment names no rule", f"use {_FORM}")
        elif bracket.endswith("]"):
            message = Complaint("ignore comment must be written in lower case", f"use {_FORM}")
        else:
            message = Complaint('ignore comment has no closing "]"', f"use {_FORM}")
        return Span(start, start + len(match[0].rstrip())), message
    if match := _NO_COLON.match(text, start):
        if match["word"].lower() == "ignore" or nearest(match["word"].lower(), ("ignore",)):
            return Span(start, match.end("word")), Complaint("ignore comment is not recognized", f"use {_FORM}")
        return None
    match = _OTHER_NAME.match(text, start)
    if match is not None and nearest(match["tool"].lower(), ("kcheck",), limit=1):
        return Span(start, match.end("tool")), Complaint("misspelled ignore comment", f"did you mean {_FORM}?")
    return None

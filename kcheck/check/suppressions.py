"""Ignores: comments and annotations that accept findings, and the findings about invalid and unused ignores.

image: nginx:latest  # kcheck: ignore[latest-tag] pinned by the release pipeline
annotations: {kcheck.dev/ignore: "latest-tag; pinned by the release pipeline"}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kcheck.finding.finding import Finding
from kcheck.kube.location import Location
from kcheck.kube.resource import resources
from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.redaction import redact
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import ALWAYS, RuleSet
from kcheck.rule.user_policies import EVERY, FAMILY, is_policy
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

_BLOCK_CHARS, _MAX_INDEXED_CHARS = 2048, 64 * 2048
"""Characters per block of the index of ignores, and the size of a span above which it is not indexed: a shard may claim any size."""

# Comments to examine: they contain the program's name, or another name followed by "ignore[".
_CANDIDATE = pattern(r"#[ \t]*+(?:kcheck\b|[\w-]++[ \t]*+:?+[ \t]*+ignore[ \t]*+\[)", re.IGNORECASE)
DIRECTIVE = pattern(r"#[ \t]*+kcheck[ \t]*+:[ \t]*+ignore[ \t]*+\[(?P<names>[^\]\r\n]*+)\]")
_NAMED = pattern(r"#[ \t]*+kcheck[ \t]*+:[ \t]*+(?P<word>[\w-]*+)(?P<bracket>[ \t]*+\[[^\]\r\n]*+\]?+)?", re.IGNORECASE)
_NO_COLON = pattern(r"#[ \t]*+kcheck[ \t./_-]*+(?P<word>[a-z]++)[ \t]*+[\[(:=]", re.IGNORECASE)
_OTHER_NAME = pattern(r"#[ \t]*+(?P<tool>[\w-]++)[ \t]*+:?+[ \t]*+ignore[ \t]*+\[", re.IGNORECASE)


@dataclass(slots=True)
class Ignore:
    """One rule name in a comment or annotation.

    Attributes:
        name: The name as written.
        rules: The ids of the rules that it refers to.
        needs: The ids that must be enabled to report the ignore as unused.
        spans: The characters that it covers.
        place: The location of the name.
        used: Whether it covered a finding.
    """

    name: str
    rules: frozenset[str]
    needs: frozenset[str]
    spans: tuple[Span, ...]
    place: Location
    used: bool = False

    def covers(self, finding: Finding) -> bool:
        start = finding.place.start
        return (finding.rule in self.rules or (finding.family == FAMILY and EVERY in self.rules)) and any(
            s.start <= start < max(s.end, s.start + 1) for s in self.spans
        )


class BadDirective(NamedTuple):
    """A comment or annotation that looks like an ignore but is invalid."""

    place: Location
    message: str
    help: str = ""


@dataclass(slots=True)
class Ignores:
    """The ignores of one file. The value is small, because it is sent between processes."""

    entries: list[Ignore] = field(default_factory=list)
    errors: list[BadDirective] = field(default_factory=list)
    _blocks: dict[int, list[Ignore]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __bool__(self) -> bool:
        return bool(self.entries or self.errors)

    def covers(self, finding: Finding) -> bool:
        """Whether a finding of this file is ignored. Marks all ignores that cover it as used."""
        if finding.rule in ALWAYS:
            return False
        covering = [i for i in self._candidates(finding.place.start) if i.covers(finding)]
        for ignore in covering:
            ignore.used = True
        return bool(covering)

    def _candidates(self, offset: int) -> Iterable[Ignore]:
        """Return the ignores that may cover an offset: a file with many objects may have thousands of ignores."""
        if not self._blocks:
            for ignore in self.entries:
                spans = () if any(s.end - s.start > _MAX_INDEXED_CHARS for s in ignore.spans) else ignore.spans
                for block in {n for s in spans for n in range(s.start // _BLOCK_CHARS, max(s.end, s.start + 1) // _BLOCK_CHARS + 1)} or {
                    -1
                }:
                    self._blocks.setdefault(block, []).append(ignore)
        return (*self._blocks.get(-1, ()), *self._blocks.get(offset // _BLOCK_CHARS, ()))


class Partition(NamedTuple):
    kept: list[Finding]
    suppressed: list[Finding]


def read_ignores(source: Source, documents: list[Document], registry: Registry) -> Ignores:
    """Return the ignores of a file."""
    if "kcheck" not in source.text and "ignore[" not in source.text:
        return Ignores()
    return _DirectiveReader(source, documents, registry).read_all()


def apply_ignores(
    findings: Iterable[Finding],
    ignores: Mapping[str, Ignores],
    rules_for: Callable[[str], RuleSet],
    is_complete: Callable[[str], bool] = lambda file: False,
    policies: Collection[str] = (),
) -> Partition:
    """Separate the ignored findings of all files from the others, and add findings about the ignores themselves.

    `ignores`: by file. `is_complete`: whether the input contains all objects that those of a file refer to. `policies`: the ids of the
    user-defined policies of the run whose verdicts depend only on the object.
    """
    partition = Partition([], [])
    for each in ignores.values():
        # They may come from an earlier run, as in an editor.
        for ignore in each.entries:
            ignore.used = False

    def separate(found: Iterable[Finding]) -> None:
        for finding in found:
            of_file = ignores.get(finding.file)
            (partition.suppressed if of_file is not None and of_file.covers(finding) else partition.kept).append(finding)

    # Two Kubernetes versions may cause the same finding.
    separate(dict.fromkeys(findings))
    # An ignore may name these two rules as well, so their findings are filtered before those ignores are checked.
    for file, each in ignores.items():
        rules, complete = rules_for(file), is_complete(file)
        separate([*invalid_ignore_findings(each, rules), *unused_ignore_findings(each, rules, complete, policies)])
        partition.kept.extend(unused_ignore_findings(each, rules, complete, policies, of_ignores=True))
    return partition


def invalid_ignore_findings(ignores: Ignores, rules: RuleSet) -> list[Finding]:
    """Return the findings about invalid ignores."""
    return [finding for m in ignores.errors for finding in _make_findings(UNKNOWN, m.place, Complaint(m.message, m.help), rules)]


def unused_ignore_findings(
    ignores: Ignores, rules: RuleSet, complete: bool, policies: Collection[str], *, of_ignores: bool = False
) -> list[Finding]:
    """Return the findings about ignores that covered nothing although their rules ran.

    Rules across objects count as run only if the input is `complete`, and of the user-defined policies only `policies`. `of_ignores`:
    check only the ignores that name the rules about ignores, instead of the others.
    """

    def has_run(id: str) -> bool:
        return rules.runs(id) and (id in policies or not is_policy(id))

    findings: list[Finding] = []
    for ignore in ignores.entries:
        if ignore.used or (ignore.name in (UNUSED, UNKNOWN)) != of_ignores or not all(map(has_run, ignore.needs)):
            continue
        if not complete and any(rules[id].rule.scope == "bundle" for id in ignore.rules if id in rules):
            continue
        findings += _make_findings(UNUSED, ignore.place, Complaint(f'"{ignore.name}" has no findings here', "remove it"), rules)
    return findings


def _make_findings(id: str, place: Location, message: str, rules: RuleSet) -> Iterator[Finding]:
    if id in rules:
        active = rules[id]
        yield Finding(id, active.severity, active.rule.family, str(message), place, help=help_of(message))


class _DirectiveReader:
    """Reads the ignores of one file."""

    def __init__(self, source: Source, documents: list[Document], registry: Registry) -> None:
        self.source = source
        self.documents = documents
        self.registry = registry
        self.ignores = Ignores()
        self.seen: dict[tuple[int, str], Ignore] = {}
        self.owners: dict[int, ObjectIndex] = {}

    def read_all(self) -> Ignores:
        for comment in comments(self.source, self.documents, _CANDIDATE):
            self.read_comment(comment)
        for document in self.documents:
            if "kcheck" in self.source.text[document.start : document.end]:
                self.read_annotations(document)
        return self.ignores

    def read_comment(self, comment: Comment) -> None:
        at = max(comment.about[0].start, comment.document.root.start) if comment.about else comment.start
        locator = self.locator_at(comment.document, at)
        match = DIRECTIVE.match(self.source.text, comment.start)
        if match is None:
            wrong = _invalid_comment(self.source.text, comment.start)
            if wrong is not None:
                self.add_error(locator.at(wrong[0]), wrong[1])
            return
        # Findings about the comment itself can be ignored in it.
        spans = (*comment.about, Span(comment.start, comment.end))
        names = list(_names(match["names"], match.start("names")))
        for name, span in names:
            self.add_name(name, locator.at(span), spans)
        if not names:
            self.add_error(locator.at(Span(*match.span())), Complaint("the ignore names no rule", f"use {_FORM}"))

    def read_annotations(self, document: Document) -> None:
        """Read the annotations of the objects and templates of a document."""
        stack = [document.root]
        while stack:
            node = stack.pop()
            stack += node
            for key, value in node.at("metadata", "annotations").entries:
                if key == ANNOTATION:
                    self.read_annotation(value, node, document)
                elif key.startswith(("kcheck.dev/", "kcheck/")) or nearest(key, (ANNOTATION,)):
                    place = self.annotation_location(value, node, document, value.key_span)
                    self.add_error(place, Complaint(f'unknown annotation "{key}"', did_you_mean(ANNOTATION)))

    def read_annotation(self, value: Node, owner: Node, document: Document) -> None:
        spans = (covered_span(owner, document), value.span)
        names = [name for name, _ in _names(value.text.partition(";")[0], 0)]
        written = self.source.text[value.start : value.end]
        for name in names:
            at = re.search(rf"(?<![\w/-]){re.escape(name)}(?![\w/-])", written)
            span = Span(value.start + at.start(), value.start + at.end()) if at else value.span
            self.add_name(name, self.annotation_location(value, owner, document, span), spans)
        if not names:
            span = value.span if value.end > value.start else value.key_span
            message = Complaint("the ignore names no rule", f"use {ANNOTATION}: rule; reason")
            self.add_error(self.annotation_location(value, owner, document, span), message)

    def annotation_location(self, value: Node, owner: Node, document: Document, span: Span) -> Location:
        locator = self.locator_at(document, value.start)
        return locator.at(span, f"{locator.path(owner['metadata']['annotations'])}[{value.name}]")

    def locator_at(self, document: Document, offset: int) -> Locator:
        """Return the locator for an offset, with the object that contains it."""
        if document.index not in self.owners:
            self.owners[document.index] = ObjectIndex(resources(document))
        return Locator(document, self.owners[document.index].at(offset))

    def add_name(self, name: str, place: Location, spans: tuple[Span, ...]) -> None:
        """Add one name of an ignore."""
        known, groups = self.registry.rules, self.registry.groups
        if (seen := self.seen.get((place.start, name))) is not None:
            # An annotation that is repeated by an alias.
            seen.spans += spans
        elif name in ALWAYS:
            self.add_error(place, f'"{name}" cannot be ignored: what was not checked must be reported')
        elif is_policy(name):
            # Whether the policy exists is known only when the whole input has been read.
            self.seen[place.start, name] = ignore = Ignore(name, frozenset((name,)), frozenset((name,)), spans, place)
            self.ignores.entries.append(ignore)
        elif name in known or name in groups:
            # The rules about ignores must be named explicitly: otherwise an ignore of a group would hide that it is unused.
            ids = frozenset((name,)) if name in known else groups[name] - ALWAYS - {UNUSED, UNKNOWN}
            usual = frozenset(id for id in ids if known[id].default)
            policies = frozenset((EVERY,)) if name in (FAMILY, "all") else frozenset[str]()
            ignore = self.seen[place.start, name] = Ignore(name, ids | policies, usual or ids, spans, place)
            self.ignores.entries.append(ignore)
        else:
            near = nearest(name, [*(known.keys() - ALWAYS), *groups])
            hint = did_you_mean(near, "use the rule id that is shown with the finding")
            if " " in name and name.split()[0] in {*known, *groups}:
                hint = "write the reason after the bracket, or after ';' in an annotation"
            self.add_error(place, Complaint(f'unknown rule or group "{name}"', hint))

    def add_error(self, place: Location, message: str) -> None:
        self.ignores.errors.append(BadDirective(place, redact.message(str(message)), redact.message(help_of(message))))


def _names(text: str, start: int) -> Iterator[tuple[str, Span]]:
    """Yield the names of a list separated by commas or line breaks, with their spans."""
    for match in re.finditer(r"[^\s,](?:[^,\r\n]*[^\s,])?", text):
        yield match[0], Span(start + match.start(), start + match.end())


def covered_span(owner: Node, document: Document) -> Span:
    """Return the characters that an annotation of an object or template covers."""
    # Problems about missing fields of a template are located at its key; an object may have findings before and after it.
    start = owner.key.start if isinstance(owner.key, Node) else owner.start
    return Span(document.start, document.end) if owner is document.root else Span(start, owner.end)


def _invalid_comment(text: str, start: int) -> tuple[Span, str] | None:
    """Return the span and the error of a comment that looks like an ignore, or None for other text."""
    if match := _NAMED.match(text, start):
        word, bracket = match["word"], match["bracket"]
        if word.lower() != "ignore":
            message = Complaint(f'unknown directive "{word}"' if word else "the directive is missing", f"use {_FORM}")
        elif bracket is None:
            message = Complaint("the ignore names no rule", f"use {_FORM}")
        elif bracket.endswith("]"):
            message = Complaint("ignore comments must be lowercase", f"use {_FORM}")
        else:
            message = Complaint("the closing bracket is missing", f"use {_FORM}")
        return Span(start, start + len(match[0].rstrip())), message
    if match := _NO_COLON.match(text, start):
        if match["word"].lower() == "ignore" or nearest(match["word"].lower(), ("ignore",)):
            return Span(start, match.end("word")), Complaint("invalid ignore comment", f"use {_FORM}")
        return None
    match = _OTHER_NAME.match(text, start)
    if match is not None and nearest(match["tool"].lower(), ("kcheck",), limit=1):
        return Span(start, match.end("tool")), Complaint("invalid ignore comment", f"did you mean {_FORM}?")
    return None

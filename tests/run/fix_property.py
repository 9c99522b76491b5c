"""What must hold after fixes, whatever the input: checked for a few texts by tests, and for a corpus by benchmarks/fix_property.py."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from kcheck.check.session import Session
from kcheck.discovery.discover import Discovery, Target
from kcheck.finding.finding import Finding
from kcheck.finding.fix import Fix
from kcheck.finding.report import Report
from kcheck.finding.severity import Severity
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import RuleSet, choose
from kcheck.run.fixing import Fixing
from kcheck.run.run import run_pipeline
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store
from kcheck.text.edit import apply_edits
from kcheck.text.pattern import pattern
from kcheck.text.source import Source
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

_COMMENT = pattern(r"(?:^|(?<=\s))#[^\r\n]*")
_REGISTRY = Registry.load()
EVERY = tuple(_REGISTRY.rules)


def check_files(found: Discovery, select: Sequence[str]) -> Report:
    """Checks files with some rules, in this process."""
    session = Session(_REGISTRY, _choose_rules(tuple(select)), [Store(load(""))], False)
    return run_pipeline(found, session, jobs=1)


@cache
def _choose_rules(select: tuple[str, ...]) -> RuleSet:
    return choose(_REGISTRY, select)


class FixTrial:
    """Fixes files and collects what is wrong with the result.

    Attributes:
        fixes: how many fixes were applied, by rule.
        wrong: what is wrong, one line each.
    """

    def __init__(self, unsafe: bool, select: Sequence[str] = EVERY) -> None:
        self.unsafe = unsafe
        self.select = select
        self.fixes: Counter[str] = Counter()
        self.wrong: list[str] = []

    def fix_file(self, path: Path) -> list[Path]:
        """Fixes a file in place and checks the result. Returns it if it has changed."""
        return self.fix_files(Discovery([Target(str(path), True)]))

    def fix_files(self, found: Discovery) -> list[Path]:
        """Fixes files in place and checks the result. Returns the changed files."""
        fixing = Fixing(found, self.unsafe, self._judge_fix)
        fixing.fix_all(lambda found: check_files(found, self.select))
        changed: list[Path] = []
        for name, fixed in fixing.files.items():
            before, path = fixed.source.text, Path(name)
            path.write_bytes(fixed.after)
            changed.append(path)
            self.wrong += [f"{path}: {each}" for each in _lost_style(before, fixed.text, self.unsafe)]
            self.wrong += [f"{path}: {each}" for each in _worse_verdicts(before, fixed.text)]
        if changed:
            again = Fixing(found, self.unsafe)
            again.fix_all(lambda found: check_files(found, self.select))
            self.wrong += [f"{name}: a second run changes it: {dict(fixed.rules)}" for name, fixed in again.files.items()]
        return changed

    def _judge_fix(self, finding: Finding, fix: Fix, text: str) -> bool:
        """Checks a single fix before it is applied together with others."""
        self.fixes[finding.rule] += 1
        where = f"{finding.file}:{finding.range.line}: {finding.rule} [{fix.title}]"
        if not fix.safe and not self.unsafe:
            self.wrong.append(f"{where}: an unsafe fix was offered")
        self.wrong += [f"{where}: {each}" for each in _other_changes(text, fix)]
        return True


def _lost_style(before: str, after: str, unsafe: bool) -> Iterator[str]:
    """What has changed in line endings, the end of the file and, if all fixes are safe, the comments."""
    if "\r\n" in before and "\n" not in before.replace("\r\n", "") and "\n" in after.replace("\r\n", ""):
        yield "a line ends with LF instead of CRLF"
    if "\r" not in before and "\r" in after:
        yield "a line ends with CRLF instead of LF"
    if before.endswith("\n") != after.endswith("\n"):
        yield "the end of the file has changed"
    lost = Counter(_COMMENT.findall(before)) - Counter(_COMMENT.findall(after))
    if lost and not unsafe:
        yield f"comments are lost: {', '.join(lost)}"


def _worse_verdicts(before: str, after: str) -> Iterator[str]:
    """The objects that the API server accepts before and rejects after.

    Objects of a kind whose definition in the same file it rejects before are none: it does not know the kind.
    """
    from kcheck.testing import check_text

    errors = [
        Counter((each.place.document, each.rule) for each in check_text(text, ["spec"]) if each.severity is Severity.ERROR)
        for text in (before, after)
    ]
    refused = {document for document, _ in errors[0]}
    roots = [document.root for document in parse(Source("", after))]
    if len(roots) != len(parse(Source("", before))):
        return
    # As they are after the fixes, which may correct the group or kind of a definition.
    definitions = [roots[number]["spec"] for number in refused if roots[number]["kind"].text == "CustomResourceDefinition"]
    undefined = {(spec["group"].text, spec["names"]["kind"].text) for spec in definitions}
    refused |= {number for number, root in enumerate(roots) if (root["apiVersion"].text.partition("/")[0], root["kind"].text) in undefined}
    yield from (f"document {document} is rejected now: {rule}" for document, rule in errors[1] if document not in refused)


def _other_changes(text: str, fix: Fix) -> Iterator[str]:
    """The values that a fix changes although no edit is on a line of them or of a key around them."""
    after = apply_edits(text, fix.edits)
    documents = parse(Source("", text))
    if any(each.fault is not None for each in documents):
        return
    changed = parse(Source("", after))
    if any(each.fault is not None for each in changed):
        yield "the text has a syntax error now"
        return
    if len(documents) != len(changed):
        return
    old_lines = {line for edit in fix.edits for line in _lines(text, edit.start, edit.end)}
    new_lines, shift = set(), 0
    for edit in sorted(fix.edits):
        start = edit.start + shift
        new_lines.update(_lines(after, start, start + len(edit.text)))
        shift += len(edit.text) - (edit.end - edit.start)
    old, new = _leaves(documents, text), _leaves(changed, after)
    for here, there, lines, what in ((old, new, old_lines, "has changed"), (new, old, new_lines, "is new")):
        for leaf, places in here.items():
            touched = sum(bool(place & lines) for place in places)
            if len(places) - len(there.get(leaf, ())) > touched:
                yield f"{leaf[0]}: {leaf[1]!r:.40} {what}"


def _leaves(documents: Sequence[Document], text: str) -> dict[tuple[str, object], list[set[int]]]:
    """The scalars and empty collections of all documents by path and value, with the lines of the value and of the keys around it.

    The items of a list are not numbered, because one of them may be removed.
    """
    found: dict[tuple[str, object], list[set[int]]] = defaultdict(list)

    def visit(node: Node, path: str, lines: set[int]) -> None:
        key = node.key_span
        lines = lines | set(_lines(text, key.start, key.end)) if isinstance(node.key, Node) else lines
        if len(node):
            for child in node:
                visit(child, f"{path}.{child.name}" if node.is_map else f"{path}[]", lines)
        else:
            found[path, repr(node.plain())].append(lines | set(_lines(text, node.start, node.end)))

    for document in documents:
        visit(document.root, str(document.index), set())
    return found


def _lines(text: str, start: int, end: int) -> range:
    return range(text.count("\n", 0, start), text.count("\n", 0, end) + 1)

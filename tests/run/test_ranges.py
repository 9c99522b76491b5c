"""Every finding's range re-reads to the text that it names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kcheck.check.session import Session
from kcheck.discovery.discover import discover
from kcheck.finding.finding import Finding
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.run.run import run_pipeline
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store
from kcheck.text.source import Source
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse
from kcheck.yaml.scalars import BadScalar, key_text, resolve

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared" / "corpus" / "manifests"
FOLDERS = [ROOT / "examples", *(sorted(CORPUS.iterdir()) if CORPUS.is_dir() else ())]
# What these name is a stretch of text and no node.
TEXT_RULES = {
    "unusual-line-break",
    "invalid-yaml", "unreadable-file", "unused-ignore", "unknown-ignore", "content-after-document-end", "content-after-separator",
    "json-manifest",
    "credential-in-config-map",
}  # fmt: skip


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry.load()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: p.name)
def test_ranges_name_what_the_finding_is_about(folder: Path, registry: Registry) -> None:
    session = Session(registry, choose(registry, ["all"]), [Store(load("1.36"))])
    sources: dict[str, Source] = {}
    documents: dict[str, list[Document]] = {}
    wrong = []
    for finding in run_pipeline(discover([str(folder)]), session).findings:
        if finding.rule in TEXT_RULES:
            continue
        source = sources.get(finding.file)
        if source is None:
            source = sources[finding.file] = Source.decode(finding.file, Path(finding.file).read_bytes())
            documents[finding.file] = parse(source)
        text = source.text[source.offset(finding.range.start) : source.offset(finding.range.end)]
        if not text or not names(text, finding, source, documents[finding.file]):
            wrong.append((finding.rule, finding.file, finding.range, finding.place.field, text[:80]))
    assert wrong == []


def names(text: str, finding: Finding, source: Source, documents: list[Document]) -> bool:
    """Whether a range is exactly that of a node, of its key or of its first entry, and reads as that."""
    if finding.rule == "duplicate-key":
        # Of three equal keys the second is in no tree.
        return finding.place.field.endswith(unquoted(text))
    document = next(d for d in documents if d.index == finding.place.document)
    start, end = (source.offset(p) for p in (finding.range.start, finding.range.end))
    return any(reads(text, node, start, end) for node in within(document.root, start))


def within(node: Node, offset: int) -> Iterator[Node]:
    """The nodes that a character belongs to, by their own characters or by their key's."""
    yield node
    for child in node:
        first = child.key_span.start if isinstance(child.key, Node) else child.start
        # The value of an alias is written elsewhere.
        if first <= offset <= max(child.end, child.key_span.end) or child.value.__class__ in (dict, list):
            yield from within(child, offset)


def reads(text: str, node: Node, start: int, end: int) -> bool:
    if isinstance(node.key, Node) and node.key_span == (start, end):
        return text[:1] in ("*", "!", "&", "|", ">") or unquoted(text) == node.name or "\\" in text
    if isinstance(node.key, Node) and (node.key_span.start, node.end) == (start, end):
        return text.startswith(text[: len(node.name)]) and ":" in text
    if (node.start, node.end) != (start, end):
        return False
    if node.value.__class__ in (dict, list):
        return text[0] in "{[*" and text[-1] not in ":,"
    try:
        return text[0] in "*!&|>" or "\n" in text or node.value in (resolve(text), unquoted(text)) or "\\" in text
    except BadScalar:
        return False


def unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1].replace("''", "'") if text[0] == "'" else text[1:-1]
    try:
        return key_text(text)
    except BadScalar:
        return text

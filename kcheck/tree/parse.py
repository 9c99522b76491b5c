"""Text to documents of nodes. The only importer of ruamel.yaml, whose C part binds libyaml: go-yaml is a port of libyaml, so
syntax agrees with kubectl's; scalars, keys, anchors and merges are ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise

import _ruamel_yaml as libyaml
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from kcheck.text.source import Source
from kcheck.tree.build import Fault, build
from kcheck.tree.document import Document
from kcheck.tree.node import Node
from kcheck.tree.quick import read as read_quickly
from kcheck.tree.syntax import SyntaxFault, explain

# apimachinery's YAML reader splits a stream at lines that begin so, before any YAML is read.
_SEPARATOR = re.compile(r"\n---(?=[ \t\r\n]|\Z)")
_ONLY_COMMENTS = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+|^---(?=\s|\Z)|^%(?:YAML|TAG)[^\n]*+)*+\Z", re.MULTILINE)
_TEXT_END = re.compile(r"\.\.\.(?=\s|\Z)")
# What the server's readers take and the libyaml at hand does not: \' in double quotes, colons within a plain scalar in { } or [ ]
# ([http://x]), and in JSON characters that are written as two surrogates. All are read through a stand-in of the same length that
# the text does not use: (what libyaml says, where, the stand-in, what it is read as, what that means, whether in JSON alone).
_STAND_INS: tuple[tuple[str, re.Pattern[str], str, str, str, bool], ...] = (
    ("unknown escape", re.compile(r"\\'"), "\\e", "\x1b", "'", False),
    ("unexpected ':'", re.compile(r"(?<=[^\s\"'\]}]):(?=\S)"), "\ue03a", "\ue03a", ":", False),
    ("invalid Unicode", re.compile(r"\\(?:u([dD][89abAB]..)\\u([dD][c-fC-F]..)|u[dD][89a-fA-F]..|.)", re.DOTALL), "\\e", "\x1b", "", True),
)
_JSON_CONSTANT = re.compile(r'"(?:\\.|[^"\\])*+"|(NaN|-?Infinity)')

DOCUMENT_LIMIT = 3 * 1024 * 1024
"""Bytes of one document: the API server refuses a larger request body (413)."""


def parse(source: Source) -> list[Document]:
    """All non-empty documents of a file, those that do not parse included."""
    documents: list[Document] = []
    for start, end in _chunks(source.text):
        for document in _read(source, start, end):
            document.index = len(documents)
            documents.append(document)
    return documents


def _chunks(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of the text that hold a document each, the separator line belonging to what follows it."""
    bounds = [0, *(m.start() + 1 for m in _SEPARATOR.finditer(text)), len(text)]
    for start, end in pairwise(bounds):
        if not _ONLY_COMMENTS.match(text[start:end] if start or end < len(text) else text):
            yield start, end


def _read(source: Source, start: int, end: int) -> list[Document]:
    text = source.text[start:end] if start or end < len(source.text) else source.text
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > DOCUMENT_LIMIT:
        message = f"a document of {size:,} bytes: the API server reads at most {DOCUMENT_LIMIT:,} (3 MiB) in one request: split it"
        return [_broken(source, start, end, SyntaxFault(start, start + 3, message))]
    try:
        return _build(source, text, start, end)
    except Fault as error:
        fault = SyntaxFault(start + error.start, start + error.end, error.message)
    except MarkedYAMLError as error:
        for words, pattern, stand_in, character, meant, json_alone in _STAND_INS:
            if words not in f"{error.problem}" or stand_in in text or character in text or (json_alone and not _is_json(text)):
                continue
            readable = pattern.sub(_whole if json_alone else lambda _, s=stand_in: s, text)
            repaired = _read_through(source, readable, start, end, character, meant, json_alone)
            if repaired is not None:
                return repaired
        mark = error.problem_mark or error.context_mark
        at = min(start + (mark.index if mark else 0), end)
        fault = _fault(source.text, at, explain(str(error.problem or ""), str(error.context or "")))
    except YAMLError as error:
        fault = _fault(source.text, start + (getattr(error, "position", 0) or 0), explain(str(error), ""))
    except UnicodeEncodeError as error:
        fault = SyntaxFault(start + error.start, start + error.end, "half of a surrogate pair: no YAML reader accepts it")
    stream = _json_stream(source, text, start) if text.lstrip()[:1] == "{" else None
    return [_broken(source, start, end, fault)] if stream is None else stream


def _build(source: Source, text: str, start: int, end: int, is_json: bool = False) -> list[Document]:
    if not is_json and (built := read_quickly(text, start)) is not None:
        return [Document(source, 0, start, end, built.root, None, built.duplicates, built.trailing)]
    head = text.lstrip()
    if _TEXT_END.match(head):
        at = len(text) - len(head)
        raise Fault(at, at + 3, "a '...' ends the document before it began: use '---' or take it away")
    constant = _constant(text) if head[:1] == "{" and ("NaN" in text or "Infinity" in text) else None
    if constant is not None:
        raise Fault(*constant.span(1), f"JSON has no {constant[1]}: quote it if it is text")
    built = build(libyaml.CParser(text), text, start, is_json or "\\/" not in text or _is_json(text))
    if built is None or built.root.value is None:
        return []
    return [Document(source, 0, start, end, built.root, None, built.duplicates, built.trailing)]


def _whole(escape: re.Match[str]) -> str:
    """An escape of JSON as YAML reads it: two surrogates are one character, one alone is the sign for an unreadable one."""
    high, low = escape[1], escape[2]
    if high:
        return f"\\U{0x10000 + (int(high, 16) - 0xD800) * 0x400 + int(low, 16) - 0xDC00:08X}\\e"
    return "\\uFFFD" if len(escape[0]) == 6 else escape[0]


def _constant(text: str) -> re.Match[str] | None:
    """Where a text that is JSON but for that says NaN or Infinity."""
    return next((match for match in _JSON_CONSTANT.finditer(text) if match[1]), None) if _is_json(text) else None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _broken(source: Source, start: int, end: int, fault: SyntaxFault) -> Document:
    first, last = (min(max(at, 0), len(source.text)) for at in fault[:2])
    return Document(source, 0, start, end, Node(None, first, last), fault._replace(start=first, end=last))


def _fault(text: str, at: int, message: str) -> SyntaxFault:
    """A fault shown at the character where reading stopped, or at the end of the line before when that is blank."""
    if at >= len(text) or text[at] in "\r\n":
        end = len(text[:at].rstrip())
        return SyntaxFault(max(end - 1, 0), end, message)
    return SyntaxFault(at, at + 1, message)


def _read_through(
    source: Source, text: str, start: int, end: int, character: str, meant: str, is_json: bool
) -> list[Document] | None:
    """Read a text in which a character stands in for what libyaml refuses, and put the real one back; None where it fails again."""
    try:
        documents = _build(source, text, start, end, is_json)
    except (Fault, YAMLError):
        return None
    for document in documents:
        _restore(document.root, character, meant)
    return documents


def _restore(node: Node, character: str, meant: str) -> None:
    value = node.value
    if isinstance(node.key, Node):
        node.key.value = node.key.value.replace(character, meant)
    if isinstance(value, str):
        node.value = value.replace(character, meant)
    elif isinstance(value, dict):
        node.value = {k.replace(character, meant): v for k, v in value.items()}
        for child in value.values():
            _restore(child, character, meant)
    elif isinstance(value, list):
        for child in value:
            _restore(child, character, meant)


def _json_stream(source: Source, text: str, start: int) -> list[Document] | None:
    """JSON objects one behind the other, as kubectl reads them; None where the text is no such thing."""
    decoder = json.JSONDecoder(strict=False)
    documents: list[Document] = []
    at, length = 0, len(text)
    while True:
        while at < length and text[at] in " \t\r\n":
            at += 1
        if at == length:
            return documents
        try:
            _, stop = decoder.raw_decode(text, at)
            documents += _build(source, text[at:stop], start + at, start + stop)
        except (ValueError, RecursionError, Fault, YAMLError):
            return None
        at = stop

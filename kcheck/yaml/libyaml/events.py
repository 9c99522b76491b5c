"""Reading with libyaml (the binding of ruamel.yaml) of documents that the `fast` reader does not read.

go-yaml is a port of libyaml, so both accept the same syntax as kubectl; scalars, keys, anchors and merges are implemented here. Imported
when the first such document is read: most inputs have none.
"""

from __future__ import annotations

import json
import re

import _ruamel_yaml as libyaml
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from kcheck.text.breaks import BREAKS
from kcheck.text.complaint import Complaint, help_of
from kcheck.text.source import Source
from kcheck.yaml.document import Document, broken
from kcheck.yaml.libyaml.builder import YamlFault, build
from kcheck.yaml.node import Node
from kcheck.yaml.syntax import SyntaxFault, explain

# go-yaml looks for this mark at the wrong position and then skips the first character of lines, such as the '#' of comments.
_MARK = "\ufeff"
_TEXT_END = re.compile(rf"(?:[ \t]*+[{BREAKS}]|)*+(\.\.\.)(?=[ \t{BREAKS}]|\Z)")
# Colons inside plain scalars. Colons of tags and after anchors are matched too, but preserved.
_COLONS = re.compile(
    rf"(?<![^ \t{BREAKS}\[{{,])(?:&[\w-]++:|!!timestamp[ ]++['\"]?[\dTtZ:.+ -]++|![^ \t{BREAKS}]++)"
    rf"|(?<=[^ \t{BREAKS}\"'\]}}]):(?=[^ \t{BREAKS}])",
    re.ASCII,
)
# Syntax that the API server accepts but this libyaml does not: \' in double quotes, colons inside a plain scalar in { } or [ ]
# ([http://x]), and surrogate pairs in JSON. Each is replaced with a placeholder of the same length that the text does not contain:
# (message of libyaml, pattern, placeholder, character that libyaml reads for it, its meaning, whether only in JSON).
_PLACEHOLDERS: tuple[tuple[str, re.Pattern[str], str, str, str, bool], ...] = (
    ("unknown escape", re.compile(r"\\'"), "\\e", "\x1b", "'", False),
    ("unexpected ':'", _COLONS, "\ue03a", "\ue03a", ":", False),
    ("invalid Unicode", re.compile(r"\\(?:u([dD][89abAB]..)\\u([dD][c-fC-F]..)|u[dD][89a-fA-F]..|.)", re.DOTALL), "\\e", "\x1b", "", True),
)
_JSON_CONSTANT = re.compile(r'"(?:\\.|[^"\\]|)*+"|(NaN|-?Infinity)')


def read(source: Source, text: str, start: int, end: int, first: bool = True) -> list[Document]:
    """Return the documents of a part of a file: none if it is empty, one with a fault if it does not parse.

    `first`: whether it is the first part of the file; only the first part may be JSON, with the escape sequences of JSON.
    """
    may_be_json = first and text.lstrip()[:1] == "{"
    documents = _attempt(source, text, start, end, may_be_json)
    if not isinstance(documents, SyntaxFault):
        return documents
    stream = _json_stream(source, text, start) if may_be_json else None
    return [broken(source, start, end, documents)] if stream is None else stream


def _attempt(source: Source, text: str, start: int, end: int, may_be_json: bool) -> list[Document] | SyntaxFault:
    """Return the documents of a text, which is read as YAML even if it is JSON, or a SyntaxFault."""
    readable = text
    meanings: dict[str, str] = {}
    while True:
        try:
            documents = _build(source, readable, start, end, may_be_json)
            break
        except YamlFault as found:
            message, help = str(found.message), help_of(found.message)
            for character, real in meanings.items():
                message = message.replace(character, real).replace(repr(character)[1:-1], real)
            return SyntaxFault(start + found.start, start + found.end, Complaint(message.replace("\n", "\\n"), help))
        except MarkedYAMLError as error:
            changed = _readable(f"{error.problem}", readable, text, meanings, may_be_json)
            if not changed:
                mark = error.problem_mark or error.context_mark
                at = min(start + (mark.index if mark else 0), end)
                return _fault(source.text[:end], at, explain(str(error.problem or ""), str(error.context or "")))
            readable = changed
        except YAMLError as other:
            return _fault(source.text[:end], start + (getattr(other, "position", 0) or 0), explain(str(other), ""))
        except UnicodeEncodeError as half:
            return SyntaxFault(start + half.start, start + half.end, "half of a surrogate pair is not valid in YAML")
    for document in documents if meanings else ():
        # The tree contains only the last of several entries with the same key.
        for node in (document.root, *(each for pair in document.duplicates for each in pair)):
            for character, real in meanings.items():
                _restore(node, character, real)
    return documents


def _readable(problem: str, readable: str, text: str, meanings: dict[str, str], may_be_json: bool) -> str:
    """Return the text with placeholders for the syntax that libyaml rejected, "" if no placeholder is suitable.

    `meanings`: the placeholder and its meaning are added.
    """
    for words, pattern, placeholder, character, real, json_alone in _PLACEHOLDERS:
        if words not in problem or character in meanings or placeholder in text or character in text:
            continue
        if json_alone and not (may_be_json and _is_json(text)):
            continue
        meanings[character] = real
        return pattern.sub(_whole if json_alone else lambda found, s=placeholder: found[0] if found[0][0] in "&!" else s, readable)
    return ""


def _build(source: Source, text: str, start: int, end: int, may_be_json: bool) -> list[Document]:
    ended = _TEXT_END.match(text)
    if ended is not None:
        raise YamlFault(*ended.span(1), Complaint('"..." ends the document before it begins', 'use "---" or remove this line'))
    mark = text.find(_MARK)
    if mark >= 0 and not (may_be_json and _is_json(text)):
        raise YamlFault(mark, mark + 1, Complaint("byte order mark (U+FEFF) inside a document", "remove this invisible character"))
    constant = _constant(text) if may_be_json and ("NaN" in text or "Infinity" in text) else None
    if constant is not None:
        raise YamlFault(*constant.span(1), Complaint(f"{constant[1]} is not valid in JSON", "quote it if it is a string"))
    built = build(libyaml.CParser(text), text, start, "\\/" not in text or (may_be_json and _is_json(text)))
    if built is None:
        return []
    if built.root.value is None:
        if built.trailing is not None:
            at = built.trailing - start
            raise YamlFault(at, at + 1, Complaint("content after an empty document is ignored", "insert a line --- before it"))
        return []
    if built.trailing is not None and may_be_json and _begins_with_json(text):
        # To kubectl, only the JSON is the first part.
        at = built.trailing - start
        raise YamlFault(at, at + 1, Complaint("more content follows a JSON object", "insert a line --- before it"))
    if start + len(text) > end:
        # A line break was appended to the text: no offset is beyond the file.
        for node in (built.root, *(each for pair in built.duplicates for each in pair)):
            _limit_offsets(node, end)
    return [Document(source, 0, start, end, built.root, None, built.duplicates, built.trailing)]


def _limit_offsets(node: Node, end: int) -> None:
    node.start, node.end = min(node.start, end), min(node.end, end)
    if isinstance(node.key, Node):
        node.key.start, node.key.end = min(node.key.start, end), min(node.key.end, end)
    children = node.value.values() if isinstance(node.value, dict) else node.value if isinstance(node.value, list) else ()
    for child in children:
        _limit_offsets(child, end)


def _whole(escape: re.Match[str]) -> str:
    """Convert an escape sequence of JSON to YAML: a surrogate pair becomes one character, a single surrogate becomes U+FFFD."""
    high, low = escape[1], escape[2]
    if high:
        return f"\\U{0x10000 + (int(high, 16) - 0xD800) * 0x400 + int(low, 16) - 0xDC00:08X}\\e"
    return "\\uFFFD" if len(escape[0]) == 6 else escape[0]


def _constant(text: str) -> re.Match[str] | None:
    """Return the match of NaN or Infinity in a text that is otherwise JSON."""
    return next((match for match in _JSON_CONSTANT.finditer(text) if match[1]), None) if _is_json(text) else None


def _is_json(text: str) -> bool:
    try:
        json.loads(text.strip())
    except (ValueError, RecursionError):
        return False
    return True


def _begins_with_json(text: str) -> bool:
    try:
        json.JSONDecoder(strict=False).raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return False
    return True


def _fault(text: str, at: int, message: str) -> SyntaxFault:
    """Return a fault at `at`, or at the end of the previous text if there is only whitespace.

    `text`: the file up to the end of the document.
    """
    if text[at : at + 1] == "\t" and not text[text.rfind("\n", 0, at) + 1 : at].strip():
        message = explain("found a tab character", "")
    if at >= len(text) or text[at] in "\r\n":
        end = len(text[:at].rstrip())
        return SyntaxFault(max(end - 1, 0), end, message)
    return SyntaxFault(at, at + 1, message)


def _restore(node: Node, character: str, meaning: str) -> None:
    value = node.value
    if isinstance(node.key, Node):
        node.key.value = node.key.value.replace(character, meaning)
    if isinstance(value, str):
        node.value = value.replace(character, meaning)
    elif isinstance(value, dict):
        node.value = {k.replace(character, meaning): v for k, v in value.items()}
        for child in value.values():
            _restore(child, character, meaning)
    elif isinstance(value, list):
        for child in value:
            _restore(child, character, meaning)


def _json_stream(source: Source, text: str, start: int) -> list[Document] | None:
    """Read a sequence of JSON objects as kubectl does, None if the text is not such a sequence."""
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
        except (ValueError, RecursionError):
            return None
        read = _attempt(source, text[at:stop], start + at, start + stop, True)
        if isinstance(read, SyntaxFault):
            return None
        documents += read
        at = stop

"""What of a document no output may show: secret values in its lines, and in what is said of it.

A document is searched when the first of its lines is shown that may depend on it, which most lines do not (`redact.is_plain`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import lru_cache

from kcheck.finding.fix import Fix
from kcheck.redaction import redact
from kcheck.redaction.redact import STARS
from kcheck.redaction.search import SecretSearch, extent, is_alone, may_hide
from kcheck.text.edit import Edit
from kcheck.text.pattern import pattern
from kcheck.text.source import Source
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

_WORD = pattern(r"""[^\s"'`,;()\[\]{}<>]+""")
_PLAIN_WORD = pattern(r"[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)*")
_SHORTEST, _LONG = 3, 8
_OCCURRENCES = 8
_LINE = 800
_MANY = 100
"""Texts that are looked for in messages one by one, the longest of all."""


def secrets_of(document: Document) -> Secrets:
    """The secret values of a document, searched once."""
    found = document.secrets
    if not isinstance(found, Secrets):
        found = document.secrets = Secrets(document)
    return found


def shown_text(path: str, text: str) -> str:
    """A file as it can be shown."""
    source = Source(path, text)
    starts = source.line_starts
    written = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    lines = [line.rstrip("\r\n") for line in written]
    shown = [redact.line(line) for line in lines]
    for document in parse(source):
        secrets = secrets_of(document)
        first, last = (bisect_right(starts, at) - 1 for at in (document.start, max(document.end - 1, document.start)))
        for number in range(first, min(last + 1, len(lines))):
            shown[number] = secrets.line(starts[number], lines[number])
    return "".join(new + old[len(line) :] for new, old, line in zip(shown, written, lines, strict=True))


class FoundSecrets:
    """What a search has found. `spans`: characters of the file, in order and apart; `words`: in order; `phrases`: found inside of words."""

    def __init__(self, search: SecretSearch) -> None:
        self.spans = _joined(search.spans)
        self.starts = [start for start, _ in self.spans]
        self.aliased = search.aliased
        self.words = sorted({word for text in search.texts for word in _words(text)})
        self.phrases = sorted(filter(_is_phrase, search.texts), key=_longer)[: -_MANY - 1 : -1]


class Secrets:
    """Those of one document, which is searched when they are first asked for."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.text = document.source.text
        self._guarded: bool | None = None
        self._made: FoundSecrets | None = None
        self._asked: Node | None = None
        self._answer = False

    @property
    def guarded(self) -> bool:
        """Whether plain lines of a custom resource may hold secret values, too."""
        if self._guarded is None:
            document = self.document
            self._guarded = document.fault is not None or redact.looks_secret(self.text[document.start : document.end])
        return self._guarded

    @property
    def found(self) -> FoundSecrets:
        if self._made is None:
            self._made = FoundSecrets(SecretSearch(self.document))
        return self._made

    def line(self, start: int, text: str, node: Node | None = None) -> str:
        """A line that begins at a character of the file, as it can be shown. `node`: the value that it is shown for, if it is known."""
        document = self.document
        if document.fault is not None:
            return redact.unread_line(text, redact.looks_secret(self.text[document.start : document.end]))
        if document.trailing is not None and start >= document.trailing:
            return redact.unread_line(text, redact.looks_secret(self.text[document.trailing : document.end]))
        shown = redact.line(text)
        # If a scalar has a line for itself, nothing else in the document makes a part of it secret.
        if self._made is None and node is not None and is_alone(node) and not self._may_hide(node):
            return shown
        at = max(bisect_right(self.found.starts, start) - 1, 0)
        while at < len(self.found.spans) and self.found.spans[at][0] < start + len(text):
            shown = redact.cover(shown, self.found.spans[at][0] - start, self.found.spans[at][1] - start)
            at += 1
        for secret in self.found.aliased:
            shown = shown.replace(secret, "*" * len(secret))
        return shown

    def hides(self, node: Node) -> bool:
        """Whether all of a value is secret."""
        if self._made is None and not self._may_hide(node):
            return False
        start, end = extent(node, self.text)
        at = bisect_right(self.found.starts, start) - 1
        return at >= 0 and end > start and self.found.spans[at][1] >= end

    def _may_hide(self, node: Node) -> bool:
        # Of a long text, several parts may be asked for, one after the other.
        if self._asked is not node:
            self._asked, self._answer = node, may_hide(node, self.document)
        return self._answer

    def shown(self, node: Node) -> str:
        """The text of a node without its secret values."""
        text = node.text
        return "" if not text or self.hides(node) else redact.replaced(text, redact.spans_in_file(text))

    def message(self, text: str, guarded: bool, *nodes: object) -> str:
        """A message without secret values. `guarded`: whether any line that it is about may hold some; `nodes`: what it is about, whose
        values are hidden even where they are short.
        """
        text = redact.message(text)
        if self.document.fault is not None or not (guarded or self._made is not None or self._may_quote(text)):
            return text
        for node in nodes:
            if isinstance(node, Node) and node.exists and node.value.__class__ in (str, int, float) and self.hides(node):
                own = str(node.value)
                if len(own) >= _SHORTEST or node.value.__class__ is not str:
                    # The name of an option, as in `--password password`, is not the value.
                    for form in dict.fromkeys((own, own.replace("\n", "\\n"), repr(own)[1:-1])):
                        text = re.sub(rf"(?<!\w)(?<!--){re.escape(form)}(?!\w)", STARS, text)
        for phrase in self.found.phrases:
            if phrase in text:
                text = text.replace(phrase, STARS)
        if not self.found.words:
            return text
        return redact.replaced(text, [span for match in _WORD.finditer(text) for span in self._secret_part(match[0], match.start())])

    def _may_quote(self, text: str) -> bool:
        """Whether a word of a message is on a line that may contain secret values; if not, the document need not be searched."""
        document = self.document
        for word in _words_of_message(text):
            at = self.text.find(word, document.start, document.end)
            for _ in range(_OCCURRENCES):
                if at < 0:
                    break
                start, end = self.text.rfind("\n", 0, at) + 1, self.text.find("\n", at)
                if not redact.is_plain(self.text[start : min(start + _LINE, end if end >= 0 else len(self.text))]):
                    return True
                at = self.text.find(word, at + len(word), document.end)
            if at >= 0:
                return True
        return False

    def _secret_part(self, word: str, start: int) -> Iterable[tuple[int, int]]:
        """The characters of a word of a message that are a secret value or the beginning of one."""
        bare = word.rstrip(".,:;!?…")
        for part in (bare, bare.partition("=")[2], bare.partition(":")[2]):
            if len(part) < _SHORTEST or part == STARS:
                continue
            at = bisect_left(self.found.words, part)
            known = self.found.words[at] if at < len(self.found.words) else ""
            if known == part or (len(part) >= _LONG and known.startswith(part)):
                offset = start + len(bare) - len(part)
                return ((offset, offset + len(part)),)
        return ()

    def fix(self, fix: Fix, guarded: bool) -> Fix | None:
        """A fix that repeats no secret value: text around one is inserted, and what would have to write one elsewhere is left out."""
        edits: list[Edit] = []
        for edit in fix.edits:
            if self.message(edit.text, guarded) == edit.text and not self._covers(edit):
                edits.append(edit)
                continue
            old = self.text[edit.start : edit.end]
            before, found, after = edit.text.partition(old) if old else ("", "", "")
            if not found and self.message(edit.text, guarded) != edit.text:
                return None
            edits += (Edit(edit.start, edit.start, before), Edit(edit.end, edit.end, after)) if found else (edit,)
        return Fix(self.message(fix.title, guarded), tuple(each for each in edits if each.text or each.end > each.start), fix.safe)

    def _covers(self, edit: Edit) -> bool:
        if self._made is None:
            return False
        at = bisect_left(self.found.starts, edit.end)
        return at > 0 and self.found.spans[at - 1][1] > edit.start


def _words(text: str) -> tuple[str, ...]:
    """The words of a secret value that a message may quote; if there are several, those that are not dictionary words."""
    words = _WORD.findall(text)
    least = _SHORTEST if len(words) == 1 else _LONG
    told = [part for word in words for part in (word, word.rstrip(".,:;!?")) if len(part) >= least]
    # Messages have words of a language in them.
    return tuple(dict.fromkeys(word for word in told if (len(words) == 1 and len(word) >= _LONG) or not _PLAIN_WORD.fullmatch(word)))


@lru_cache(maxsize=1024)
def _words_of_message(text: str) -> tuple[str, ...]:
    return _words(text)


def _is_phrase(text: str) -> bool:
    """Whether a text is distinctive: a message that contains it, even inside a word, quotes it."""
    return len(text) >= (_LONG if _WORD.fullmatch(text) else _SHORTEST) and not _PLAIN_WORD.fullmatch(text)


def _longer(text: str) -> tuple[int, str]:
    return len(text), text


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, those that overlap as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        elif end > start:
            found.append((start, end))
    return found

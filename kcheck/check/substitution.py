"""Replaces variables in the text of a file before it is parsed, as envsubst and Flux (postBuild.substitute) do.

`$NAME` and `${NAME}` become the value of a variable that is known. `${NAME:=default}`, `${NAME:-default}`, `${NAME=default}` and
`${NAME-default}` become the default if the variable is unknown or, with a colon, empty. Everything else remains as it is: other forms,
unknown variables without a default, `$${NAME}` (the escape of Flux), and documents with the annotation
`kustomize.toolkit.fluxcd.io/substitute: disabled`.

All locations refer to the original text: a value that comes from a variable is located at its placeholder. Output may quote values, except
those of variables whose names indicate a credential.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping

from kcheck.kube.credential_names import is_credential
from kcheck.redaction.redact import STARS
from kcheck.text.edit import Edit, apply_edits
from kcheck.text.pattern import pattern
from kcheck.text.source import Source
from kcheck.text.span import Span
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

_VARIABLE = pattern(
    r"\$\$(?:\{[^{}\n]*\})?|\$(?:\{(?P<name>[A-Za-z_]\w*)(?:(?P<operator>:?[-=])(?P<default>[^{}\n]*))?\}|(?P<bare>[A-Za-z_]\w*))"
)
_DISABLED = pattern(r"""kustomize\.toolkit\.fluxcd\.io/substitute["']?:[ ]*["']?disabled""")


_MAX_CHARS = 32 * 1024 * 1024
"""Maximum length of a text with replacements."""


_LONG = 8
"""Length from which a credential is also concealed inside of words."""


class TooLarge(Exception):
    """The text with replacements is too long."""


class Substitution:
    """The variables that are known.

    Attributes:
        variables: values by name.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.variables = variables
        # The longest first, because one may be a part of another.
        secrets = sorted({value for name, value in variables.items() if is_credential(name, value)}, key=lambda value: (-len(value), value))
        self._secret = re.compile("|".join(map(_as_quoted, secrets))) if secrets else None

    def conceal(self, message: str, help: str = "") -> tuple[str, str]:
        """Return a message and its help without the values of variables whose names indicate a credential.

        Help that quotes something is omitted if the message quotes such a value, because it may quote a similar text.
        """
        if self._secret is None:
            return message, help
        shown = self._secret.sub(STARS, message)
        return shown, "" if shown != message and '"' in help else self._secret.sub(STARS, help)

    def parse(self, source: Source) -> list[Document]:
        """Return the documents of a file, with variables replaced and locations in the original text. Raises TooLarge."""
        edits = list(self._edits(source.text)) if "$" in source.text else []
        if not edits:
            return parse(source)
        if len(source.text) + sum(len(edit.text) for edit in edits) > _MAX_CHARS:
            raise TooLarge(f"more than {_MAX_CHARS:,} characters after variables were replaced")
        positions = _Positions(edits)
        documents = parse(Source(source.path, apply_edits(source.text, edits), source.encoding, source.mark))
        for document in documents:
            positions.restore(document, source)
        return documents

    def _edits(self, text: str) -> Iterator[Edit]:
        """Yield the replacements in a text, in order."""
        start = 0
        while start < len(text):
            end = text.find("\n---", start) + 1 or len(text)
            if _DISABLED.search(text, start, end) is None:
                for found in _VARIABLE.finditer(text, start, end):
                    value = self._value(found["name"] or found["bare"] or "", found["operator"] or "", found["default"])
                    if value is not None:
                        yield Edit(found.start(), found.end(), value)
            start = end

    def _value(self, name: str, operator: str, default: str | None) -> str | None:
        """Return the text that replaces a variable, None if it remains as it is."""
        value = self.variables.get(name)
        if default is None or value or (value is not None and not operator.startswith(":")):
            return value
        return default


def _as_quoted(value: str) -> str:
    """Return a pattern of a value in a message: anywhere if it is long, otherwise as a word."""
    escaped = re.escape(value)
    return escaped if len(value) >= _LONG else rf"(?<!\w){escaped}(?!\w)"


class _Positions:
    """Converts offsets in the text with replacements to offsets in the original text."""

    def __init__(self, edits: list[Edit]) -> None:
        self._edits = edits
        self._starts: list[int] = []
        self._ends: list[int] = []
        shift = 0
        for start, end, text in edits:
            self._starts.append(start + shift)
            self._ends.append(start + shift + len(text))
            shift += len(text) - (end - start)
        self._keys: set[int] = set()

    def start(self, offset: int) -> int:
        """Return the original offset of a first character; inside a replacement, the start of its variable."""
        number = bisect_right(self._starts, offset) - 1
        if number < 0:
            return offset
        if offset < self._ends[number]:
            return self._edits[number].start
        return offset - self._ends[number] + self._edits[number].end

    def end(self, offset: int) -> int:
        """Return the original offset after a last character; inside a replacement, the end of its variable."""
        number = bisect_right(self._starts, offset) - 1
        if number < 0:
            return offset
        if offset < self._ends[number]:
            edit = self._edits[number]
            return edit.start if offset == self._starts[number] else edit.end
        return offset - self._ends[number] + self._edits[number].end

    def restore(self, document: Document, source: Source) -> None:
        """Change the offsets of a document to those in the original text."""
        document.source = source
        document.start, document.end, document.body = self.start(document.start), self.end(document.end), self.start(document.body)
        if document.trailing is not None:
            document.trailing = self.start(document.trailing)
        if document.fault is not None:
            fault = document.fault
            document.fault = fault._replace(start=self.start(fault.start), end=max(self.end(fault.end), self.start(fault.start)))
        for node in (document.root, *(each for pair in document.duplicates for each in pair)):
            self._restore_node(node)
        inside = (edit for edit in self._edits if document.start <= edit.start < document.end)
        document.substituted = tuple(Span(edit.start, edit.end) for edit in inside)

    def _restore_node(self, node: Node) -> None:
        if id(node) in self._keys:
            return
        self._keys.add(id(node))
        node.start, node.end = self.start(node.start), self.end(node.end)
        if isinstance(node.key, Node):
            self._restore_node(node.key)
        for child in node:
            self._restore_node(child)

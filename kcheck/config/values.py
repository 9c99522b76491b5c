"""Typed access to the values of a config file. Values of a wrong type are reported."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Literal

from kcheck.kube.suggestions import suggest
from kcheck.text.mistake import Mistake
from kcheck.text.source import Source
from kcheck.text.span import Span
from kcheck.yaml.node import Node


class Values:
    """Reads nodes of one config file. Continues after an error, so that all errors are reported at once."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.mistakes: list[Mistake] = []

    def wrong(self, node: Node, message: str, at: Literal["value", "key"] = "value") -> None:
        """Reports an error at a node; at its key if the node is empty in the source."""
        self.wrong_at(node.key_span if at == "key" or node.end <= node.start else node.span, message)

    def wrong_at(self, span: Span, message: str) -> None:
        line, column = self.source.position(span.start)
        self.mistakes.append(Mistake(self.source.path, line, column, message))

    def place(self, node: Node) -> str:
        """Returns the file and line of an entry, as FILE:LINE."""
        return f"{self.source.path}:{self.source.position(node.key_span.start).line}"

    def position(self, node: Node) -> str:
        """Returns the position of a value, as FILE:LINE:COLUMN."""
        line, column = self.source.position(node.start)
        return f"{self.source.path}:{line}:{column}"

    def entries(self, node: Node, known: Sequence[str]) -> Iterator[tuple[str, Node]]:
        """Yields the entries of a map with known keys and reports the others."""
        for name, child in node.entries:
            if name in known:
                yield name, child
            else:
                self.wrong(child, f"unknown key {quoted(name)}; {suggest(name, known)}", at="key")

    def flag(self, node: Node) -> bool:
        """Returns a boolean; False, with an error reported, for any other value."""
        if node.boolean is None:
            self.wrong(node, f"{node.name} must be true or false, not {shown(node)}")
        return node.boolean is True

    def texts(self, node: Node) -> list[Node]:
        """Returns the strings of a list. A single string counts as a list with one item, null as an empty list."""
        if node.value is None:
            return []
        strings = []
        for each in node.value if node.is_list else [node]:
            if each.text:
                strings.append(each)
            else:
                self.wrong(each, f"{node.name} must be a list of strings, {'but contains' if node.is_list else 'not'} {shown(each)}")
        return strings

    def globs(self, node: Node) -> tuple[str, ...]:
        """Returns globs that are relative to the folder of the config file."""
        for each in (globs := self.texts(node)):
            if ".." in each.text.split("/"):
                self.wrong(each, f"{quoted(each.text)} leaves the folder of this file; globs match files in this folder and below")
        return tuple(each.text for each in globs)


def shown(node: Node) -> str:
    """Returns a value as messages show it."""
    value = node.value
    if node.is_map or node.is_list:
        return "a map" if node.is_map else "a list"
    if value is None or value == "":
        return "an empty value"
    if isinstance(value, bool):
        return str(value).lower()
    return quoted(value) if isinstance(value, str) else str(value)


def quoted(text: str) -> str:
    """Returns a string on one line in double quotes."""
    return json.dumps(text, ensure_ascii=False)

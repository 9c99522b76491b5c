"""Values of a config file: read as the types that are wanted, with a note of each that does not fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from kcheck.config.mistake import Mistake
from kcheck.kube.suggestions import nearest
from kcheck.text.source import Source
from kcheck.text.span import Span
from kcheck.yaml.node import Node


class Values:
    """Reads nodes of one config file; goes on after a mistake, so that all are told at once."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.mistakes: list[Mistake] = []

    def wrong(self, node: Node, message: str, at: Literal["value", "key"] = "value") -> None:
        """Note a mistake at a node; one without characters of its own is shown at its key."""
        self.wrong_at(node.key_span if at == "key" or node.end <= node.start else node.span, message)

    def wrong_at(self, span: Span, message: str) -> None:
        line, column = self.source.position(span.start)
        self.mistakes.append(Mistake(self.source.path, line, column, message))

    def entries(self, node: Node, known: Sequence[str]) -> Iterator[tuple[str, Node]]:
        """The entries of a map with known keys; the others are noted."""
        for name, child in node.entries:
            if name in known:
                yield name, child
            else:
                near = nearest(name, known)
                hint = f"did you mean {near}?" if near else f"known are {', '.join(known)}"
                self.wrong(child, f"unknown key {name!r}: {hint}", at="key")

    def flag(self, node: Node) -> bool:
        """True or false; false where it is neither, which is noted."""
        if node.flag is None:
            self.wrong(node, f"{node.name} is true or false, not {shown(node)}")
        return node.flag is True

    def texts(self, node: Node) -> list[Node]:
        """The texts of a list, or the one that stands for a list of one; nothing is none."""
        if node.value is None:
            return []
        found = []
        for each in node.value if node.is_list else [node]:
            if each.text:
                found.append(each)
            else:
                self.wrong(each, f"{node.name} is a list of texts: {shown(each)} is none")
        return found

    def globs(self, node: Node) -> tuple[str, ...]:
        """Globs relative to the folder of the config file."""
        for each in (found := self.texts(node)):
            if ".." in each.text.split("/"):
                self.wrong(each, f"{each.text!r} leaves the folder of this file: a glob reaches what stands in it and below")
        return tuple(each.text for each in found)


def shown(node: Node) -> str:
    """A value as messages call it."""
    value = node.value
    if node.is_map or node.is_list:
        return "a map" if node.is_map else "a list"
    if value is None or value == "":
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value)

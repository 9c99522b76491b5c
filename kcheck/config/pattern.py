"""Globs of `overrides`, relative to the folder of the config file."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Sequence

_PLAIN = re.compile(r"([^*?\[\]]*)(?:.*[*?\[\]])?([^*?\[\]]*)", re.DOTALL)


class _TrieNode:
    """A place in the globs. `numbers`: of the globs that end here; `loops`: it is a '**', which takes any names.

    The patterns of a name are kept by what it must begin and end with, so that most of them are never tried.
    """

    __slots__ = ("any", "literals", "loops", "numbers", "patterns", "shapes")

    def __init__(self, loops: bool = False) -> None:
        self.loops = loops
        self.numbers: list[int] = []
        self.any: _TrieNode | None = None
        self.literals: dict[str, _TrieNode] = {}
        self.patterns: dict[tuple[str, str], dict[str, tuple[re.Pattern[str], _TrieNode]]] = {}
        self.shapes: set[tuple[int, int]] = set()

    def child(self, part: str) -> _TrieNode:
        """The place behind one part of a glob."""
        if part == "**":
            if self.loops:
                return self
            self.any = self.any or _TrieNode(loops=True)
            return self.any
        plain = _PLAIN.fullmatch(part)
        assert plain is not None
        begin, end = plain[1], plain[2]
        if begin == part:
            return self.literals.setdefault(part, _TrieNode())
        self.shapes.add((len(begin), len(end)))
        found = self.patterns.setdefault((begin, end), {})
        if part not in found:
            found[part] = re.compile(fnmatch.translate(part)), _TrieNode()
        return found[part][1]

    def after(self, name: str) -> Iterator[_TrieNode]:
        """The places behind this one that a name leads to."""
        if self.loops:
            yield self
        literal = self.literals.get(name)
        if literal is not None:
            yield literal
        for begin, end in self.shapes:
            if begin + end <= len(name):
                for pattern, node in self.patterns.get((name[:begin], name[len(name) - end :]), {}).values():
                    if pattern.match(name):
                        yield node


class Globs:
    """Many globs, matched together: the work for a path depends on the globs that begin like it and not on how many there are."""

    def __init__(self, globs: Iterable[tuple[int, str]]) -> None:
        """Globs, each with the number that is given for it; several may have one number."""
        self._root = _TrieNode()
        for number, glob in globs:
            core = glob.rstrip("/").removeprefix("./").removeprefix("/")
            node = self._root
            # As in `exclude`, a glob without '/' means a name at any depth.
            for part in core.split("/") if "/" in glob.rstrip("/") else ["**", core]:
                node = node.child(part)
            node.numbers.append(number)

    def matching(self, path: Sequence[str]) -> set[int]:
        """The numbers of the globs that match the path with these parts, or a folder on the way to it."""
        found: set[int] = set()
        nodes = _reached([self._root])
        for name in path:
            nodes = _reached(after for node in nodes for after in node.after(name))
            for node in nodes:
                found.update(node.numbers)
        return found


def _reached(nodes: Iterable[_TrieNode]) -> list[_TrieNode]:
    """Places, each once, and those behind a '**', which may be no names at all."""
    found: dict[int, _TrieNode] = {}
    for node in nodes:
        found[id(node)] = node
        if node.any is not None:
            found[id(node.any)] = node.any
    return list(found.values())

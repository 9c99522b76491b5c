"""Matching of the globs of `overrides`, relative to the folder of the config file."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Sequence

_PLAIN = re.compile(r"([^*?\[\]]*)(?:.*[*?\[\]])?([^*?\[\]]*)", re.DOTALL)


class _TrieNode:
    """A node of the trie of globs. `numbers`: the globs that end here; `loops`: whether it is a '**', which matches any number of names.

    Patterns are indexed by the prefix and suffix that a name must have, so that most of them are never tried.
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
        """Returns the child node for one part of a glob, and adds it if needed."""
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
        """Yields the nodes that a name leads to from this one."""
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
    """Many globs, matched together: the time for a path depends on the globs that begin like it, not on the number of globs."""

    def __init__(self, globs: Iterable[tuple[int, str]]) -> None:
        """`globs`: pairs of a number and a glob. Several globs may have the same number."""
        self._root = _TrieNode()
        for number, glob in globs:
            core = glob.rstrip("/").removeprefix("./").removeprefix("/")
            node = self._root
            # As in `exclude`, a glob without '/' means a name at any depth.
            for part in core.split("/") if "/" in glob.rstrip("/") else ["**", core]:
                node = node.child(part)
            node.numbers.append(number)

    def matching(self, path: Sequence[str]) -> set[int]:
        """Returns the numbers of the globs that match a path, given as its parts, or one of its parent folders."""
        found: set[int] = set()
        nodes = _reached([self._root])
        for name in path:
            nodes = _reached(after for node in nodes for after in node.after(name))
            for node in nodes:
                found.update(node.numbers)
        return found


def _reached(nodes: Iterable[_TrieNode]) -> list[_TrieNode]:
    """Returns nodes without duplicates, and the children of '**' nodes, as '**' also matches zero names."""
    found: dict[int, _TrieNode] = {}
    for node in nodes:
        found[id(node)] = node
        if node.any is not None:
            found[id(node.any)] = node.any
    return list(found.values())

"""The files that builds read, each read and parsed once, and the space of offsets in which their characters are numbered.

A built object has nodes of several files, and a `Node` has offsets only. So every text gets a separate range of numbers (`Piece.base`):
a node of a built tree says by its `start` both the file and the character. `Library.locate` gives them, and `Library.whole` is a
`Source` in which the offsets are those of the nodes, for code that looks at the text around a node.

A patch inside a kustomization.yaml is a separate piece: its text is parsed without its indentation, and `locate` leads to the
characters in the kustomization.
"""

from __future__ import annotations

import os
import posixpath
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

from kcheck.kustomize.problem import BuildProblem
from kcheck.text.source import Source, Undecodable
from kcheck.yaml.document import Document
from kcheck.yaml.fast.shared_blocks import Repeats
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

Read = Callable[[str], Source | None]
"""Gives the file of a path below the root, None where there is none. Bytes that are not UTF-8 come decoded as latin-1."""

Parse = Callable[[Source], list[Document]]
"""Parses a file. Variables in it may be replaced, but the offsets are those in its text."""

RenderedCharts = Callable[[str, int], list[Source] | None]
"""Gives the texts that the chart of an entry of `helmCharts` renders, by the kustomization and the index of the entry; None if unknown."""

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")


def render_no_chart(path: str, index: int) -> None:
    """Renders no chart."""


class Limits(NamedTuple):
    """What ends a build that would take too long. `work` counts nodes that are copied, visited or merged, over all builds."""

    depth: int = 64
    files: int = 20_000
    characters: int = 200_000_000
    work: int = 8_000_000


class Exhausted(Exception):
    """A limit was reached; its text says which."""


class Spot(NamedTuple):
    """A character of a file."""

    source: Source
    offset: int


class Extent(NamedTuple):
    """Characters of a file."""

    source: Source
    start: int
    end: int


class Piece:
    """A text with a separate range of offsets. `source`: its file; `outer`, `lines`: where it is in another file, if it is part of one.

    `lines` has, in order, the offset of each line of the text and that of the same line in the other file; `clamp` is the range there
    for a text whose lines are not those of the file (quoted or folded scalars).
    """

    __slots__ = ("base", "clamp", "inner", "lines", "outer", "source")

    def __init__(self, base: int, source: Source, outer: Piece | None = None, lines: tuple[list[int], list[int]] | None = None) -> None:
        self.base = base
        self.source = source
        self.outer = outer
        self.lines = lines
        self.clamp = 0
        self.inner: list[Document] | None = None

    def locate(self, offset: int) -> Spot:
        if self.outer is None:
            return Spot(self.source, min(offset, len(self.source.text)))
        if self.lines is None:
            return Spot(self.outer.source, self.clamp)
        inner, outer = self.lines
        line = max(bisect_right(inner, offset) - 1, 0)
        return Spot(self.outer.source, outer[line] + offset - inner[line])


class Library:
    """The files of one root that builds share."""

    def __init__(
        self, read: Read, limits: Limits | None = None, parse: Parse | None = None, charts: RenderedCharts = render_no_chart
    ) -> None:  # fmt: skip
        self.limits = limits or Limits()
        self.work = 0
        self._read = read
        self._parse = parse
        self._render = charts
        self._charts: dict[tuple[str, int], list[Piece] | None] = {}
        self._pieces: list[Piece] = []
        self._bases: list[int] = []
        self._files: dict[str, Piece | None] = {}
        self._inline: dict[int, Piece] = {}
        self._repeats = Repeats()
        self._size = 0
        self._whole: Source | None = None

    def spend(self, work: int) -> None:
        """Count work. Raises Exhausted."""
        self.work += work
        if self.work > self.limits.work:
            raise Exhausted("the builds of this input take too long")

    def load(self, path: str) -> Piece | None:
        """The file of a path below the root, "/" between its parts. Raises Exhausted."""
        path = posixpath.normpath(path)
        if path in self._files:
            return self._files[path]
        if is_outside(path):
            return None
        if len(self._files) >= self.limits.files:
            raise Exhausted(f"more than {self.limits.files:,} files")
        self.spend(20)
        source = self._read(path)
        piece = None if source is None else self._add(source)
        self._files[path] = piece
        return piece

    def kustomization(self, folder: str) -> Piece | None:
        """The kustomization file of a folder."""
        for name in NAMES:
            piece = self.load(posixpath.join(folder, name))
            if piece is not None:
                return piece
        return None

    def chart(self, charts: Node, index: int) -> list[Piece] | None:
        """What the chart of an entry of `helmCharts` renders, None if that is not known. Raises Exhausted."""
        key = self.locate(charts.start).source.path, index
        if key not in self._charts:
            sources = self._render(*key)
            self._charts[key] = None if sources is None else [self._add(each) for each in sources]
        return self._charts[key]

    def documents(self, piece: Piece) -> list[Document]:
        """The documents of a piece, with offsets in its text. They are shared: copy what changes."""
        if piece.inner is None:
            self.spend(len(piece.source.text) // 50)
            # The text of an inline patch was parsed as a part of its file.
            if self._parse is None or piece.outer is not None:
                piece.inner = parse(piece.source, self._repeats)
            else:
                piece.inner = self._parse(piece.source)
        return piece.inner

    def inline(self, scalar: Node) -> Piece:
        """The text of a scalar as a piece. The scalar has offsets of the library."""
        found = self._inline.get(scalar.start)
        if found is not None and found.source.text == scalar.text:
            return found
        holder = self.piece_at(scalar.start)
        start, end = scalar.start - holder.base, scalar.end - holder.base
        lines = _lines(scalar.text, holder.source.text, start, end) if scalar.style == "|" else None
        piece = self._add(Source(holder.source.path, scalar.text), holder, lines)
        piece.clamp = start
        self._inline[scalar.start] = piece
        return piece

    def piece_at(self, offset: int) -> Piece:
        """The piece that an offset belongs to."""
        return self._pieces[max(bisect_right(self._bases, offset) - 1, 0)]

    def locate(self, offset: int) -> Spot:
        """The file and the character of an offset."""
        piece = self.piece_at(offset)
        return piece.locate(offset - piece.base)

    def extent(self, start: int, end: int) -> Extent:
        """The file and the characters of a range of offsets.

        Where the end is in another file than the start (a key of one and its value of another), the range is empty.
        """
        piece = self.piece_at(start)
        source, first = piece.locate(start - piece.base)
        if not piece.base <= start <= end <= piece.base + len(piece.source.text):
            return Extent(source, first, first)
        return Extent(source, first, max(piece.locate(end - piece.base).offset, first))

    def document_index(self, offset: int) -> int:
        """Return the index of the document at an offset in its file."""
        piece = self.piece_at(offset)
        while piece.outer is not None:
            piece = piece.outer
        at = self.locate(offset).offset
        return next((each.index for each in piece.inner or () if each.start <= at <= each.end), 0)

    def document(self, root: Node) -> Document:
        """A built object as a document whose text is `whole`, for code that checks documents. Make it once all builds are done."""
        return Document(self.whole, 0, root.start, root.end, root)

    @property
    def whole(self) -> Source:
        """All texts in one, with the offsets of the nodes."""
        if self._whole is None:
            self._whole = Source("", "\n".join(piece.source.text for piece in self._pieces))
        return self._whole

    def describe(self, problem: BuildProblem) -> str:
        """A problem as one line, for people."""
        source, offset = self.locate(problem.start)
        line, column = source.position(offset)
        return f"{source.path}:{line}:{column}: {problem.kind}: {problem.message}"

    def _add(self, source: Source, outer: Piece | None = None, lines: tuple[list[int], list[int]] | None = None) -> Piece:
        base = self._size
        self._size += len(source.text) + 1
        if self._size > self.limits.characters:
            raise Exhausted(f"more than {self.limits.characters:,} characters in the files of builds")
        piece = Piece(base, source, outer, lines)
        self._pieces.append(piece)
        self._bases.append(base)
        self._whole = None
        return piece


def _lines(text: str, file: str, start: int, end: int) -> tuple[list[int], list[int]] | None:
    """The positions of the lines of a literal block scalar in its file, or None if they are not found."""
    inner, outer = [0], []
    at = file.find("\n", start, end) + 1
    rest = text.split("\n")
    for line in rest:
        stop = file.find("\n", at)
        stop = len(file) if stop < 0 else stop
        place = stop - len(line)
        if place < at or file[place:stop] != line:
            # A carriage return, or more whitespace than the text has: the line begins at its first word.
            place = file.find(line.strip(), at, stop + 1) - (len(line) - len(line.lstrip()))
        if place < 0:
            return None
        outer.append(place)
        inner.append(inner[-1] + len(line) + 1)
        at = min(stop + 1, len(file))
    inner.pop()
    return inner, outer


def is_outside(path: str) -> bool:
    """Whether a normal path leads out of the root."""
    return path == ".." or path.startswith(("../", "/"))


def reader(root: str, most: int = 32 * 1024 * 1024) -> Read:
    """Reads files of a folder, no larger than `most` bytes. Links that lead out of the folder are not followed."""
    top = os.path.realpath(root)

    def read(path: str) -> Source | None:
        try:
            full = os.path.realpath(os.path.join(top, path))
            if os.path.commonpath((full, top)) != top or not os.path.isfile(full) or os.path.getsize(full) > most:
                return None
            with open(full, "rb") as file:
                data = file.read()
        except (OSError, ValueError):
            return None
        shown = os.path.normpath(os.path.join(root, path))
        try:
            return Source.decode(shown, data)
        except Undecodable:
            return Source(shown, data.decode("latin-1"), "latin-1")

    return read

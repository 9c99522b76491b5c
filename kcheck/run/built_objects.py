"""The objects that the kustomizations of an input deploy, as facts with locations in the files that they come from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from typing import Any

from kcheck.check.document import facts_of_documents
from kcheck.check.session import Session
from kcheck.facts.facts import Facts
from kcheck.kube.location import Location
from kcheck.kustomize.build import Build, KustomizationBuilder
from kcheck.kustomize.library import Library, Read, reader
from kcheck.repository.units import Builds, BuiltUnit
from kcheck.schema.store import Store
from kcheck.text.source import Source, Undecodable
from kcheck.text.span import Range


def build_kustomizations(session: Session, kustomizations: Mapping[str, str], paths: Iterable[str], texts: Mapping[str, bytes]) -> Builds:
    """Return the builds of kustomizations.

    Args:
        session: The session that extracts facts.
        kustomizations: The files of the kustomizations by their folders.
        paths: The files of the input.
        texts: Contents that replace those of files.
    """
    paths = list(paths)
    # Paths of kustomizations lead out of their folder, but not out of the repository or the folder that contains the input.
    root = _root(paths)
    read = _BuildReader(root, paths, texts)
    library = Library(read)
    builder = KustomizationBuilder(library)
    builds = {folder: builder.build(os.path.relpath(folder, root).replace(os.sep, "/")) for folder in kustomizations}
    extraction = _Extraction(session, library)
    units = {}
    for folder, build in builds.items():
        if build.objects:
            is_renamed = any(name != each.name for each in build.objects for name, _, _ in each.previous)
            units[folder] = BuiltUnit(extraction.facts_of(build, kustomizations[folder]), build.complete, is_renamed)
    return Builds(units, tuple(read.digests.items()))


def is_unchanged(reads: Iterable[tuple[str, str]], texts: Mapping[str, bytes]) -> bool:
    """Return whether all files that builds read have the same content as then."""
    return all(_digest(_content(path, texts)) == digest for path, digest in reads)


def _content(path: str, texts: Mapping[str, bytes]) -> bytes | None:
    if path in texts:
        return texts[path]
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError):
        return None


def _digest(content: bytes | None) -> str:
    return "" if content is None else hashlib.sha256(content).hexdigest()


def _root(paths: list[str]) -> str:
    """Return the repository that contains all files, otherwise the working folder or the innermost folder that does."""
    here = os.getcwd()
    try:
        common = os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in paths])
        outer = here if os.path.commonpath([common, here]) == here else common
    except ValueError:
        # Different drives.
        return here
    folder = outer
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return outer
        folder = above
    return folder


class _BuildReader:
    """Reads files for a library: those of the input under their paths in the input, and with their content in memory, if any."""

    def __init__(self, root: str, paths: Iterable[str], texts: Mapping[str, bytes]) -> None:
        self.digests: dict[str, str] = {}
        self._root = root
        self._read: Read = reader(root)
        self._shown = {os.path.abspath(path): path for path in paths}
        self._texts = texts

    def __call__(self, path: str) -> Source | None:
        full = os.path.join(self._root, *path.split("/"))
        shown = self._shown.get(full) or os.path.relpath(full).replace(os.sep, "/")
        content = self._texts.get(shown)
        if content is not None:
            self.digests[shown] = _digest(content)
            try:
                return Source.decode(shown, content)
            except Undecodable:
                return None
        source = self._read(path)
        self.digests[shown] = "" if source is None else _digest(_content(full, {}))
        if source is not None:
            source.path = shown
        return source


class _Extraction:
    """Extracts the facts of built objects."""

    def __init__(self, session: Session, library: Library) -> None:
        self._library = library
        # Without the kinds that the input defines: whether they are known in this process depends on the number of processes.
        store = Store(session.stores[-1].definitions)
        store.pods = session.stores[-1].pods
        self._rules_for = session.rules_for
        self._session = Session(session.registry, session.rules, [store])
        self._moved: dict[tuple[int, Range], tuple[str, int, Range, int]] = {}

    def facts_of(self, build: Build, file: str) -> list[Facts]:
        """Return the facts of the objects of a build. `file`: the kustomization."""
        documents = [self._library.document(each.node) for each in build.objects]
        return [self._relocated(f) for f in facts_of_documents(documents, self._session, self._rules_for(file))]

    def _relocated(self, value: Any) -> Any:
        """Return a value in which locations in the texts of the library are replaced by those in files."""
        if isinstance(value, Location):
            return self._location(value)
        if isinstance(value, tuple):
            items = [self._relocated(each) for each in value]
            if all(one is other for one, other in zip(items, value, strict=True)):
                return value
            return type(value)._make(items) if hasattr(value, "_make") else tuple(items)
        if isinstance(value, Facts):
            return Facts(*map(self._relocated, value.__reduce__()[1]))
        if isinstance(value, dict):
            return {key: self._relocated(each) for key, each in value.items()}
        return value

    def _location(self, place: Location) -> Location:
        key = place.start, place.range
        moved = self._moved.get(key)
        if moved is None:
            moved = self._moved[key] = self._move(*key)
        file, document, range, start = moved
        # An inline patch is indented in its file.
        line = " " * (range.column - place.range.column) + place.line
        return Location(file, document, range, place.field, place.object, line, start)

    def _move(self, start: int, range: Range) -> tuple[str, int, Range, int]:
        source, offset = self._library.locate(start)
        position = source.position(offset)
        lines = range.end_line - range.line
        end = range.end_column + (position.column - range.column if not lines else 0)
        moved = Range(position.line, position.column, position.line + lines, end)
        return source.path, self._library.document_index(start), moved, offset

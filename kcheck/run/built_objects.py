"""The objects that the kustomizations of an input deploy: their facts and findings, with locations in the files that they come from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kcheck.check.document import check_objects
from kcheck.check.session import Session
from kcheck.discovery.load import LIMIT
from kcheck.facts.facts import Facts
from kcheck.finding.finding import Finding
from kcheck.kube.location import Location
from kcheck.kustomize.build import Build, KustomizationBuilder
from kcheck.kustomize.library import Library, Read, reader
from kcheck.repository.units import Builds, BuiltUnit
from kcheck.rule.ruleset import RuleSet
from kcheck.schema.store import Store
from kcheck.text.source import Source, Undecodable
from kcheck.text.span import Range
from kcheck.yaml.node import Node


def build_kustomizations(
    session: Session,
    kustomizations: Mapping[str, str],
    paths: Iterable[str],
    texts: Mapping[str, bytes],
    rules_for: Callable[[str], RuleSet],
) -> Builds:
    """Return the builds of kustomizations.

    Args:
        session: The session that checks the objects.
        kustomizations: The files of the kustomizations by their folders.
        paths: The files of the input.
        texts: Contents that replace those of files.
        rules_for: Returns the rules that apply to a file.
    """
    paths = list(paths)
    # Paths of kustomizations lead out of their folder, but not out of the repository or the folder that contains the input.
    root = _root(paths)
    read = _BuildReader(root, paths, texts)
    library = Library(read)
    builder = KustomizationBuilder(library)
    builds = {folder: builder.build(os.path.relpath(folder, root).replace(os.sep, "/")) for folder in kustomizations}
    check = _BuildCheck(session, library, rules_for)
    units = {}
    for folder, build in builds.items():
        if build.objects:
            is_renamed = any(name != each.name for each in build.objects for name, _, _ in each.previous)
            facts, findings, documents = check.check_build(build, kustomizations[folder])
            units[folder] = BuiltUnit(facts, build.complete, is_renamed, findings, documents)
    return Builds(units, tuple(read.digests.items()))


def is_unchanged(reads: Iterable[tuple[str, str]], texts: Mapping[str, bytes]) -> bool:
    """Return whether all files that builds read have the same content as then."""
    return all(_digest(_content(path, texts)) == digest for path, digest in reads)


def _content(path: str, texts: Mapping[str, bytes]) -> bytes | None:
    if path in texts:
        return texts[path]
    try:
        # The path may come from a cache: only a regular file of a size that is read otherwise, too, is opened.
        if not os.path.isfile(path) or os.path.getsize(path) > LIMIT:
            return None
        with open(path, "rb") as file:
            return file.read(LIMIT + 1)
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


class _BuildCheck:
    """Checks built objects."""

    def __init__(self, session: Session, library: Library, rules_for: Callable[[str], RuleSet]) -> None:
        self._library = library
        # Without the kinds that the input defines: whether they are known in this process depends on the number of processes.
        self._stores = {id(each): Store(each.definitions) for each in session.all_stores}
        for known in session.all_stores:
            self._stores[id(known)].pods = known.pods
        stores = list(self._stores.values())
        self._rules_for = rules_for
        self._stores_for = session.stores_for
        self._session = Session(session.registry, session.rules, stores, judges_placeholders=session.judges_placeholders)
        self._moved: dict[tuple[int, Range], tuple[str, int, Range, int]] = {}

    def check_build(self, build: Build, file: str) -> tuple[list[Facts], tuple[Finding, ...], frozenset[tuple[str, int]]]:
        """Return the facts and findings of the objects of a build, and the documents of built-in kinds that they were made from.

        `file`: the kustomization.
        """
        facts: list[Facts] = []
        findings: list[Finding] = []
        documents = set()
        stores = [self._stores[id(each)] for each in self._stores_for(file)]
        for each in build.objects:
            origin = self._library.locate(each.origin.start).source.path
            result = check_objects(self._library.document(each.node), self._session, self._rules_for(origin), self._rules_for(file), stores)
            facts += map(self._relocated, result.facts)
            node = each.node
            if not each.generated and self._is_builtin(node):
                documents.add((origin, self._library.document_index(each.origin.start)))
                findings += (self._relocated(found._replace(fix=None)) for found in result.findings)
        return facts, tuple(findings), frozenset(documents)

    def _is_builtin(self, node: Node) -> bool:
        """Whether the kind of an object is built into one of the Kubernetes versions of the run."""
        api_version, kind = node["apiVersion"].text, node["kind"].text
        return any(store.builtin(api_version, kind) is not None for store in self._session.stores)

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

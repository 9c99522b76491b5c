"""The objects that the kustomizations of an input deploy: their facts and findings, with locations in the files that they come from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from kcheck.check.document import check_objects
from kcheck.check.input_kinds import (
    CRD_MARKER,
    InputDefinitions,
    InputKind,
    KindPlace,
    has_definition,
    make_input_kinds,
    register_kinds,
)
from kcheck.check.session import Session
from kcheck.discovery.load import LIMIT
from kcheck.facts.facts import Facts
from kcheck.finding.finding import Finding
from kcheck.finding.report import SkippedFile
from kcheck.kube.location import Location
from kcheck.kustomize.build import Build, KustomizationBuilder
from kcheck.kustomize.library import Exhausted, Library, Read, RenderedCharts, reader, render_no_chart
from kcheck.kustomize.remote import downloads
from kcheck.redaction import redact
from kcheck.repository.units import Builds, BuiltUnit
from kcheck.rule.ruleset import RuleSet
from kcheck.schema.store import Judge, Store
from kcheck.text.source import Source, Undecodable
from kcheck.text.span import Range
from kcheck.workers.workers import default_jobs
from kcheck.yaml.document import Document
from kcheck.yaml.fast.shared_blocks import Repeats
from kcheck.yaml.node import Node


def build_kustomizations(
    session: Session,
    kustomizations: Mapping[str, str],
    paths: Iterable[str],
    texts: Mapping[str, bytes],
    rules_for: Callable[[str], RuleSet],
    kinds: Mapping[str, Sequence[KindPlace]],
) -> Builds:
    """Return the builds of kustomizations.

    Args:
        session: The session that checks the objects.
        kustomizations: The files of the kustomizations by their folders.
        paths: The files of the input.
        texts: Contents that replace those of files.
        rules_for: Returns the rules that apply to a file.
        kinds: The kinds that the input defines for all objects, by their files.
    """
    paths = list(paths)
    root = _root(paths)
    read = _BuildReader(root, paths, texts)
    charts = _ChartReader({} if session.charts is None else session.charts.of_kustomizations, read.digests)
    library, builds = _model_builds(session, kustomizations, root, read, charts)
    failures: list[SkippedFile] = []
    if session.kustomize:
        builds, failures = _rendered(session, builds, library, root, kustomizations)
    check = _BuildCheck(session, library, rules_for)
    check.add_kinds(
        _read_kinds(kinds, builds.values(), read), {(each.api_version, each.kind) for places in kinds.values() for each in places}
    )
    units = {}
    for folder, build in builds.items():
        if build.objects:
            is_renamed = any(name != each.name for each in build.objects for name, _, _ in each.previous)
            facts, findings, documents = check.check_build(build, kustomizations[folder])
            units[folder] = BuiltUnit(facts, build.complete, is_renamed, findings, documents)
    remote = tuple(_remote_entries(builds.values(), library))
    return Builds(units, tuple(read.digests.items()), remote, tuple(failures), frozenset(charts.used))


def model_builds(
    session: Session, kustomizations: Iterable[str], paths: Iterable[str], texts: Mapping[str, bytes]
) -> tuple[Library, dict[str, Build]]:
    """Return the builds of kustomizations by their folders, and the library of their files. `paths`: the files of the input."""
    paths = list(paths)
    root = _root(paths)
    return _model_builds(session, kustomizations, root, _BuildReader(root, paths, texts))


def _model_builds(
    session: Session, kustomizations: Iterable[str], root: str, read: _BuildReader, charts: RenderedCharts = render_no_chart
) -> tuple[Library, dict[str, Build]]:  # fmt: skip
    library = Library(read, parse=None if session.substitution is None else session.substitution.parse, charts=charts)
    builder = KustomizationBuilder(library)
    # Paths of kustomizations lead out of their folder, but not out of the repository or the folder that contains the input.
    return library, {folder: builder.build(os.path.relpath(folder, root).replace(os.sep, "/")) for folder in kustomizations}


def _rendered(
    session: Session, builds: Mapping[str, Build], library: Library, root: str, kustomizations: Mapping[str, str]
) -> tuple[dict[str, Build], list[SkippedFile]]:
    """Return the builds of kustomize, and the kustomizations that it cannot build.

    For these, and for kustomizations with remote entries, our builds remain.

    `root`: the folder that the paths of builds start from.
    """
    # Imported on first use: few runs have --render.
    from concurrent.futures import ThreadPoolExecutor

    from kcheck.kustomize.program import RenderingFailed, render
    from kcheck.kustomize.rendering import RenderedBuild

    parse = None if session.substitution is None else session.substitution.parse
    result, failures = dict(builds), []
    with ThreadPoolExecutor(default_jobs()) as pool:
        local = {folder: build for folder, build in builds.items() if not _may_download(build, library)}
        outputs = {folder: pool.submit(render, session.kustomize, os.path.join(root, build.folder)) for folder, build in local.items()}
        for folder, output in outputs.items():
            try:
                result[folder] = RenderedBuild(library, root, local[folder], output.result(), parse).build()
            except (RenderingFailed, Exhausted) as error:
                failures.append(SkippedFile(kustomizations[folder], redact.message(str(error))))
    return result, failures


def _may_download(build: Build, library: Library) -> bool:
    """Return whether kustomize might download something for a build. It renders charts only if it may download them."""
    pieces = [library.kustomization(folder) for folder in build.reads]
    documents = [document for piece in pieces if piece is not None for document in library.documents(piece)]
    # The entries of a kustomization that does not parse are unknown.
    return any(problem.kind == "remote" for problem in build.problems) or any(
        document.fault is not None or document.root["helmCharts"] or next(downloads(document.root), None) is not None
        for document in documents
    )


def _remote_entries(builds: Iterable[Build], library: Library) -> Iterator[SkippedFile]:
    """Yield the entries of kustomizations that kustomize downloads."""
    found = (problem for build in builds for problem in build.problems if problem.kind == "remote")
    # Several overlays may have one base.
    for problem in dict.fromkeys(found):
        yield SkippedFile(library.locate(problem.start).source.path, redact.message(problem.message))


def _read_kinds(kinds: Mapping[str, Sequence[KindPlace]], builds: Iterable[Build], read: _BuildReader) -> list[InputKind]:
    """Return the kinds of the objects of builds that the input defines. Definitions that have changed meanwhile are left out."""
    wanted = {(each.node["apiVersion"].text, each.node["kind"].text) for build in builds for each in build.objects}
    found: list[InputKind] = []
    for number, (path, places) in enumerate(kinds.items()):
        if wanted.isdisjoint((place.api_version, place.kind) for place in places):
            continue
        source = read.input_file(path)
        if source is not None:
            found += make_input_kinds(number, source, [place for place in places if has_definition(source, place)])
    return found


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

    def input_file(self, path: str) -> Source | None:
        """Return a file of the input."""
        content = _content(path, self._texts)
        self.digests[path] = _digest(content)
        try:
            return None if content is None else Source.decode(path, content)
        except Undecodable:
            return None

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


class _ChartReader:
    """Gives the rendered charts of kustomizations to a library, and remembers their digests and which texts were `used`."""

    def __init__(self, charts: Mapping[tuple[str, int], Mapping[str, str]], digests: dict[str, str]) -> None:
        self.used: set[str] = set()
        self._charts = charts
        self._digests = digests

    def __call__(self, path: str, index: int) -> list[Source] | None:
        texts = self._charts.get((path, index))
        if texts is None:
            return None
        self.used.update(texts)
        self._digests.update((name, _digest(text.encode("utf-8", "surrogatepass"))) for name, text in texts.items())
        return [Source(name, text) for name, text in texts.items()]


def _defined_kinds(store: Store, documents: Sequence[Document]) -> dict[tuple[str, str], Judge]:
    """Return the kinds that the CustomResourceDefinitions of a build define."""
    if not documents:
        return {}
    # Imported on first use: few builds contain definitions.
    from kcheck.schema.crd.definitions import definitions

    return {(each.version.api_version, each.version.kind): each for each in definitions(store, documents)}


class _BuildCheck:
    """Checks built objects."""

    def __init__(self, session: Session, library: Library, rules_for: Callable[[str], RuleSet]) -> None:
        self._library = library
        # Which kinds of the input the stores of the session contain depends on the number of processes.
        self._stores = {id(each): Store(each.definitions) for each in session.all_stores}
        for known in session.all_stores:
            store = self._stores[id(known)]
            store.pods, store.catalogs = known.pods, known.catalogs
        stores = list(self._stores.values())
        self._missing: set[tuple[str, str]] = set()
        self._rules_for = rules_for
        self._stores_for = session.stores_for
        self._session = Session(session.registry, session.rules, stores, judges_placeholders=session.judges_placeholders)
        self._session.policies = session.policies
        self._moved: dict[tuple[int, Range], tuple[str, int, Range, int]] = {}

    def add_kinds(self, kinds: Sequence[InputKind], defined: Collection[tuple[str, str]]) -> None:
        """Register kinds that the input defines. `defined`: the names of all of them, also of those that could not be read."""
        register_kinds(self._session.stores, kinds, InputDefinitions(Repeats()))
        self._missing = set(defined) - {(each.api_version, each.kind) for each in kinds}

    def _knows(self, node: Node) -> bool:
        """Return whether an object is judged by the same definitions as in its file."""
        key = node["apiVersion"].text, node["kind"].text
        return key not in self._missing or self._session.stores[-1].added(*key) is not None

    def check_build(self, build: Build, file: str) -> tuple[list[Facts], tuple[Finding, ...], frozenset[tuple[str, int]]]:
        """Return the facts and findings of the objects of a build, and the documents that they were made from.

        `file`: the kustomization.
        """
        facts: list[Facts] = []
        findings: list[Finding] = []
        documents = set()
        definers = [self._library.document(each.node) for each in build.objects if each.node["kind"].text == CRD_MARKER]
        for store in self._session.stores:
            store.use_unit_kinds(_defined_kinds(store, definers))
        stores = [self._stores[id(each)] for each in self._stores_for(file)]
        for each in build.objects:
            origin = self._library.locate(each.origin.start).source.path
            result = check_objects(self._library.document(each.node), self._session, self._rules_for(origin), self._rules_for(file), stores)
            facts += map(self._relocated, result.facts)
            if self._knows(each.node):
                if not each.generated:
                    documents.add((origin, self._library.document_index(each.origin.start)))
                findings += (self._relocated(found._replace(fix=None)) for found in result.findings)
        return facts, tuple(findings), frozenset(documents)

    def _relocated(self, value: Any) -> Any:
        """Return a value in which locations in the texts of the library are replaced by those in files."""
        if isinstance(value, Location):
            # The places of policies are in files.
            return value if value.file else self._location(value)
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

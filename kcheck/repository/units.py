"""The deployment units of an input: which objects are applied together.

Rules across objects compare the objects of one unit. Objects of different units may belong to different clusters, to alternatives of which
one is applied, or to tests that run one after the other.

In this order, a file belongs to
- each kustomization that lists it, directly or through others, and that no other kustomization lists,
- the chart whose templates or CRDs it is one of,
- the source path of an Argo CD Application or Flux Kustomization,
- its folder, if the folder is applied as a whole, or otherwise the files of the folder that refer to one another.

A folder is not applied as a whole if an object occurs in two of its files, if file names are those of test cases, or if it is a folder of
examples or tests.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property

from kcheck.facts.facts import Facts
from kcheck.facts.unit import INPUT, Unit
from kcheck.finding.finding import Finding
from kcheck.finding.report import SkippedFile
from kcheck.text.pattern import name_pattern
from kcheck.text.record import NamedTuple

FactsByFile = Sequence[tuple[str, Sequence[Facts]]]

_CHART_FILE = "Chart.yaml"
_CHART_FOLDERS = ("templates", "crds")
_FLUX = "kustomize.toolkit.fluxcd.io"
_MAX_MEMBERS = 100_000
"""Files of all kustomizations together, counted once per kustomization. Further kustomizations are not units."""
_MAX_SHARED = 10
"""Alternatives that a file may belong to."""
_MAX_SELECTED = 100
"""Pods with a label that are examined for one selector."""

# Folders whose files are independent of each other.
_INDEPENDENT = name_pattern(
    r"(?:.*[-_.])?(?:examples?|samples?|tests?|testdata|test-?cases?|fixtures?|e2e|snippets?|recipes?|templates|testing|mocks?|docs?)", re.I
)
# Files of test cases: inputs and expected results, and steps with the same number.
_TEST_FILE = name_pattern(r"(?:.*[-_.])?(?:golden|input|output|expected|actual|assert|errors?)\.(?:ya?ml|json)", re.I)
_STEP = name_pattern(r"(\d+)[-_].+")


class UnitFiles(NamedTuple):
    """A unit with its files, in input order."""

    unit: Unit
    files: tuple[str, ...]


class BuiltUnit(NamedTuple):
    """The facts of the objects of a kustomization.

    Attributes:
        facts: the facts, with locations in the files that the values come from.
        is_whole: whether they are all that is deployed, as it is deployed.
        is_renamed: whether the kustomization changes names, so that a name of a deployed object must not be written into a file.
        findings: the findings of rules about single objects in the built objects, at the places that the values come from.
        documents: the documents that the objects were made from, as (file, index).
    """

    facts: list[Facts]
    is_whole: bool
    is_renamed: bool
    findings: tuple[Finding, ...] = ()
    documents: frozenset[tuple[str, int]] = frozenset()


class Builds(NamedTuple):
    """The builds of the kustomizations of an input.

    Attributes:
        units: the builds by the folder of their kustomization; without builds that yield no objects because of a problem.
        reads: the files that the builds read or looked for, each with a digest of its content, "" for a file that does not exist.
        remote: the kustomizations with entries that kustomize downloads, which are not seen.
        failures: the kustomizations that kustomize cannot build, with its messages; only if it builds them.
        charts: the texts of rendered charts that the builds contain, by path.
    """

    units: Mapping[str, BuiltUnit]
    reads: tuple[tuple[str, str], ...] = ()
    remote: tuple[SkippedFile, ...] = ()
    failures: tuple[SkippedFile, ...] = ()
    charts: frozenset[str] = frozenset()


class Units:
    """The deployment units of an input.

    Attributes:
        all: the units; a file may be in several kustomizations.
        by_file: for each file, its unit; for a file of several kustomizations, the kustomization that lists it.
        kustomizations: the files of the kustomizations that are units, by folder.
    """

    def __init__(self, all: list[UnitFiles], by_file: Mapping[str, Unit], kustomizations: Mapping[str, str]) -> None:
        self.all = all
        self.by_file = by_file
        self.kustomizations = kustomizations


def find_units(
    facts_by_file: FactsByFile,
    complete: Callable[[str], int | None] = lambda file: None,
    partial_folders: Collection[str] = (),
    renderings: Iterable[tuple[Unit, Sequence[str]]] = (),
) -> Units:
    """Return the units of an input.

    Args:
        facts_by_file: The files of the input with the facts of their objects.
        complete: Returns a number that is equal for all files that together contain all objects of a cluster, None for other files. All
            objects of such files that are in no kustomization form one unit.
        partial_folders: Normalized paths of folders of which the input contains only some files.
        renderings: The units of rendered charts, with their files.
    """
    return UnitFinder(facts_by_file, partial_folders).find(complete, renderings)


class UnitFinder:
    """Divides an input into units. See the documentation of the module."""

    def __init__(self, facts_by_file: FactsByFile, partial_folders: Collection[str] = ()) -> None:
        self.partial_folders = partial_folders
        self.facts: dict[str, Sequence[Facts]] = {}
        self.paths: dict[str, str] = {}
        self.by_folder: dict[str, list[str]] = defaultdict(list)
        # A folder is normalized once for all its files.
        folders: dict[str, str] = {}
        for path, facts in facts_by_file:
            above, _, name = path.rpartition("/")
            if above not in folders:
                folders[above] = _folder(posixpath.normpath(path))
            folder = folders[above]
            self.paths.setdefault(name if folder == "." else f"{folder.rstrip('/')}/{name}", path)
            self.facts.setdefault(path, facts)
            self.by_folder[folder].append(path)
        self.kustomizations = {
            posixpath.normpath(f.id.name): f for facts in self.facts.values() for f in facts if f.kustomization is not None
        }
        self.sorted_folders = sorted(self.by_folder)
        self.top = _common_folder(self.by_folder)
        self.all: list[UnitFiles] = []
        self.by_file: dict[str, Unit] = {}

    def find(self, complete: Callable[[str], int | None], renderings: Iterable[tuple[Unit, Sequence[str]]] = ()) -> Units:
        for unit, files in renderings:
            self.add(unit, [file for file in files if file in self.facts])
        deliveries = self.delivered_folders()
        self.add_kustomizations(deliveries)
        parts: dict[int, list[str]] = defaultdict(list)
        for file in self.remaining(self.facts):
            if (number := complete(file)) is not None:
                parts[number].append(file)
        for files in parts.values():
            whole = INPUT if len(parts) == 1 and not self.remaining(self.facts.keys() - files) else None
            self.add(whole or Unit("input", _common_folder(map(_folder, files))), files)
        if self.remaining(self.facts):
            self.add_charts()
            for folder, is_recursive in sorted(deliveries.items()):
                if folder not in self.kustomizations:
                    self.add_application(folder, is_recursive)
            for folder in self.sorted_folders:
                self.add_folder(folder)
        roots = [unit.path for unit, _ in self.all if unit.kind == "kustomization"]
        return Units(self.all, self.by_file, {folder: self.kustomizations[folder].place.file for folder in roots})

    def remaining(self, files: Iterable[str]) -> list[str]:
        """Return the files with objects that are in no unit yet."""
        return [file for file in files if file not in self.by_file and self.facts[file]]

    def add(self, unit: Unit, files: Sequence[str]) -> None:
        """Add a unit, unless it has no files."""
        if files:
            self.all.append(UnitFiles(unit, tuple(files)))
            for file in files:
                self.by_file.setdefault(file, unit)

    def add_kustomizations(self, deliveries: Mapping[str, bool]) -> None:
        """Add the builds that are deployed: no other kustomization lists them, or an Application names them."""
        listed = {path for f in self.kustomizations.values() if f.kustomization for path in f.kustomization.resources}
        members = 0
        found: list[UnitFiles] = []
        listing: dict[str, list[Unit]] = defaultdict(list)
        for folder, f in sorted(self.kustomizations.items()):
            if f.id.kind == "Component" or (folder in listed and folder not in deliveries):
                continue
            files = self.files_of_build(folder)
            members += len(files)
            if members > _MAX_MEMBERS:
                break
            unit = Unit("kustomization", folder)
            found.append(UnitFiles(unit, tuple(files)))
            for file, owner in files.items():
                listing[file].append(Unit("kustomization", owner))
        for each in found:
            self.all.append(each)
            for file in each.files:
                self.by_file.setdefault(file, each.unit if len(listing[file]) == 1 else listing[file][0])

    def files_of_build(self, root: str) -> dict[str, str]:
        """Return the files of a build, each with the folder of the kustomization that lists it."""
        files: dict[str, str] = {}
        seen, todo = {root}, [root]
        while todo:
            folder = todo.pop()
            f = self.kustomizations[folder]
            assert f.kustomization is not None
            files.setdefault(f.place.file, folder)
            for path in sorted(f.kustomization.resources | f.kustomization.patches):
                if path in self.paths:
                    files.setdefault(self.paths[path], folder)
                elif path in self.kustomizations and path not in seen:
                    seen.add(path)
                    todo.append(path)
        return files

    def delivered_folders(self) -> dict[str, bool]:
        """Return the folders of the input that an Application or Flux Kustomization names, each with whether subfolders belong to it."""
        found: dict[str, bool] = {}
        for facts in self.facts.values():
            for f in facts:
                for origin in f.delivery.origins if f.delivery is not None else ():
                    folder = self.folder_in_input(origin.path, f.folder)
                    if folder is not None:
                        found[folder] = found.get(folder, False) or f.group == _FLUX
        return found

    def folder_in_input(self, path: str, start: str) -> str | None:
        """Return the folder that a path in the repository of a file means, None if the input does not contain it."""
        path = posixpath.normpath(path.strip("/")) if path.strip("/.") else ""
        if not path:
            return None
        above = posixpath.normpath(start)
        candidates = [path]
        while above not in (".", "/", ""):
            candidates.append(posixpath.normpath(posixpath.join(above, path)))
            above = posixpath.dirname(above)
        # The root of the repository is above the file, as far up as possible.
        ordered = [candidates[0], *reversed(candidates[1:])]
        return next((each for each in ordered if each in self.by_folder or each in self.kustomizations), None)

    def add_charts(self) -> None:
        """Add the templates and CRDs of each chart that can be read without rendering it."""
        found: dict[str, list[str]] = defaultdict(list)
        for folder, files in self.by_folder.items() if self.charts else ():
            chart = self.chart_of(folder)
            if chart is not None:
                found[chart] += self.remaining(files)
        for chart, files in sorted(found.items()):
            self.add(Unit("chart", chart), files)

    @cached_property
    def charts(self) -> frozenset[str]:
        """The folders of charts."""
        return frozenset(
            folder for folder, files in self.by_folder.items() if any(file.rpartition("/")[2] == _CHART_FILE for file in files)
        )

    def chart_of(self, folder: str) -> str | None:
        """Return the innermost chart that a folder contains templates or CRDs of."""
        parts = folder.split("/") if self.charts else []
        for end in range(len(parts) - 1, -1, -1):
            if parts[end] in _CHART_FOLDERS and (chart := "/".join(parts[:end]) or ".") in self.charts:
                return chart
        return None

    def add_application(self, folder: str, is_recursive: bool) -> None:
        """Add the files that an Application or Flux Kustomization applies."""
        folders = [folder]
        if is_recursive:
            # "0" is the character after "/".
            first, end = (bisect_left(self.sorted_folders, f"{folder}{after}") for after in ("/", "0"))
            folders += self.sorted_folders[first:end]
        self.add(Unit("application", folder, True), [file for each in folders for file in self.remaining(self.by_folder.get(each, ()))])

    def add_folder(self, folder: str) -> None:
        """Add the files of a folder that are in no other unit: as a whole, or as groups of files that refer to one another."""
        files = self.remaining(self.by_folder[folder])
        is_partial = folder in self.partial_folders
        if len(files) > 1 and not self.are_independent(folder, files) and not self.have_alternatives(files):
            self.add(Unit("folder", folder, not is_partial, is_partial), files)
            return
        for group in self.linked(files):
            self.add(Unit("file", group[0], False, is_partial), group)

    def are_independent(self, folder: str, files: Sequence[str]) -> bool:
        """Return whether the names of a folder and its files are those of examples and tests, of which each is applied on its own."""
        inside = folder[len(self.top) :].strip("/") if folder.startswith(self.top) else folder
        if any(_INDEPENDENT.fullmatch(part) for part in inside.split("/")):
            return True
        names = [file.rpartition("/")[2] for file in files]
        steps = [found[1] for name in names if (found := _STEP.fullmatch(name))]
        return len(steps) > len(set(steps)) or any(_TEST_FILE.fullmatch(name) for name in names)

    def have_alternatives(self, files: Iterable[str]) -> bool:
        """Return whether an object occurs in two files, so that not all of them are applied together."""
        seen: dict[tuple[str, str, str, str], str] = {}
        for file in files:
            for f in self.facts[file]:
                # Many files begin with the Namespace of their objects.
                if f.is_complete and f.id.name and f.id.kind != "Namespace" and seen.setdefault(f.named.identity, file) != file:
                    return True
        return False

    def linked(self, files: Sequence[str]) -> list[list[str]]:
        """Return groups of files: those that refer to one another, unless the group contains alternatives."""
        links = _Links(files)
        places: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        pods: dict[tuple[str, str], list[Facts]] = defaultdict(list)
        for file in files:
            for f in self.facts[file]:
                places[f.group, f.id.kind, f.id.name].add(file)
                for label in {label for pod in f.pods for label in pod.labels.items()}:
                    pods[label].append(f)
        for file in files:
            selects = not any(f.pods for f in self.facts[file])
            for f in self.facts[file]:
                for reference in f.references:
                    links.join(file, places.get((reference.api_group, reference.kind, reference.name), ()))
                if selects:
                    # A selector in a file with Pods means these.
                    links.join(file, _selected(f, pods))
        groups = [part for group in links.groups() for part in ([[file] for file in group] if self.have_alternatives(group) else [group])]
        return _with_shared(groups, links.several)


def _with_shared(groups: list[list[str]], several: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups, with each file that refers to alternatives, and to nothing else, in the groups of all of them."""
    by_file = {file: group for group in groups for file in group}
    alone = {group[0] for group in groups if len(group) == 1 and len(several.get(group[0], ())) in range(2, _MAX_SHARED)}
    for file in sorted(alone):
        targets = [by_file[other] for other in sorted(several[file]) if other not in alone and other != file]
        for group in {id(group): group for group in targets}.values():
            group.append(file)
        if not targets:
            alone.discard(file)
    return [group for group in groups if group[0] not in alone]


def _selected(f: Facts, pods: Mapping[tuple[str, str], list[Facts]]) -> set[str]:
    """Return the files with the Pods that the first selector of an object matches."""
    selector = f.selectors[0].selector if f.selectors else None
    first = next((r for r in selector.requirements if r.operator == "In"), None) if selector is not None else None
    if selector is None or first is None:
        return set()
    candidates = [owner for value in first.values for owner in pods.get((first.key, value), ())[:_MAX_SELECTED]]
    return {owner.place.file for owner in candidates if any(pod.meets(selector) for pod in owner.pods)}


class _Links:
    """Files and their groups (union-find).

    Attributes:
        several: for each file, the files of which it refers to one.
    """

    def __init__(self, files: Sequence[str]) -> None:
        self._parent = {file: file for file in files}
        self.several: dict[str, set[str]] = defaultdict(set)

    def join(self, file: str, others: Iterable[str]) -> None:
        """Put a file into one group with the other file that it refers to, if there is only one; otherwise remember them."""
        found = set(others)
        if file in found:
            return
        if len(found) > 1:
            self.several[file] |= found
        if len(found) == 1:
            one, two = self._root(file), self._root(found.pop())
            self._parent[max(one, two)] = min(one, two)

    def groups(self) -> list[list[str]]:
        """Return the groups in input order."""
        found: dict[str, list[str]] = defaultdict(list)
        for file in self._parent:
            found[self._root(file)].append(file)
        return list(found.values())

    def _root(self, file: str) -> str:
        while (parent := self._parent[file]) != file:
            self._parent[file] = self._parent[parent]
            file = parent
        return file


def _folder(path: str) -> str:
    """Return the folder of a normalized path."""
    return path.rpartition("/")[0] or ("/" if path.startswith("/") else ".")


def _common_folder(folders: Iterable[str]) -> str:
    """Return the folder that contains all folders, "" if there is none."""
    parts = [folder.split("/") for folder in folders]
    if not parts:
        return ""
    low, high = min(parts), max(parts)
    same = next((number for number, (one, two) in enumerate(zip(low, high, strict=False)) if one != two), min(len(low), len(high)))
    return "/".join(low[:same])

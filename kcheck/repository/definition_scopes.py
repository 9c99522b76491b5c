"""Which definitions of a kind apply to the objects of a file, if the input defines the kind several times.

Definitions in the file itself precede those in its kustomizations, in its chart and in its folder, if the folder is applied as a whole. All
of this is known before any object is read. The source paths of Applications are not: they do not connect objects and definitions.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from kcheck.facts.facts import Facts
from kcheck.facts.unit import Unit
from kcheck.repository.units import UnitFinder


class DefinitionScopes:
    """The deployment units that contain definitions.

    Args:
        paths: The files of the input.
        kustomizations: The facts of the kustomizations of the input, by their files.
        definers: The files with definitions.
    """

    def __init__(self, paths: Iterable[str], kustomizations: Mapping[str, Facts], definers: Collection[str]) -> None:
        self._finder = UnitFinder([(path, [kustomizations[path]] if path in kustomizations else []) for path in paths])
        self._finder.add_kustomizations({})
        self._builds: dict[str, list[Unit]] = defaultdict(list)
        for unit, files in self._finder.all:
            for file in files:
                self._builds[file].append(unit)
        self._by_folder: dict[str, list[Unit]] = {}
        self._definers = frozenset(definers)
        self._defining_folders = {path.rpartition("/")[0] for path in definers}
        self._in_unit: dict[Unit, list[str]] = defaultdict(list)
        for path in definers:
            for unit in set(self._units_of(path)):
                self._in_unit[unit].append(path)

    def definers_for(self, path: str) -> Iterator[list[str]]:
        """Yield the files with definitions that apply to a file: the file itself, then those in the units that contain it."""
        if path in self._definers:
            yield [path]
        if found := {file for unit in self._units_of(path) for file in self._in_unit.get(unit, ())}:
            yield sorted(found)

    def _units_of(self, path: str) -> list[Unit]:
        """Return the units that contain a file: its kustomizations, otherwise its chart or its folder."""
        if path in self._builds:
            return self._builds[path]
        folder = path.rpartition("/")[0]
        if folder not in self._by_folder:
            self._by_folder[folder] = self._find_by_folder(path)
        return self._by_folder[folder]

    def _find_by_folder(self, path: str) -> list[Unit]:
        finder, folder = self._finder, posixpath.dirname(posixpath.normpath(path)) or "."
        chart = finder.chart_of(folder)
        if chart is not None:
            return [Unit("chart", chart)]
        if path.rpartition("/")[0] not in self._defining_folders:
            # The folder is a unit without definitions.
            return []
        return [] if finder.are_independent(folder, finder.by_folder[folder]) else [Unit("folder", folder)]

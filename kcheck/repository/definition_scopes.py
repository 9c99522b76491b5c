"""Which definitions of a kind apply to the objects of a file, if the input defines the kind several times.

Definitions in the file itself precede those in its kustomizations, in its chart and in its folder, if the folder is applied as a whole. All
of this is known before any object is read. The source paths of Applications are not: they do not connect objects and definitions.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

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
        self._independent: dict[str, bool] = {}
        self._builds: dict[str, list[Unit]] = defaultdict(list)
        for unit, files in self._finder.all:
            for file in files:
                self._builds[file].append(unit)
        self._definers: dict[Unit, list[str]] = defaultdict(list)
        for path in definers:
            for unit in {unit for units in self._units_of(path) for unit in units}:
                self._definers[unit].append(path)

    def definers_for(self, path: str) -> Iterator[list[str]]:
        """Yield the files with definitions that are in the units of a file, those of the innermost unit first."""
        for units in self._units_of(path):
            yield sorted({file for unit in units for file in self._definers.get(unit, ())})

    def _units_of(self, path: str) -> Sequence[Sequence[Unit]]:
        """Return the units of a file, the innermost ones first."""
        finder = self._finder
        own = Unit("file", path)
        if path in self._builds:
            return [own], self._builds[path]
        folder = posixpath.dirname(posixpath.normpath(path)) or "."
        chart = finder.chart_of(folder)
        if chart is not None:
            return [own], [Unit("chart", chart)]
        if folder not in self._independent:
            self._independent[folder] = finder.are_independent(folder, finder.by_folder[folder])
        return ([own],) if self._independent[folder] else ([own], [Unit("folder", folder)])

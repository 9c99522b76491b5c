"""Deployment units: sets of objects that are applied together."""

from __future__ import annotations

from typing import Literal

from kcheck.text.record import NamedTuple

UnitKind = Literal["kustomization", "chart", "application", "folder", "file", "input"]
"""How the objects of a unit are applied.

kustomization: the build of a kustomization that no other one uses. chart: a Helm chart. application: the source path of an Argo CD
Application or a Flux Kustomization. folder: a folder whose files are applied together. file: a file, with the files of its folder that it
refers to. input: all objects that are in no build, if the input, or the part of it that belongs to one cluster, is complete.
"""


class Unit(NamedTuple):
    """A deployment unit.

    Attributes:
        kind: how the objects are applied.
        path: the folder or file, "" for the whole input.
        is_whole: whether the input contains everything that is applied with the unit, and nothing else is in the unit.
        is_partial: whether the input contains only some files of a folder, which the command line names one by one.
    """

    kind: UnitKind
    path: str
    is_whole: bool = False
    is_partial: bool = False

    @property
    def title(self) -> str:
        """The unit as messages name it, such as `kustomization overlays/prod`."""
        return f"{self.kind} {self.path}" if self.path else self.kind


INPUT = Unit("input", "")

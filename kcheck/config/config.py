"""The settings of a project, and which of them hold for a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kcheck.config.pattern import Globs
from kcheck.finding.severity import WARNING, Severity
from kcheck.rule.ruleset import Setting, merge
from kcheck.text.record import NamedTuple


class Override(NamedTuple):
    """Settings for the files that one of the globs takes."""

    files: tuple[str, ...]
    settings: Mapping[str, Setting]


class Config(NamedTuple):
    """What `.kcheck.yaml` says; as made, what holds without one.

    `file`: the file itself, None without one; `folder`: where it stands, or would, without links: `exclude` and the globs of
    `overrides` are relative to it. `kubernetes`: minor versions, oldest first, () for the newest alone. `schemas`: paths that are fit to be
    opened. `pods`: where kinds hold pods, by group and name. `settings`: by rule id, groups taken apart.
    """

    folder: Path
    file: Path | None = None
    kubernetes: tuple[str, ...] = ()
    schemas: tuple[Path, ...] = ()
    complete: bool = False
    pods: Mapping[tuple[str, str], Any] = MappingProxyType({})
    fail_on: Severity = WARNING
    exclude: tuple[str, ...] = ()
    settings: Mapping[str, Setting] = MappingProxyType({})
    overrides: tuple[Override, ...] = ()


class Overrides:
    """Which overrides of a config hold for a file."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._folder = os.path.join(config.folder, "")
        self._globs = Globs((number, glob) for number, override in enumerate(config.overrides) for glob in override.files)

    def of(self, path: str) -> tuple[int, ...]:
        """The numbers of the overrides for a file. Files with the same ones have the same settings: a key to keep rule sets under."""
        real = os.path.realpath(path)
        if not self._config.overrides or not real.startswith(self._folder):
            return ()
        return tuple(sorted(self._globs.matching(real[len(self._folder) :].split(os.sep))))

    def settings(self, numbers: Iterable[int]) -> Mapping[str, Setting]:
        """The settings under some overrides: those of all files, then each override, the later ones on top."""
        settings = self._config.settings
        for number in numbers:
            settings = merge(dict(settings), self._config.overrides[number].settings)
        return settings

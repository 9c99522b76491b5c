"""The settings of a project, and the settings that apply to a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from kcheck.config.pattern import Globs
from kcheck.finding.role import Role
from kcheck.finding.severity import WARNING, Severity
from kcheck.rule.presets import DEFAULT
from kcheck.rule.ruleset import Setting, merge

"""Files that not all rules apply to by default."""


class Override(NamedTuple):
    """Settings for the files that match at least one of the globs.

    Attributes:
        files: Globs relative to the folder of the config.
        settings: Settings of rules, by rule id.
        places: Where each glob is, as FILE:LINE:COLUMN.
    """

    files: tuple[str, ...]
    settings: Mapping[str, Setting]
    places: tuple[str, ...] = ()


class Config(NamedTuple):
    """The content of `.kcheck.yaml`. The defaults apply without a config file.

    Attributes:
        folder: Folder of the config file, or the current folder, with symbolic links resolved. `exclude` and the globs of `overrides` are
            relative to it.
        file: The config file; None without one.
        kubernetes: Minor versions, oldest first; () for the newest version only.
        schemas: Paths of schemas, relative to the current folder or absolute.
        complete: Whether the input contains every object of the cluster.
        complete_units: Globs of the paths of deployment units that contain every object that they need.
        provided: Paths of files with objects that the cluster already has, relative to the current folder or absolute.
        pods: Pod locations of custom kinds, by (group, kind).
        baseline: Path of the baseline, relative to the current folder or absolute; None for the default.
        fail_on: Lowest severity that makes the exit status 1.
        exclude: Globs of files to skip.
        preset: Name of the preset that `settings` change.
        judges_placeholders: Whether rules judge placeholders; None for the default of the command.
        variables: Values that replace variables in manifests, by name.
        include: Names of `kcheck.finding.role.INCLUDES`.
        roles: Globs of files with the role that the config assigns to them.
        settings: Setting of each rule, by rule id. Groups are already expanded.
        overrides: Settings for some files.
    """

    folder: Path
    file: Path | None = None
    kubernetes: tuple[str, ...] = ()
    schemas: tuple[Path, ...] = ()
    complete: bool = False
    complete_units: tuple[str, ...] = ()
    provided: tuple[Path, ...] = ()
    pods: Mapping[tuple[str, str], Any] = MappingProxyType({})
    baseline: Path | None = None
    fail_on: Severity = WARNING
    exclude: tuple[str, ...] = ()
    preset: str = DEFAULT
    judges_placeholders: bool | None = None
    variables: Mapping[str, str] = MappingProxyType({})
    include: tuple[str, ...] = ()
    roles: tuple[tuple[str, str], ...] = ()
    settings: Mapping[str, Setting] = MappingProxyType({})
    overrides: tuple[Override, ...] = ()


class GlobsOfConfig:
    """Numbered globs that are relative to the folder of the config file."""

    def __init__(self, config: Config, globs: Iterable[tuple[int, str]]) -> None:
        self._folder = os.path.join(config.folder, "")
        self._globs = Globs(globs)

    def matching(self, path: str) -> list[int]:
        """Returns the numbers of the globs that match a file, in ascending order."""
        real = os.path.realpath(path)
        return sorted(self._globs.matching(real[len(self._folder) :].split(os.sep))) if real.startswith(self._folder) else []


class Overrides:
    """Finds the overrides of a config that apply to a file."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._globs = GlobsOfConfig(config, ((number, glob) for number, each in enumerate(config.overrides) for glob in each.files))

    def of(self, path: str) -> tuple[int, ...]:
        """Returns the indexes of the overrides that apply to a file. Files with equal indexes have equal settings."""
        return tuple(self._globs.matching(path)) if self._config.overrides else ()

    def settings(self, numbers: Iterable[int]) -> Mapping[str, Setting]:
        """Returns the settings of all files, with the given overrides applied in order, so that later ones win."""
        settings = self._config.settings
        for number in numbers:
            settings = merge(dict(settings), self._config.overrides[number].settings)
        return settings


class AssignedRoles:
    """Finds the role that the config assigns to a file."""

    def __init__(self, config: Config) -> None:
        self._roles = [Role(name, f'the config assigns it: "{glob}"') for glob, name in config.roles]
        self._globs = GlobsOfConfig(config, enumerate(glob for glob, _ in config.roles))

    def of(self, path: str) -> Role | None:
        """Returns the role of the last glob that matches, or None."""
        numbers = self._globs.matching(path)
        return self._roles[numbers[-1]] if numbers else None

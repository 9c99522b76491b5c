"""The settings of a project, and which of them hold for a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kcheck.config.pattern import matches
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


def overrides_for(config: Config, path: str) -> tuple[int, ...]:
    """Which overrides hold for a file, by number. Files with the same have the same settings: a key to keep rule sets under."""
    if not config.overrides:
        return ()
    folder = os.path.join(config.folder, "")
    real = os.path.realpath(path)
    if not real.startswith(folder):
        return ()
    parts = real[len(folder) :].split(os.sep)
    return tuple(n for n, override in enumerate(config.overrides) if any(matches(glob, parts) for glob in override.files))


def settings_for(config: Config, path: str) -> Mapping[str, Setting]:
    """The settings that hold for a file: those of all files, then each override that takes it, the later ones on top."""
    settings = config.settings
    for number in overrides_for(config, path):
        settings = merge(dict(settings), config.overrides[number].settings)
    return settings

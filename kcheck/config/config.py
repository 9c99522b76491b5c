"""The settings of a project, and the settings that apply to a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kcheck.config.pattern import Globs
from kcheck.finding.report import DOCS_URL
from kcheck.finding.role import Role
from kcheck.finding.severity import WARNING, Severity
from kcheck.helm.settings import ChartSettings
from kcheck.rule.presets import DEFAULT
from kcheck.rule.ruleset import Setting, merge
from kcheck.text.record import NamedTuple

"""Files that not all rules apply to by default."""


class Override(NamedTuple):
    """Settings for the files that match at least one of the globs.

    Attributes:
        files: Globs relative to the folder of the config.
        settings: Settings of rules, by rule id.
        kubernetes: Minor versions, oldest first; () to keep those of the other files.
        complete: Whether the files contain every object that they refer to; None to keep the value of the other files.
        provided: Paths of files with objects that the cluster of these files already has; None to keep those of the other files.
        origins: Where each key is set, as FILE:LINE.
        rule_origins: Where each rule is set, by rule id.
        places: Where each glob is, as FILE:LINE:COLUMN.
    """

    files: tuple[str, ...]
    settings: Mapping[str, Setting]
    kubernetes: tuple[str, ...] = ()
    complete: bool | None = None
    provided: tuple[Path, ...] | None = None
    origins: Mapping[str, str] = MappingProxyType({})
    rule_origins: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    places: tuple[str, ...] = ()

    @property
    def changes_cluster(self) -> bool:
        """Whether anything but rules differs for these files."""
        return bool(self.kubernetes) or self.complete is not None or self.provided is not None


class PolicySources(NamedTuple):
    """Where user-defined policies come from.

    Attributes:
        paths: Files and folders with policies, relative to the current folder or absolute.
        from_input: Whether policies in the input are enforced on it.
        username: The name of the user who makes the requests, "" if unknown.
        groups: The groups of this user.
        rules: Name and content of the config, if it contains short rules.
    """

    paths: tuple[Path, ...] = ()
    from_input: bool = True
    username: str = ""
    groups: tuple[str, ...] = ()
    rules: tuple[tuple[str, str], ...] = ()


class Config(NamedTuple):
    """The content of `.kcheck.yaml`. The defaults apply without a config file.

    Attributes:
        folder: Folder of the config file, or the current folder, with symbolic links resolved. `exclude` and the globs of `overrides` are
            relative to it.
        file: The config file; None without one.
        extended: The config files that it extends, directly or through others.
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
        charts: Globs of charts with their settings.
        settings: Setting of each rule, by rule id. Groups are already expanded.
        overrides: Settings for some files.
        docs_url: Base URL of the documentation, without a slash at the end.
        plugins: Python files with rules of the project.
        policies: Where user-defined policies come from.
        origins: Where each key is set, as FILE:LINE.
        rule_origins: Where each rule is set, by rule id: several places if they set different parts.
    """

    folder: Path
    file: Path | None = None
    extended: tuple[Path, ...] = ()
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
    charts: tuple[tuple[str, ChartSettings], ...] = ()
    settings: Mapping[str, Setting] = MappingProxyType({})
    overrides: tuple[Override, ...] = ()
    docs_url: str = DOCS_URL
    plugins: tuple[Path, ...] = ()
    policies: PolicySources = PolicySources()
    origins: Mapping[str, str] = MappingProxyType({})
    rule_origins: Mapping[str, tuple[str, ...]] = MappingProxyType({})


_FIELDS = {
    "extends": ("preset",),
    "kubernetes": ("kubernetes",),
    "schemas": ("schemas",),
    "complete": ("complete", "complete_units"),
    "provided": ("provided",),
    "placeholders": ("judges_placeholders",),
    "substitute": ("variables",),
    "include": ("include",),
    "exclude": ("exclude",),
    "fail-on": ("fail_on",),
    "docs-url": ("docs_url",),
    "baseline": ("baseline",),
    "policies": ("policies",),
}
"""The fields of a key that replaces the value of the same key in an extended config."""


def extend(base: Config, config: Config) -> Config:
    """Returns a config with the keys of another one added.

    Keys of `config` replace those of `base`. Rules are merged, so that `config` wins; `pods`, `roles`, `charts`, `overrides` and `plugins`
    are added.
    """
    replaced = {field: getattr(config, field) for key in config.origins for field in _FIELDS.get(key, ())}
    return base._replace(
        **replaced,
        folder=config.folder,
        file=config.file,
        extended=tuple(dict.fromkeys((*base.extended, *config.extended))),
        pods={**base.pods, **config.pods},
        roles=base.roles + config.roles,
        charts=base.charts + config.charts,
        overrides=base.overrides + config.overrides,
        plugins=tuple(dict.fromkeys((*base.plugins, *config.plugins))),
        settings=merge(dict(base.settings), config.settings),
        origins={**base.origins, **config.origins},
        rule_origins=merge_origins(base.settings, base.rule_origins, config.settings, config.rule_origins),
    )


def merge_origins(
    old: Mapping[str, Setting], origins: Mapping[str, tuple[str, ...]], new: Mapping[str, Setting], more: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Returns where each rule is set after `merge(old, new)`: places whose setting is replaced completely are left out."""
    merged = dict(origins)
    for id, places in more.items():
        before, after = old.get(id, Setting()), new.get(id, Setting())
        kept = (
            (before.on is not None and after.on is None)
            or (before.severity is not None and after.severity is None)
            or not before.options.keys() <= after.options.keys()
        )
        merged[id] = tuple(dict.fromkeys((*(origins.get(id, ()) if kept else ()), *places)))
    return merged


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
        return self.applied(numbers).settings

    def applied(self, numbers: Iterable[int]) -> Config:
        """Returns the config for files that the given overrides match, which are applied in order, so that later ones win."""
        config = self._config
        for number in numbers:
            each = self._config.overrides[number]
            config = config._replace(
                kubernetes=each.kubernetes or config.kubernetes,
                complete=config.complete if each.complete is None else each.complete,
                complete_units=config.complete_units if each.complete is None else (),
                provided=config.provided if each.provided is None else each.provided,
                settings=merge(dict(config.settings), each.settings),
                origins={**config.origins, **each.origins},
                rule_origins=merge_origins(config.settings, config.rule_origins, each.settings, each.rule_origins),
            )
        return config


class AssignedRoles:
    """Finds the role that the config assigns to a file."""

    def __init__(self, config: Config) -> None:
        self._roles = [Role(name, f'the config assigns it: "{glob}"') for glob, name in config.roles]
        self._globs = GlobsOfConfig(config, enumerate(glob for glob, _ in config.roles))

    def of(self, path: str) -> Role | None:
        """Returns the role of the last glob that matches, or None."""
        numbers = self._globs.matching(path)
        return self._roles[numbers[-1]] if numbers else None


class ChartsOfConfig:
    """Finds the settings of charts."""

    def __init__(self, config: Config) -> None:
        self._settings = [settings for _, settings in config.charts]
        self._globs = GlobsOfConfig(config, ((number, glob) for number, (glob, _) in enumerate(config.charts)))

    def settings(self, folder: str) -> ChartSettings:
        """Returns the settings of a chart by its folder or archive: those of the last glob that matches."""
        numbers = {number for path in (folder or ".", os.path.join(folder, "Chart.yaml")) for number in self._globs.matching(path)}
        return self._settings[max(numbers)] if numbers else ChartSettings()

"""The Python API: checks files and texts, as `kcheck check` does."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypedDict, Unpack

from kcheck.cache.location import cache_folder
from kcheck.check.session import Session
from kcheck.config.config import ChartsOfConfig, Config
from kcheck.discovery.discover import Discovery, Target
from kcheck.engine.error import Error, InvalidOption
from kcheck.engine.files import find_files
from kcheck.engine.options import CheckOptions
from kcheck.engine.settings import create_session, find_config
from kcheck.finding.report import Report
from kcheck.finding.severity import Severity
from kcheck.helm.settings import Helm
from kcheck.rule.presets import PRESETS
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import ALWAYS
from kcheck.run.run import run_pipeline

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
Names = str | Iterable[str]


class CheckSettings(TypedDict, total=False):
    """CheckSettings that override the config. The names are those of the options of `kcheck check`.

    Attributes:
        config: Path of a config file, or a mapping with the keys of one; `{}` for the defaults. Without it, the nearest config of the
            current folder applies.
        preset: Preset that the rules start from.
        select: Rules or groups that replace the enabled ones.
        ignore: Rules or groups that are not applied.
        kubernetes: Version such as "1.36", or range such as "1.30-1.37".
        schemas: Files and folders with CustomResourceDefinitions or JSON Schemas.
        complete: Whether the input contains all objects.
        provided: Files with objects that the cluster already has.
        policies: Files and folders with user-defined policies.
        placeholders: "check" to check values that are not filled in, or "skip".
        include: Files that all rules apply to as well, such as "fixtures".
        exclude: Globs of files to skip.
        severity: Lowest severity of the findings in the report: "info", "warning" or "error".
        before: File or folder with the older versions of the objects, so that changes are judged as well.
        local_rules: Whether to run the Python files that the config names in `plugins`. Without it, such a config is an error.
        helm: Whether charts are rendered, with helm in PATH, or the path of the program. Without it, charts are skipped.
    """

    config: str | os.PathLike[str] | Mapping[str, Any] | None
    preset: str | None
    select: Names
    ignore: Names
    kubernetes: str
    schemas: Paths
    complete: bool | None
    provided: Paths
    policies: Paths
    placeholders: str | None
    include: Names
    exclude: Names
    severity: str
    before: str | os.PathLike[str] | None
    local_rules: bool | None
    helm: bool | str | os.PathLike[str]


def check(paths: Paths, *, jobs: int = 1, cache: bool | str | os.PathLike[str] = False, **settings: Unpack[CheckSettings]) -> Report:
    """Check files and folders and return the report.

    Threads may call this function at the same time. With one job, it starts no process, except helm, and installs no signal handler.

    Args:
        paths: A file, a folder (searched recursively) or a glob, or several of them.
        jobs: Maximum number of processes.
        cache: Whether to use the cache of the command line, or the folder of another one.
        settings: See `CheckSettings`.

    Raises Error if nothing could be checked: for an invalid option, path or config, or a plug-in that cannot be loaded. Errors in
    manifests are findings.
    """
    options = _options(settings)
    registry, config = _load(options)
    session = create_session(options, config, registry)
    folder = _cache_folder(cache)
    if helm := settings.get("helm", False):
        program = None if helm is True else _existing(helm, "helm")[0]
        session.helm = Helm(program and os.path.abspath(program), folder, jobs, ChartsOfConfig(config).settings)
    found = find_files(_texts(paths), options, config, session.budget)
    report = run_pipeline(found, session, jobs=jobs, cache=folder)
    return shown_report(report, session, settings.get("severity", "info"))


def check_text(text: str | bytes, *, name: str = "<text>", **settings: Unpack[CheckSettings]) -> Report:
    """Check manifests in a text and return the report. See `check`.

    Args:
        text: One or more YAML documents, or JSON.
        name: Path that findings show. Overrides of the config apply to it.
        settings: See `CheckSettings`.
    """
    options = _options(settings)
    registry, config = _load(options)
    session = create_session(options, config, registry)
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    found = Discovery([Target(name, named=True, data=data)])
    return shown_report(run_pipeline(found, session), session, settings.get("severity", "info"))


def shown_report(report: Report, session: Session, severity: str) -> Report:
    """Return a report without findings below a severity and without repetitions of a cause, unless it states what the API server would
    answer.
    """
    least = Severity.parse(severity)
    report = report if session.judges_as_server else report.without_echoes()
    report.findings = [f for f in report.findings if f.severity >= least or f.rule in ALWAYS]
    return report


@cache
def _installed() -> Registry:
    """Return the rules that are installed. Loading them takes longer than checking a small text."""
    return Registry.load()


def _load(options: CheckOptions) -> tuple[Registry, Config]:
    """Return the rules and the config. Raises Error, also for plug-ins that cannot be loaded."""
    registry = _installed().copy()
    config = find_config(options, registry)
    if registry.failures:
        raise Error("\n".join(f"plug-in {each.name} could not be loaded: {each.reason}" for each in registry.failures))
    return registry, config


def _options(settings: CheckSettings) -> CheckOptions:
    unknown = settings.keys() - CheckSettings.__annotations__.keys()
    if unknown:
        raise TypeError(f"unknown settings: {', '.join(sorted(unknown))}")
    for name, known in (("preset", PRESETS), ("placeholders", ("check", "skip")), ("severity", tuple(each.word for each in Severity))):
        value = settings.get(name)
        if value is not None and value not in known:
            raise InvalidOption(f"{name} must be one of {', '.join(known)}, not {value!r}")
    config = settings.get("config")
    is_mapping = isinstance(config, Mapping)
    return CheckOptions(
        preset=settings.get("preset"),
        select=_texts(settings.get("select", ())),
        ignore=_texts(settings.get("ignore", ())),
        kubernetes=settings.get("kubernetes", ""),
        schemas=_existing(settings.get("schemas", ()), "schemas"),
        complete=settings.get("complete"),
        provided=_existing(settings.get("provided", ()), "provided"),
        policies=_existing(settings.get("policies", ()), "policies"),
        config=None if config is None or is_mapping else os.fspath(config),  # type: ignore[arg-type]
        # JSON is YAML, so a mapping is read, and its errors are reported, like a file.
        config_text=json.dumps(config, indent=2, default=dict) if is_mapping else None,
        placeholders=settings.get("placeholders"),
        exclude=_texts(settings.get("exclude", ())),
        include=_texts(settings.get("include", ())),
        before=_before(settings.get("before")),
        local_rules=settings.get("local_rules"),
    )


def _texts(value: Paths) -> tuple[str, ...]:
    """Return one or several strings or paths as strings."""
    return (os.fspath(value),) if isinstance(value, (str, os.PathLike)) else tuple(os.fspath(each) for each in value)


def _before(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else _existing(path, "before")[0]


def _existing(value: Paths, name: str) -> tuple[str, ...]:
    paths = _texts(value)
    for path in paths:
        if not os.path.exists(path):
            raise InvalidOption(f"{name}: no such file or folder: {path}")
    return paths


def _cache_folder(cache: bool | str | os.PathLike[str]) -> Path | None:
    if isinstance(cache, bool):
        return cache_folder() if cache else None
    return Path(cache)

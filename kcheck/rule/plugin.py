"""The plug-in interface: modules with rules, reporters and schemas. Built-in rules and reporters are registered the same way."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pluggy

from kcheck.rule.installed import PROJECT

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class Specs:
    """Each hook returns what the plug-in adds and is called without arguments."""

    @hookspec
    def kcheck_rules(self) -> list[ModuleType]:  # type: ignore[empty-body]
        """Modules whose Rules, FieldTables and Validators are collected. Rule pages are in the directory `pages` next to a module."""

    @hookspec
    def kcheck_reporters(self) -> list[Any]:  # type: ignore[empty-body]
        """Reporters: output formats, by the name used with `--format`."""

    @hookspec
    def kcheck_schemas(self) -> list[Path]:  # type: ignore[empty-body]
        """Directories or files with CRDs and JSON Schemas, read like those of `--schemas`."""

"""What a plug-in may give kcheck: modules with rules, reporters, schemas. Built-ins register the same way."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pluggy

from kcheck.rule.installed import PROJECT

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class Specs:
    """Each hook returns what the plug-in adds; none is called with arguments."""

    @hookspec
    def kcheck_rules(self) -> list[ModuleType]:  # type: ignore[empty-body]
        """Modules whose Rules, FieldTables and Checks are to be collected. A folder `pages` beside a module holds the rules' pages."""

    @hookspec
    def kcheck_reporters(self) -> list[Any]:  # type: ignore[empty-body]
        """Reporters: forms of the report, by the name that `--format` takes."""

    @hookspec
    def kcheck_schemas(self) -> list[Path]:  # type: ignore[empty-body]
        """Folders or files of CRDs and JSON Schemas, read as `--schemas` reads them."""

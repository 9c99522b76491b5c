"""What a plug-in may give kcheck: modules with rules, reporters, schemas. Built-ins register the same way."""

from __future__ import annotations

from collections.abc import Mapping
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
    def kcheck_reporters(self) -> Mapping[str, Any]:  # type: ignore[empty-body]
        """Format name -> function (Report, TextIO, Style) -> None."""

    @hookspec
    def kcheck_schemas(self) -> list[Path]:  # type: ignore[empty-body]
        """Folders or files of CRDs and JSON Schemas, read as `--schemas` reads them."""

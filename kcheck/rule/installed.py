"""Installed plug-ins, target through the entry points of their packages.

`importlib.metadata` provides the same, but importing it takes longer than checking a small file. This module reads the directories
on `sys.path` directly and falls back to `importlib.metadata` if the path contains anything else, such as an archive.
"""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from typing import Any

from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

PROJECT = "kcheck"
"""The entry point group of plug-ins."""

_METADATA_DIRECTORY = pattern(r"(?P<package>[^-]+)(?:-.*)?\.(?:dist|egg)-info")


class EntryPoint(NamedTuple):
    """An entry point. `value`: a module, or a module and an attribute, such as "acme.rules:plugin"."""

    name: str
    value: str

    def load(self) -> Any:
        """Import and return the object that the entry point names. Raises any exception that the import raises."""
        module, _, attribute = self.value.partition(":")
        target: Any = import_module(module.strip())
        for part in filter(None, attribute.strip().split(".")):
            target = getattr(target, part)
        return target


def entry_points(group: str) -> list[EntryPoint]:
    """Return the entry points of a group. If a package is installed twice, the first one on `sys.path` is used."""
    points: list[EntryPoint] = []
    seen: set[str] = set()
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except FileNotFoundError:
            continue
        except OSError:
            return _from_importlib_metadata(group)
        for name in sorted(names):
            match = _METADATA_DIRECTORY.fullmatch(name)
            package = re.sub(r"[-_.]+", "-", match["package"]).lower() if match else ""
            if match and package not in seen:
                seen.add(package)
                points += _read_entry_points(os.path.join(folder, name, "entry_points.txt"), group)
    return points


def _read_entry_points(path: str, group: str) -> list[EntryPoint]:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return []
    points: list[EntryPoint] = []
    in_group = False
    for line in map(str.strip, text.splitlines() if f"[{group}]" in text else ()):
        if line.startswith("["):
            in_group = line == f"[{group}]"
        elif in_group and line[:1] not in ("", "#", ";"):
            name, _, value = line.partition("=")
            points.append(EntryPoint(name.strip(), value.partition("[")[0].strip()))
    return points


def _from_importlib_metadata(group: str) -> list[EntryPoint]:
    from importlib import metadata

    return [EntryPoint(point.name, point.value) for point in metadata.entry_points(group=group)]

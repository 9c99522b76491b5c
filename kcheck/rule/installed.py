"""The plug-ins that are installed, by the entry points of their packages.

The standard library finds them, too, but its module for it takes longer to load than a small file to check. Here the folders of
the path are read; where the path holds anything else (an archive), the library is asked after all.
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
"""The group that plug-ins are entered in."""

_NAME = pattern(r"(?P<package>[^-]+)(?:-.*)?\.(?:dist|egg)-info")


class EntryPoint(NamedTuple):
    """`value`: a module, or a module and what in it, as "acme.rules:plugin"."""

    name: str
    value: str

    def load(self) -> Any:
        """What it names. Raises whatever the import of it raises."""
        module, _, attribute = self.value.partition(":")
        found: Any = import_module(module.strip())
        for part in filter(None, attribute.strip().split(".")):
            found = getattr(found, part)
        return found


def entry_points(group: str) -> list[EntryPoint]:
    """The entry points of a group. Of two installed versions of a package the first on the path counts."""
    points: list[EntryPoint] = []
    seen: set[str] = set()
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except FileNotFoundError:
            continue
        except OSError:
            return _by_the_library(group)
        for name in sorted(names):
            match = _NAME.fullmatch(name)
            package = re.sub(r"[-_.]+", "-", match["package"]).lower() if match else ""
            if match and package not in seen:
                seen.add(package)
                points += _read(os.path.join(folder, name, "entry_points.txt"), group)
    return points


def _read(path: str, group: str) -> list[EntryPoint]:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return []
    points: list[EntryPoint] = []
    inside = False
    for line in map(str.strip, text.splitlines() if f"[{group}]" in text else ()):
        if line.startswith("["):
            inside = line == f"[{group}]"
        elif inside and line[:1] not in ("", "#", ";"):
            name, _, value = line.partition("=")
            points.append(EntryPoint(name.strip(), value.partition("[")[0].strip()))
    return points


def _by_the_library(group: str) -> list[EntryPoint]:
    from importlib import metadata

    return [EntryPoint(point.name, point.value) for point in metadata.entry_points(group=group)]

"""Globs of `overrides`, relative to the folder of the config file."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from functools import cache


@cache
def _parts(glob: str) -> tuple[re.Pattern[str] | None, ...]:
    """What each part of a path must match, None for any number of parts."""
    core = glob.rstrip("/").removeprefix("./").removeprefix("/")
    # As in `exclude`, a glob without '/' means a name wherever it stands.
    names = core.split("/") if "/" in glob.rstrip("/") else ["**", core]
    return tuple(None if name == "**" else re.compile(fnmatch.translate(name)) for name in names)


def matches(glob: str, path: Sequence[str]) -> bool:
    """Whether a glob takes the path with these parts, or a folder on the way to it."""
    parts = _parts(glob)
    # Numbers of the glob's parts that may be up next, one part of the path after the other.
    at = _skip({0}, parts)
    for name in path:
        after = set()
        for i in at - {len(parts)}:
            part = parts[i]
            if part is None:
                after.add(i)
            elif part.match(name):
                after.add(i + 1)
        at = _skip(after, parts)
        if len(parts) in at:
            return True
    return False


def _skip(at: set[int], parts: tuple[re.Pattern[str] | None, ...]) -> set[int]:
    """The same places and those behind each '**', which may stand for nothing."""
    reached = set(at)
    for i in at:
        while i < len(parts) and parts[i] is None:
            i += 1
            reached.add(i)
    return reached

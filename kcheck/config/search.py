"""Where the config file is. Apart from what reads it, for most runs have none."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

NAME = ".kcheck.yaml"


def find(start: Path, foreign: Callable[[Path], None] | None = None) -> Path | None:
    """The config file nearest to a folder, in it or above, not above its repository; None where there is none.

    Anybody may put a file into a folder such as /tmp. So a file above `start` must belong to the user, to root or to the owner of `start`;
    `foreign` is called with other ones, which are ignored.
    """
    folder = Path(os.path.abspath(start))
    for each in (folder, *folder.parents):
        file = each / NAME
        if os.path.isfile(file):
            if each == folder or _is_trusted(file, folder):
                return file
            if foreign is not None:
                foreign(file)
        if _is_repository(each):
            return None
    return None


def repository(start: Path) -> Path | None:
    """The root of the repository around a folder; None where there is none."""
    return next((each for each in (start, *start.parents) if _is_repository(each)), None)


def _is_repository(folder: Path) -> bool:
    # Worktrees and submodules have a file of this name.
    return os.path.exists(folder / ".git")


def _is_trusted(file: Path, start: Path) -> bool:
    """Whether a file belongs to somebody who may decide how `start` is checked."""
    return not hasattr(os, "geteuid") or _owners(file) <= {0, os.geteuid(), *_owners(start)}


def _owners(path: Path) -> set[int]:
    """The user ids that a path belongs to, and what it leads to if it is a link."""
    return {os.lstat(path).st_uid, os.stat(path).st_uid}

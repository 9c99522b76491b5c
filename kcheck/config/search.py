"""Search for the config file. Separate from the module that reads it, as most runs have no config file and need not load that."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from kcheck.text.pattern import pattern

NAME = ".kcheck.yaml"
"""The usual name of a config."""

NAMES = (NAME, ".kcheck.yml", "kcheck.yaml", "kcheck.yml")
"""All names of a config."""

_MAX_CHARS = 65536
_OBJECT = pattern(r"""(?m)^["']?apiVersion["']?\s*:""")


class SeveralConfigs(Exception):
    """A folder contains several config files, so it is unclear which of them applies."""

    def __init__(self, files: list[Path]) -> None:
        super().__init__(f"{files[0].parent} contains {' and '.join(each.name for each in files)}; keep one of them")


def find(start: Path, foreign: Callable[[Path], None] | None = None) -> Path | None:
    """Returns the nearest config file in a folder or its parent folders, up to the root of the repository; None if there is none.

    Any user can create a file in a folder such as /tmp. Therefore a file above `start` must be owned by the current user, by root or by the
    owner of `start`; other files are ignored and passed to `foreign`. Raises SeveralConfigs if the folder has more than one.
    """
    folder = Path(os.path.abspath(start))
    for each in (folder, *folder.parents):
        files = []
        for file in configs_in(each):
            if each == folder or _is_trusted(file, folder):
                files.append(file)
            elif foreign is not None:
                foreign(file)
        if len(files) > 1:
            raise SeveralConfigs(files)
        if files:
            return files[0]
        if _is_repository(each):
            return None
    return None


def configs_in(folder: Path) -> list[Path]:
    """Returns the config files in a folder."""
    return [file for name in NAMES if os.path.isfile(file := folder / name) and (name.startswith(".") or not _is_object(file))]


def _is_object(file: Path) -> bool:
    """Whether a file is a manifest, which may be called kcheck.yaml, too."""
    try:
        with open(file, encoding="utf-8", errors="replace") as text:
            return _OBJECT.search(text.read(_MAX_CHARS)) is not None
    except OSError:
        return False


def repository(start: Path) -> Path | None:
    """Returns the root of the repository that contains a folder; None if there is none."""
    return next((each for each in (start, *start.parents) if _is_repository(each)), None)


def _is_repository(folder: Path) -> bool:
    # A folder, or a file in worktrees and submodules.
    return os.path.exists(folder / ".git")


def _is_trusted(file: Path, start: Path) -> bool:
    """Whether the owner of a file may decide how `start` is checked."""
    return not hasattr(os, "geteuid") or _owners(file) <= {0, os.geteuid(), *_owners(start)}


def _owners(path: Path) -> set[int]:
    """Returns the owners (user ids) of a path and, if it is a symbolic link, of its target."""
    return {os.lstat(path).st_uid, os.stat(path).st_uid}


def find_file(start: Path, name: str, foreign: Callable[[Path], None]) -> Path | None:
    """Returns the nearest file of this name in a folder or its parent folders, up to the root of the repository; None if there is none.

    A file of another user is ignored and passed to `foreign`, as in `find`.
    """
    folder = Path(os.path.abspath(start))
    for each in (folder, *folder.parents):
        file = each / name
        if os.path.isfile(file):
            if each == folder or _is_trusted(file, folder):
                return file
            foreign(file)
        if _is_repository(each):
            return None
    return None

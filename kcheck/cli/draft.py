"""Atomic replacement of files: new content is written to a draft in the same folder, which then replaces the file."""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress

from kcheck.discovery.discover import DRAFT

STALE = 600.0
"""Seconds after which a draft is considered a leftover of a killed process."""

_cleaned: set[str] = set()


class Draft:
    """New content for a file, to be written to `file`. Symbolic links are followed, permissions are kept. Raises OSError."""

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(path)
        folder = os.path.dirname(self.path)
        _remove_stale(folder)
        mode = mode_of(self.path)
        self._draft = os.path.join(folder, f"{DRAFT}{os.urandom(6).hex()}.tmp")
        self.file = open(self._draft, "xb")  # noqa: SIM115
        if mode is not None:
            try:
                os.chmod(self._draft, stat.S_IMODE(mode))
            except OSError:
                self.discard()
                raise

    def commit(self) -> None:
        """Replaces the file. Raises OSError."""
        self.file.close()
        os.replace(self._draft, self.path)

    def discard(self) -> None:
        """Removes the draft, if it still exists."""
        with suppress(OSError):
            self.file.close()
        with suppress(OSError):
            os.unlink(self._draft)


def mode_of(path: str) -> int | None:
    """Returns the mode of a file; None if the file does not exist."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _remove_stale(folder: str) -> None:
    """Removes drafts that killed processes left in a folder. Does so once per folder."""
    if folder in _cleaned:
        return
    _cleaned.add(folder)
    oldest = time.time() - STALE
    with suppress(OSError), os.scandir(folder) as listing:
        for entry in listing:
            if entry.name.startswith(DRAFT) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    if entry.stat().st_mtime >= oldest:
                        continue
                    os.unlink(entry.path)

"""A progress bar on standard error, for long runs."""

from __future__ import annotations

import time
from typing import TextIO

PATIENCE = 1.0
"""Seconds before the bar is shown."""

_INTERVAL_SECONDS = 0.1
_WIDTH = 30


class Progress:
    """A progress bar. Call it with the number of files that are done and the total number of files."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._next = time.monotonic() + PATIENCE
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _INTERVAL_SECONDS
        self._shown = True
        full = _WIDTH * done // max(total, 1)
        self._out.write(f"\r[{'#' * full}{' ' * (_WIDTH - full)}] {done} of {total} files\x1b[K")
        self._out.flush()

    def clear(self) -> None:
        """Removes the bar."""
        if self._shown:
            self._out.write("\r\x1b[K")
            self._out.flush()
            self._shown = False

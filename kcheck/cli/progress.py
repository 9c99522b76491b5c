"""A bar on standard error, for runs that last."""

from __future__ import annotations

import time
from typing import TextIO

PATIENCE = 1.0
"""Seconds before there is a bar at all."""

_EVERY = 0.1
_CELLS = 30


class Progress:
    """Called with the number of files done and of all files."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._next = time.monotonic() + PATIENCE
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _EVERY
        self._shown = True
        full = _CELLS * done // max(total, 1)
        self._out.write(f"\r[{'#' * full}{' ' * (_CELLS - full)}] {done} of {total} files\x1b[K")
        self._out.flush()

    def clear(self) -> None:
        """Take the bar away."""
        if self._shown:
            self._out.write("\r\x1b[K")
            self._out.flush()
            self._shown = False

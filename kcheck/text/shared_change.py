"""Changes of the interpreter that several threads may need at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class SharedChange:
    """A change that is made when the first thread needs it and undone when the last one no longer does.

    `make`: makes the change and returns the function that undoes it.
    """

    def __init__(self, make: Callable[[], Callable[[], object]]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._users = 0
        self._undo: Callable[[], object] | None = None

    @contextmanager
    def made(self) -> Iterator[None]:
        """Provide the change for a block of code."""
        with self._lock:
            if not self._users:
                self._undo = self._make()
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users and self._undo is not None:
                    self._undo()

"""The files of an older state of the input, wherever it comes from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Protocol

from kcheck.discovery.discover import discover
from kcheck.discovery.load import load_file
from kcheck.text.source import Source


class OldFiles(Protocol):
    """The files of an older state of the input. Paths use '/' and are relative to the root of the older state.

    Attributes:
        state: the older state as messages name it: "before", or a revision such as "origin/main".
    """

    state: str

    @property
    def paths(self) -> Iterable[str]:
        """The paths of all files that may contain objects, in a fixed order."""

    def read(self, path: str) -> Source | None:
        """Return the content of a file, None if it cannot be read. The path of the source is the one that reports show."""

    def counterpart(self, path: str) -> str | None:
        """Return the path that a file of the input has in the older state, None if it has none."""


class FolderFiles:
    """The files in a folder, or a single file with objects, such as the output of `kubectl get -o yaml`."""

    state = "before"

    def __init__(self, path: str) -> None:
        found = discover([path], gitignore=False)
        self._root = path.rstrip("/")
        is_folder = os.path.isdir(path)
        self._targets = {os.path.relpath(each.path, path).replace(os.sep, "/") if is_folder else "": each for each in found.targets}
        self._read: dict[str, Source | None] = {}

    @property
    def paths(self) -> Iterable[str]:
        """See `OldFiles`."""
        return self._targets

    def read(self, path: str) -> Source | None:
        """See `OldFiles`."""
        if path not in self._read:
            loaded = load_file(self._targets[path])
            self._read[path] = loaded if isinstance(loaded, Source) else None
        return self._read[path]

    def counterpart(self, path: str) -> str | None:
        """See `OldFiles`. It is the file whose path has most trailing parts in common, beginning with the file name."""
        return trailing_match(path, self._targets)


class TextFiles:
    """Files whose content is known, by path."""

    state = "before"

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._sources = {path: Source(f"{self.state}/{path}", text) for path, text in texts.items()}

    @property
    def paths(self) -> Iterable[str]:
        """See `OldFiles`."""
        return self._sources

    def read(self, path: str) -> Source | None:
        """See `OldFiles`."""
        return self._sources[path]

    def counterpart(self, path: str) -> str | None:
        """See `OldFiles`."""
        return trailing_match(path, self._sources)


def trailing_match(path: str, known: Mapping[str, object]) -> str | None:
    """Return the longest end of a path, at a slash, that is a known path. None if there is none."""
    parts = os.path.normpath(path).replace(os.sep, "/").split("/")
    return next((end for start in range(len(parts)) if (end := "/".join(parts[start:])) in known), None)

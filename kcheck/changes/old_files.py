"""The files of an older state of the input, wherever it comes from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Protocol

from kcheck.discovery.discover import discover
from kcheck.discovery.load import load_file
from kcheck.text.source import Source, Undecodable


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

    def is_unchanged(self, source: Source) -> bool:
        """Return whether a file of the input has the same text in the older state."""


class RevisionFiles:
    """The files of a git revision that were changed or removed since. An object that was moved was in one of them.

    Args:
        revision: the revision as the user wrote it.
        texts: the contents of these files, by their paths.
        counterparts: the path in the revision of each changed file of the input, by its path in the input.
        unchanged: the paths of the other files of the input that the revision has.
        name_of: returns the name of a file in reports.
    """

    def __init__(
        self,
        revision: str,
        texts: Mapping[str, bytes],
        counterparts: Mapping[str, str],
        unchanged: Iterable[str],
        name_of: Callable[[str], str],
    ) -> None:
        self.state = revision
        self._sources: dict[str, Source] = {}
        for path, data in texts.items():
            with suppress(Undecodable):
                self._sources[path] = Source.decode(name_of(path), data)
        self._counterparts = dict(counterparts)
        self._unchanged = frozenset(unchanged)

    @property
    def paths(self) -> Iterable[str]:
        """See `OldFiles`."""
        return self._sources

    def read(self, path: str) -> Source | None:
        """See `OldFiles`."""
        return self._sources.get(path)

    def counterpart(self, path: str) -> str | None:
        """See `OldFiles`."""
        return self._counterparts.get(path)

    def is_unchanged(self, source: Source) -> bool:
        """See `OldFiles`. The contents were compared before."""
        return source.path in self._unchanged or _is_equal(self, source)


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

    def is_unchanged(self, source: Source) -> bool:
        """See `OldFiles`."""
        return _is_equal(self, source)


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

    def is_unchanged(self, source: Source) -> bool:
        """See `OldFiles`."""
        return _is_equal(self, source)


def _is_equal(files: OldFiles, source: Source) -> bool:
    path = files.counterpart(source.path)
    old = files.read(path) if path is not None else None
    return old is not None and old.text == source.text


def trailing_match(path: str, known: Mapping[str, object]) -> str | None:
    """Return the longest end of a path, at a slash, that is a known path. None if there is none."""
    parts = os.path.normpath(path).replace(os.sep, "/").split("/")
    return next((end for start in range(len(parts)) if (end := "/".join(parts[start:])) in known), None)

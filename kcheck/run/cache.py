"""What earlier runs found, by the contents of files. Nothing here is ever needed: what is missing, damaged or foreign is made anew.

A folder of packs. A pack holds the entries of some of the files of one working folder: a check sum, then a dictionary of a file's
digest to its entries. Packs are written beside their place and moved there, so that runs at the same time never see half of one; of
two that write the same pack the later one wins.
"""

from __future__ import annotations

import io
import marshal
import os
import pickle
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from kcheck.text.record import NamedTuple

_MARK = b"kcheck cache 1\n"
_DIGEST = 16
_SUFFIX = ".pack"

MOST = 256 * 1024 * 1024
"""Bytes of all packs together; the ones that have not been used for longest go first."""

_MOST_OF_A_PACK = 2 * 1024 * 1024
_AGE = 14 * 24 * 3600
"""Seconds after which an entry that nobody has asked for is dropped when its pack is written."""


def digest(*parts: bytes) -> bytes:
    """A short name for some bytes; their lengths count, so that no two lists of parts are mistaken for each other."""
    return blake2b(b"".join([each for part in parts for each in (len(part).to_bytes(8, "little"), part)]), digest_size=_DIGEST).digest()


class Entry(NamedTuple):
    """Something remembered: what it depends on, itself, and when it was last asked for (seconds)."""

    key: bytes
    value: bytes
    used: int


class Cache:
    """The packs of one working folder."""

    def __init__(self, folder: Path, place: str) -> None:
        self._folder = folder
        self._place = digest(os.fsencode(place)).hex()[:12]
        self._packs: dict[str, dict[bytes, list[Entry]]] = {}
        self._changed: set[str] = set()
        self._now = int(time.time())

    def get(self, name: bytes, key: bytes) -> Any:
        """What was remembered under a name for a key; None where that is nothing."""
        entries = self._entries(name)
        for number, entry in enumerate(entries):
            if entry.key == key:
                if self._now - entry.used > _AGE // 2:
                    entries[number] = entry._replace(used=self._now)
                    self._changed.add(self._pack_of(name))
                with suppress(Exception):
                    return _Reader(io.BytesIO(entry.value)).load()
                return None
        return None

    def put(self, name: bytes, key: bytes, value: object, most: int = 2) -> None:
        """Remember something under a name. `most`: how many keys of a name are kept."""
        entries = self._entries(name)
        kept = [entry for entry in entries if entry.key != key][: most - 1]
        entries[:] = [Entry(key, pickle.dumps(value, pickle.HIGHEST_PROTOCOL), self._now), *kept]
        self._changed.add(self._pack_of(name))

    def save(self) -> None:
        """Write what has changed. A disk that is full or write-protected is no reason to complain."""
        with suppress(OSError):
            if self._changed:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for pack in sorted(self._changed):
                _write(self._folder / pack, self._small(self._packs[pack]))
            if self._changed:
                _shrink(self._folder, MOST)
            self._changed.clear()

    def _pack_of(self, name: bytes) -> str:
        return f"{self._place}-{name[0]:02x}{_SUFFIX}"

    def _entries(self, name: bytes) -> list[Entry]:
        pack = self._pack_of(name)
        if pack not in self._packs:
            self._packs[pack] = _read(self._folder / pack)
        return self._packs[pack].setdefault(name, [])

    def _small(self, pack: dict[bytes, list[Entry]]) -> dict[bytes, list[tuple[bytes, bytes, int]]]:
        """The entries that are worth keeping: the ones used last, as many as there is room for."""
        newest = sorted(((e, name) for name, entries in pack.items() for e in entries), key=lambda pair: -pair[0].used)
        room = _MOST_OF_A_PACK
        kept: dict[bytes, list[tuple[bytes, bytes, int]]] = {}
        for entry, name in newest:
            room -= len(entry.value)
            if room >= 0 and self._now - entry.used <= _AGE:
                kept.setdefault(name, []).append((entry.key, entry.value, entry.used))
        return kept


def _read(path: Path) -> dict[bytes, list[Entry]]:
    """The entries of a pack, none where it is not there, damaged or not ours."""
    try:
        with open(path, "rb") as file:
            if hasattr(os, "geteuid") and os.fstat(file.fileno()).st_uid != os.geteuid():
                return {}
            data = file.read()
        start = len(_MARK) + _DIGEST
        body = memoryview(data)[start:]
        if data[: len(_MARK)] != _MARK or digest(body) != data[len(_MARK) : start]:  # type: ignore[arg-type]
            return {}
        return {name: [Entry(*entry) for entry in entries] for name, entries in marshal.loads(body).items()}
    except (OSError, ValueError, TypeError, EOFError, AttributeError, MemoryError):
        return {}


def _write(path: Path, pack: dict[bytes, list[tuple[bytes, bytes, int]]]) -> None:
    if not pack:
        path.unlink(missing_ok=True)
        return
    body = marshal.dumps(pack)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(draft, "xb") as file:
            file.write(_MARK + digest(body) + body)
        os.replace(draft, path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _files(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """Age, size and path of all that the cache has written."""
    with suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            if entry.name.endswith((_SUFFIX, _SUFFIX + ".tmp")) or (entry.name.startswith(".") and entry.name.endswith(".tmp")):
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    yield status.st_mtime, status.st_size, Path(entry.path)


def _shrink(folder: Path, most: int) -> None:
    """Remove the oldest packs until the others are small enough, and drafts that nobody finishes."""
    hour_ago = time.time() - 3600
    room = most
    for modified, size, path in sorted(_files(folder), reverse=True):
        room -= size
        if room < 0 or (path.name.startswith(".") and modified < hour_ago):
            with suppress(OSError):
                path.unlink()


class Contents(NamedTuple):
    """How much there is in the cache."""

    packs: int
    size: int


def contents(folder: Path) -> Contents:
    sizes = [size for _, size, _ in _files(folder)]
    return Contents(len(sizes), sum(sizes))


def clear(folder: Path) -> Contents:
    """Remove all packs; tells what was there."""
    before = contents(folder)
    for _, _, path in list(_files(folder)):
        path.unlink(missing_ok=True)
    return before


class _Reader(pickle.Unpickler):
    """Makes our own values and nothing else, whatever the bytes say."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("kcheck."):
            found = getattr(sys.modules.get(module) or __import__(module, fromlist=[name]), name)
            if isinstance(found, type):
                return found
        elif module == "builtins" and name in ("frozenset", "set"):
            return frozenset if name == "frozenset" else set
        raise pickle.UnpicklingError(f"{module}.{name} has no business in a cache")

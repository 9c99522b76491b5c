"""What earlier runs found, by the contents of files. Nothing here is ever needed: what is missing, damaged or foreign is made anew.

A folder of packs. A pack holds some of what is remembered of one working folder: a check sum, then a dictionary of a name to its
entries. Packs are written beside their place and moved there, so that runs at the same time never see half of one; of two that write
the same pack the later one wins.
"""

from __future__ import annotations

import marshal
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from kcheck.text.record import NamedTuple

_MARK = b"kcheck cache 2\n"
_DIGEST = 16
_SUFFIX = ".pack"

MOST = 256 * 1024 * 1024
"""Bytes of all packs together; the ones that have not been used for longest go first."""

_MOST_OF_A_PACK = 8 * 1024 * 1024
_AGE = 14 * 24 * 3600
"""Seconds after which an entry that nobody has asked for is dropped when its pack is written."""

Parts = tuple[Any, ...]
"""What is remembered: bytes, texts, numbers and tuples of them, as `marshal` writes them."""

_Entries = list[tuple[bytes, int, int, Parts]]
"""Of one name, the newest first: what each depends on, when it was last asked for (seconds), its bytes, itself."""


def digest(*parts: bytes) -> bytes:
    """A short name for some bytes; their lengths count, so that no two lists of parts are mistaken for each other."""
    # The second version writes lengths and bytes; later ones also tell which of equal parts are one.
    return state_of(marshal.dumps(parts, 2))


def state_of(data: bytes | memoryview) -> bytes:
    """The same for one piece."""
    # Processors have instructions for this one.
    return sha256(data).digest()[:_DIGEST]


class Cache:
    """The packs of one working folder."""

    def __init__(self, folder: Path, place: str) -> None:
        self._folder = folder
        self._place = digest(os.fsencode(place)).hex()[:12]
        self._packs: dict[str, dict[bytes, _Entries]] = {}
        self._changed: set[str] = set()
        self._now = int(time.time())

    def get(self, pack: str, name: bytes, *keys: bytes) -> Parts | None:
        """What was remembered in a pack under a name for one of these keys; None where that is nothing."""
        entries = self._pack(pack).get(name, ())
        for number, (its_key, used, size, parts) in enumerate(entries):
            if its_key in keys:
                if self._now - used > _AGE // 2:
                    self._packs[pack][name][number] = (its_key, self._now, size, parts)
                    self._changed.add(pack)
                return parts
        return None

    def latest(self, pack: str, name: bytes) -> list[Parts]:
        """All that is remembered under a name, for whatever key, the newest first."""
        return [parts for _, _, _, parts in self._pack(pack).get(name, ())]

    def put(self, pack: str, name: bytes, key: bytes, parts: Parts, most: int = 2) -> None:
        """Remember something under a name. `most`: how many keys of a name are kept."""
        entries = self._pack(pack).setdefault(name, [])
        kept = [entry for entry in entries if entry[0] != key][: most - 1]
        entries[:] = [(key, self._now, len(marshal.dumps(parts)), parts), *kept]
        self._changed.add(pack)

    def save(self) -> None:
        """Write what has changed. A disk that is full or write-protected is no reason to complain."""
        with suppress(OSError):
            if self._changed:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for pack in sorted(self._changed):
                _write(self._path(pack), self._small(self._packs[pack]))
            if self._changed:
                _shrink(self._folder, MOST)
            self._changed.clear()

    def _path(self, pack: str) -> Path:
        return self._folder / f"{self._place}-{pack}{_SUFFIX}"

    def _pack(self, pack: str) -> dict[bytes, _Entries]:
        found = self._packs.get(pack)
        if found is None:
            found = self._packs[pack] = _read(self._path(pack))
        return found

    def _small(self, pack: dict[bytes, _Entries]) -> dict[bytes, _Entries]:
        """The entries that are worth keeping: the ones used last, as many as there is room for."""
        newest = sorted(((entry, name) for name, entries in pack.items() for entry in entries), key=lambda pair: -pair[0][1])
        room = _MOST_OF_A_PACK
        kept: dict[bytes, _Entries] = {}
        for entry, name in newest:
            room -= entry[2]
            if room >= 0 and self._now - entry[1] <= _AGE:
                kept.setdefault(name, []).append(entry)
        return kept


def _read(path: Path) -> dict[bytes, _Entries]:
    """The entries of a pack, none where it is not there, damaged or not ours."""
    try:
        with open(path, "rb", buffering=0) as file:
            if hasattr(os, "geteuid") and os.fstat(file.fileno()).st_uid != os.geteuid():
                return {}
            data = file.read()
        start = len(_MARK) + _DIGEST
        body = memoryview(data)[start:]
        if data[: len(_MARK)] != _MARK or state_of(body) != data[len(_MARK) : start]:
            return {}
        pack = marshal.loads(body)
        return pack if isinstance(pack, dict) else {}
    except (OSError, ValueError, TypeError, EOFError, AttributeError, MemoryError):
        return {}


def _write(path: Path, pack: dict[bytes, _Entries]) -> None:
    if not pack:
        path.unlink(missing_ok=True)
        return
    body = marshal.dumps(pack)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(draft, "xb") as file:
            file.write(_MARK + state_of(body) + body)
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

"""What earlier runs found, by the contents of files. Nothing here is ever needed: what is missing, damaged or foreign is made anew.

A folder of packs. A pack holds some of what is remembered of one working folder: a checksum, a list of entries (`_PackEntry`) and their
bytes, one after the other. Packs are written beside their place and moved there, so that runs at the same time never see half of
one; of two that write the same pack the later one wins.

The checksum detects damage, not malice: anybody can compute it. So nothing read here is more than bytes, which `kcheck.codec.encoding`
turns into values. Only regular files that belong to the user and are not larger than a pack may be are opened; anything else
that has the name of a pack is left alone.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from kcheck.codec.encoding import DecodeError, packed, unpacked
from kcheck.text.digest import DIGEST_SIZE, digest_of, digest_of_parts
from kcheck.text.record import NamedTuple

_MARK = f"kcheck cache 3 {sys.byteorder}\n".encode()
_SIZE = 4
_SUFFIX = ".pack"

MOST = 256 * 1024 * 1024
"""Bytes of all packs together; the ones that have not been used for longest go first."""

_MOST_OF_A_PACK = 8 * 1024 * 1024
_DAY = 24 * 3600
_AGE = 14
"""Days after which an entry that has not been asked for is dropped when its pack is written."""

_OVERHEAD = 256
"""Bytes that an entry takes at most besides its name and its own bytes."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

Parts = Sequence[bytes | memoryview]
"""What is remembered."""


class _PackEntry(NamedTuple):
    """An entry of a pack.

    `key`: what it depends on; `day`: when it was last asked for; `start`: where its bytes begin; `sizes`: of its parts.
    """

    key: str
    day: int
    start: int
    sizes: tuple[int, ...]


_Index = Mapping[str, list[_PackEntry]]
"""The entries of each name, the newest first."""


class _Pack:
    """Entries by name, with their bytes: as they were read, or in `new` by name and key."""

    def __init__(self, entries: dict[str, list[_PackEntry]], data: bytes | memoryview) -> None:
        self.entries = entries
        self.data = data
        self.new: dict[tuple[str, str], Parts] = {}

    def parts(self, name: str, entry: _PackEntry) -> Parts:
        """The bytes of an entry; fewer where it is wrong about them."""
        key, _, end, sizes = entry
        if self.new and (name, key) in self.new:
            return self.new[name, key]
        parts = []
        for size in sizes:
            start, end = end, end + size
            parts.append(self.data[start:end])
        return parts


class Cache:
    """The packs of one working folder."""

    def __init__(self, folder: Path, place: str) -> None:
        self._folder = folder
        self._place = digest_of_parts(os.fsencode(place)).hex()[:12]
        self._packs: dict[str, _Pack] = {}
        self._changed: set[str] = set()
        self._today = int(time.time() // _DAY)

    def get(self, pack: str, name: str, *keys: str) -> Parts | None:
        """What was remembered in a pack under a name for one of these keys; None where that is nothing."""
        found = self._pack(pack)
        entries = found.entries.get(name)
        if entries:
            for number, entry in enumerate(entries):
                key, day, _, _ = entry
                if key in keys:
                    if self._today - day > _AGE // 2:
                        entries[number] = entry._replace(day=self._today)
                        self._changed.add(pack)
                    return found.parts(name, entry)
        return None

    def latest(self, pack: str, name: str) -> list[Parts]:
        """All that is remembered under a name, for whatever key, the newest first."""
        found = self._pack(pack)
        return [found.parts(name, entry) for entry in found.entries.get(name, ())]

    def put(self, pack: str, name: str, key: str, parts: Parts, most: int = 2) -> None:
        """Remember something under a name. `most`: how many keys of a name are kept."""
        found = self._pack(pack)
        kept = [entry for entry in found.entries.get(name, ()) if entry.key != key][: most - 1]
        found.entries[name] = [_PackEntry(key, self._today, 0, tuple(map(len, parts))), *kept]
        found.new[name, key] = parts
        self._changed.add(pack)

    def save(self) -> None:
        """Write what has changed. A disk that is full or write-protected is no reason to complain."""
        if self._changed:
            with suppress(OSError):
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for pack in sorted(self._changed):
                with suppress(OSError, DecodeError):
                    _write(self._path(pack), self._small(self._packs[pack]))
            _shrink(self._folder, MOST)
            self._changed.clear()

    def _path(self, pack: str) -> Path:
        return self._folder / f"{self._place}-{pack}{_SUFFIX}"

    def _pack(self, pack: str) -> _Pack:
        found = self._packs.get(pack)
        if found is None:
            found = self._packs[pack] = _read(self._path(pack))
        return found

    def _small(self, pack: _Pack) -> _Pack:
        """The entries that are worth keeping: the ones used last, as many as there is room for."""
        newest = sorted(((entry, name) for name, entries in pack.entries.items() for entry in entries), key=lambda pair: -pair[0].day)
        room = _MOST_OF_A_PACK - _OVERHEAD
        small = _Pack({}, pack.data)
        small.new = pack.new
        for entry, name in newest:
            room -= sum(entry.sizes) + 4 * len(name) + _OVERHEAD
            if room >= 0 and self._today - entry.day <= _AGE:
                small.entries.setdefault(name, []).append(entry)
        return small


def _read(path: Path) -> _Pack:
    """A pack, an empty one where it is not there, damaged or not ours."""
    try:
        data = _content(path)
        body = memoryview(data)[len(_MARK) + DIGEST_SIZE :]
        if data.startswith(_MARK) and digest_of(body) == data[len(_MARK) : len(_MARK) + DIGEST_SIZE]:
            end = _SIZE + int.from_bytes(body[:_SIZE], sys.byteorder)
            return _Pack(unpacked(body[_SIZE:end], _Index), body[end:])
    except (OSError, ValueError, MemoryError):
        pass
    return _Pack({}, b"")


def _content(path: Path) -> bytes:
    """The bytes of a file that is ours and not too large. Raises OSError and ValueError."""
    descriptor = os.open(path, _FLAGS)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or (hasattr(os, "geteuid") and status.st_uid != os.geteuid()):
            raise ValueError("not a file of ours")
        if status.st_size > _MOST_OF_A_PACK:
            raise ValueError("too large for a pack")
        return os.read(descriptor, _MOST_OF_A_PACK)
    finally:
        os.close(descriptor)


def _write(path: Path, pack: _Pack) -> None:
    """Write a pack, readable for its owner alone. Raises OSError and Misfit."""
    if not pack.entries:
        path.unlink(missing_ok=True)
        return
    blobs: list[bytes | memoryview] = []
    index: dict[str, list[_PackEntry]] = {}
    start = 0
    for name, entries in pack.entries.items():
        index[name] = []
        for entry in entries:
            parts = pack.parts(name, entry)
            index[name].append(_PackEntry(entry.key, entry.day, start, tuple(map(len, parts))))
            blobs += parts
            start += sum(map(len, parts))
    head = packed(index, _Index)
    body = b"".join([len(head).to_bytes(_SIZE, sys.byteorder), head, *blobs])
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(draft, "xb", opener=_privately) as file:
            file.write(_MARK + digest_of(body) + body)
        os.replace(draft, path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _privately(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _files(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """Age, size and path of all files that the cache has written."""
    with suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            if entry.name.endswith((_SUFFIX, _SUFFIX + ".tmp")) or (entry.name.startswith(".") and entry.name.endswith(".tmp")):
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
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

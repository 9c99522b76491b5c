"""A store of results by the contents of files. It is only a cache: missing, damaged or foreign entries are computed again.

The store is a folder of packs. A pack holds entries of one working folder: a checksum, a list of entries (`_PackIndex`) and their
bytes. Packs are written to a temporary file and renamed, so that concurrent runs never see incomplete packs; of two runs that write
the same pack, the later one wins.

The checksum detects damage, not malice: anyone can compute it. So the content is treated as bytes, which `kcheck.codec.encoding`
turns into values. Only regular files that belong to the user and do not exceed the size of a pack are opened; other files with the
name of a pack are left alone.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from kcheck.codec.encoding import DecodeError, packed, unpacked
from kcheck.text.digest import DIGEST_SIZE, digest_of, digest_of_parts
from kcheck.text.record import NamedTuple

_MARK = f"kcheck cache 4 {sys.byteorder}\n".encode()
_LENGTH_BYTES = 4
_SUFFIX = ".pack"

MAX_BYTES = 256 * 1024 * 1024
"""Maximum bytes of all packs together; the least recently used packs are removed first."""

_MAX_PACK_BYTES = 8 * 1024 * 1024
_SECONDS_PER_DAY = 24 * 3600
_MAX_AGE_DAYS = 14
"""Days without use after which an entry is dropped when its pack is written."""

_ENTRY_OVERHEAD_BYTES = 256
"""Maximum bytes of an entry in addition to its name and its data."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

Parts = Sequence[bytes | memoryview]
"""The data of an entry."""


class _PackEntry(NamedTuple):
    """The place of an entry in a pack.

    Attributes:
        key: Digest of the values that it depends on.
        day: Day of the last use.
        start: Offset of its data.
        sizes: Sizes of its parts.
    """

    key: str
    day: int
    start: int
    sizes: tuple[int, ...]


_make_entry = _PackEntry._make


class _PackIndex(NamedTuple):
    """The entries of a pack in columns, which take half the time to decode.

    Attributes:
        names: Name of each entry, the newest first among entries of the same name.
        keys: See `_PackEntry`.
        days: See `_PackEntry`.
        counts: Number of parts of each entry.
        sizes: Sizes of the parts of all entries, in the order of the data.
    """

    names: list[str]
    keys: list[str]
    days: list[int]
    counts: list[int]
    sizes: list[int]

    def entries(self) -> dict[str, list[_PackEntry]]:
        """Return the entries of each name, the newest first. Raises ValueError if the columns do not match."""
        names, keys, days, counts, sizes = self
        if min(counts, default=0) < 0 or sum(counts) != len(sizes):
            raise ValueError("the number of parts is wrong")
        entries: dict[str, list[_PackEntry]] = {}
        at = start = 0
        for name, key, day, count in zip(names, keys, days, counts, strict=True):
            own = tuple(sizes[at : at + count])
            entries.setdefault(name, []).append(_make_entry((key, day, start, own)))
            at += count
            start += sum(own)
        return entries


class _Pack:
    """Entries by name with their data: as read, or in `new` by name and key."""

    def __init__(self, entries: dict[str, list[_PackEntry]], data: bytes | memoryview) -> None:
        self.entries = entries
        self.data = data
        self.new: dict[tuple[str, str], Parts] = {}

    def parts(self, name: str, entry: _PackEntry) -> Parts:
        """Return the data of an entry; less if the index is wrong."""
        key, _, end, sizes = entry
        if self.new and (name, key) in self.new:
            return self.new[name, key]
        data, parts = self.data, []
        for size in sizes:
            start, end = end, end + size
            parts.append(data[start:end])
        return parts


class Cache:
    """The packs of one working folder."""

    def __init__(self, folder: Path, place: str) -> None:
        self._folder = folder
        self._place = digest_of_parts(os.fsencode(place)).hex()[:12]
        self._packs: dict[str, _Pack] = {}
        self._changed: set[str] = set()
        self._today = int(time.time() // _SECONDS_PER_DAY)

    def get(self, pack: str, name: str, *keys: str) -> Parts | None:
        """Return the data stored under a name for one of these keys, or None."""
        pack_data = self._pack(pack)
        entries = pack_data.entries.get(name)
        if entries:
            for number, entry in enumerate(entries):
                key, day, _, _ = entry
                if key in keys:
                    if self._today - day > _MAX_AGE_DAYS // 2:
                        entries[number] = entry._replace(day=self._today)
                        self._changed.add(pack)
                    return pack_data.parts(name, entry)
        return None

    def get_all(self, pack: str, name: str) -> list[Parts]:
        """Return all data stored under a name, the newest first."""
        pack_data = self._pack(pack)
        return [pack_data.parts(name, entry) for entry in pack_data.entries.get(name, ())]

    def put(self, pack: str, name: str, key: str, parts: Parts, max_keys: int = 2) -> None:
        """Store data under a name. `max_keys`: number of keys kept per name."""
        pack_data = self._pack(pack)
        kept = [entry for entry in pack_data.entries.get(name, ()) if entry.key != key][: max_keys - 1]
        pack_data.entries[name] = [_PackEntry(key, self._today, 0, tuple(map(len, parts))), *kept]
        pack_data.new[name, key] = parts
        self._changed.add(pack)

    def save(self) -> None:
        """Write changed packs. A full or write-protected disk is ignored."""
        if self._changed:
            with suppress(OSError):
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for pack in sorted(self._changed):
                with suppress(OSError, DecodeError):
                    _write_pack(self._path(pack), self._trimmed(self._packs[pack]))
            _remove_oldest(self._folder, MAX_BYTES)
            self._changed.clear()

    def _path(self, pack: str) -> Path:
        return self._folder / f"{self._place}-{pack}{_SUFFIX}"

    def _pack(self, pack: str) -> _Pack:
        pack_data = self._packs.get(pack)
        if pack_data is None:
            pack_data = self._packs[pack] = _read_pack(self._path(pack))
        return pack_data

    def _trimmed(self, pack: _Pack) -> _Pack:
        """Return the most recently used entries that fit into a pack."""
        newest = sorted(((entry, name) for name, entries in pack.entries.items() for entry in entries), key=lambda pair: -pair[0].day)
        room = _MAX_PACK_BYTES - _ENTRY_OVERHEAD_BYTES
        trimmed = _Pack({}, pack.data)
        trimmed.new = pack.new
        for entry, name in newest:
            room -= sum(entry.sizes) + 4 * len(name) + _ENTRY_OVERHEAD_BYTES
            if room >= 0 and self._today - entry.day <= _MAX_AGE_DAYS:
                trimmed.entries.setdefault(name, []).append(entry)
        return trimmed


def _read_pack(path: Path) -> _Pack:
    """Read a pack; a pack that is missing, damaged or foreign is empty."""
    try:
        data = _read_owned_file(path)
        body = memoryview(data)[len(_MARK) + DIGEST_SIZE :]
        if data.startswith(_MARK) and digest_of(body) == data[len(_MARK) : len(_MARK) + DIGEST_SIZE]:
            end = _LENGTH_BYTES + int.from_bytes(body[:_LENGTH_BYTES], sys.byteorder)
            return _Pack(unpacked(body[_LENGTH_BYTES:end], _PackIndex).entries(), body[end:])
    except (OSError, ValueError, MemoryError):
        pass
    return _Pack({}, b"")


def _read_owned_file(path: Path) -> bytes:
    """Return the content of a file that belongs to the user and is not too large. Raises OSError and ValueError."""
    descriptor = os.open(path, _FLAGS)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or (hasattr(os, "geteuid") and status.st_uid != os.geteuid()):
            raise ValueError("not a file of this user")
        if status.st_size > _MAX_PACK_BYTES:
            raise ValueError("too large for a pack")
        # A pack is replaced as a whole, so its size does not change. A buffer of the maximum size would take longer to allocate.
        return os.read(descriptor, status.st_size)
    finally:
        os.close(descriptor)


def _write_pack(path: Path, pack: _Pack) -> None:
    """Write a pack that only the user can read. Raises OSError and DecodeError."""
    if not pack.entries:
        path.unlink(missing_ok=True)
        return
    blobs: list[bytes | memoryview] = []
    index = _PackIndex([], [], [], [], [])
    for name, entries in pack.entries.items():
        for entry in entries:
            parts = pack.parts(name, entry)
            index.names.append(name)
            index.keys.append(entry.key)
            index.days.append(entry.day)
            index.counts.append(len(parts))
            index.sizes.extend(map(len, parts))
            blobs += parts
    head = packed(index, _PackIndex)
    body = b"".join([len(head).to_bytes(_LENGTH_BYTES, sys.byteorder), head, *blobs])
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(draft, "xb", opener=_open_private) as file:
            file.write(_MARK + digest_of(body) + body)
        os.replace(draft, path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _files(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """Yield modification time, size and path of all files that the cache has written."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((_SUFFIX, _SUFFIX + ".tmp")) or (entry.name.startswith(".") and entry.name.endswith(".tmp")):
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        yield status.st_mtime, status.st_size, Path(entry.path)


def _remove_oldest(folder: Path, max_bytes: int) -> None:
    """Remove the oldest packs until the others fit, and abandoned temporary files."""
    hour_ago = time.time() - 3600
    room = max_bytes
    for modified, size, path in sorted(_files(folder), reverse=True):
        room -= size
        if room < 0 or (path.name.startswith(".") and modified < hour_ago):
            with suppress(OSError):
                path.unlink()


class Contents(NamedTuple):
    """The number of packs and their total size in bytes."""

    packs: int
    size: int


def contents(folder: Path) -> Contents:
    sizes = [size for _, size, _ in _files(folder)]
    return Contents(len(sizes), sum(sizes))


def clear(folder: Path) -> Contents:
    """Remove all packs and return their number and size."""
    before = contents(folder)
    for _, _, path in list(_files(folder)):
        path.unlink(missing_ok=True)
    return before

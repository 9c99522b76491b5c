"""Which objects of a large input belong together, where it holds the same object several times: overlays, versions, examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from functools import cached_property, lru_cache

from kcheck.text.record import NamedTuple

Identity = tuple[str, str, str, str]
"""Group, kind, namespace and name: a cluster holds one object of each."""


class Named(NamedTuple):
    """Who an object is, and the file that it stands in."""

    identity: Identity
    file: str


def identity(group: str, kind: str, namespace: str, name: str) -> Identity:
    return group, kind, "" if namespace == "default" else namespace, name


def may_share(first: str, second: str) -> bool:
    """Whether two namespaces can be one: a manifest that names none gets the one that it is applied with."""
    return first == second or not first or not second


class Variants:
    """Objects of one identity are variants of one another.

    How far a file is from another: 0 for itself, 1 for the files of its folder and below it, one more for every folder to climb. Two
    objects belong together unless a variant of the one stands nearer to the other.
    """

    def __init__(self, objects: Iterable[Named]) -> None:
        files: dict[Identity, set[str]] = defaultdict(set)
        for each in objects:
            files[each.identity].add(each.file)
        self._files = {identity: found for identity, found in files.items() if len(found) > 1}
        # Of what has variants: every folder, and the files with one somewhere below it.
        self._below: dict[Identity, dict[str, list[str]]] = {}
        for identity, found in self._files.items():
            below: dict[str, list[str]] = defaultdict(list)
            for file in sorted(found):
                for folder in _above(file):
                    below[folder].append(file)
            self._below[identity] = below

    def has(self, identity: Identity) -> bool:
        """Whether there are several of an identity."""
        return identity in self._files

    def nearest(self, identity: Identity, file: str) -> Collection[str] | None:
        """The files with the variants that are nearest to a file, None for what has no variants."""
        below = self._below.get(identity)
        if below is None:
            return None
        if file in self._files[identity]:
            return (file,)
        return next((below[folder] for folder in _above(file) if folder in below), ())

    def is_nearest(self, each: Named, file: str) -> bool:
        """Whether no variant of an object is nearer to a file."""
        if each.file == file or each.identity not in self._below:
            return True
        below, files = self._below[each.identity], self._files[each.identity]
        if file in files:
            return False
        folder = next((folder for folder in _above(file) if folder in below), "")
        return not folder or each.file.startswith(f"{folder}/")

    def together(self, first: Named, second: Named) -> bool:
        """Whether neither of two objects has a variant that is nearer to the other."""
        return self.is_nearest(first, second.file) and self.is_nearest(second, first.file)

    @cached_property
    def _repeated(self) -> dict[str, set[Identity]]:
        """File -> identities that stand in other files, too. A Namespace may be repeated wherever it is used."""
        table: dict[str, set[Identity]] = defaultdict(set)
        for identity, files in self._files.items():
            if identity[1] != "Namespace":
                for file in files:
                    table[file].add(identity)
        return dict(table)

    @cached_property
    def _shared(self) -> dict[str, set[Identity]]:
        """The same of folders."""
        table: dict[str, set[Identity]] = defaultdict(set)
        for file, identities in self._repeated.items():
            table[file.rpartition("/")[0]] |= identities
        return dict(table)

    def alternatives(self, first: str, second: str) -> bool:
        """Whether two files, or the folders that they are in, hold the same object, so that one of them is applied and not both."""
        if first == second:
            return False
        if not self._repeated.get(first, set()).isdisjoint(self._repeated.get(second, ())):
            return True
        here, there = first.rpartition("/")[0], second.rpartition("/")[0]
        return here != there and not self._shared.get(here, set()).isdisjoint(self._shared.get(there, ()))


def _above(file: str) -> list[str]:
    """The folders that a file is in, the innermost first; "" is where all relative paths begin."""
    return _upwards(file.rpartition("/")[0])


@lru_cache(maxsize=10_000)
def _upwards(folder: str) -> list[str]:
    parts = folder.split("/") if folder else []
    return ["/".join(parts[:end]) for end in range(len(parts), -1, -1)]

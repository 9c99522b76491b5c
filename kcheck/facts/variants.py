"""Selection of the objects that belong together if the input contains several copies of an object: overlays, versions, examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from functools import cached_property, lru_cache

from kcheck.kube.placeholders import in_name
from kcheck.text.record import NamedTuple

Identity = tuple[str, str, str, str]
"""Group, kind, namespace and name, which are unique in a cluster."""


class Named(NamedTuple):
    """The identity of an object and its file."""

    identity: Identity
    file: str


def identity(group: str, kind: str, namespace: str, name: str) -> Identity:
    """Return the identity of an object; the namespace "default" counts as not set."""
    return group, kind, "" if namespace == "default" else namespace, name


def may_share(first: str, second: str) -> bool:
    """Return whether two namespaces may be the same. An object without a namespace, or with a placeholder, may be in any namespace."""
    return first == second or not first or not second or in_name(first) != "" or in_name(second) != ""


class Variants:
    """Objects with the same identity in different files, called variants.

    The distance of two files is 0 for the same file, 1 for files in the same folder or its subfolders, and one more for each parent folder.
    Two objects belong together unless a variant of one of them is nearer to the other.
    """

    def __init__(self, objects: Iterable[Named]) -> None:
        files: dict[Identity, set[str]] = defaultdict(set)
        for each in objects:
            files[each.identity].add(each.file)
        self._files = {identity: found for identity, found in files.items() if len(found) > 1}
        # By identity with variants: each folder with the files that contain a variant in it or its subfolders.
        self._below: dict[Identity, dict[str, list[str]]] = {}
        for identity, found in self._files.items():
            below: dict[str, list[str]] = defaultdict(list)
            for file in sorted(found):
                for folder in _above(file):
                    below[folder].append(file)
            self._below[identity] = below

    def has(self, identity: Identity) -> bool:
        """Return whether an identity has variants."""
        return identity in self._files

    def nearest(self, identity: Identity, file: str) -> Collection[str] | None:
        """Return the files with the variants that are nearest to a file, None if the identity has no variants."""
        below = self._below.get(identity)
        if below is None:
            return None
        if file in self._files[identity]:
            return (file,)
        return next((below[folder] for folder in _above(file) if folder in below), ())

    def is_nearest(self, each: Named, file: str) -> bool:
        """Return whether no other variant of an object is nearer to a file."""
        if each.file == file or each.identity not in self._below:
            return True
        below, files = self._below[each.identity], self._files[each.identity]
        if file in files:
            return False
        folder = next((folder for folder in _above(file) if folder in below), "")
        return not folder or each.file.startswith(f"{folder}/")

    def together(self, first: Named, second: Named) -> bool:
        """Return whether neither of two objects has a variant that is nearer to the other."""
        return self.is_nearest(first, second.file) and self.is_nearest(second, first.file)

    @cached_property
    def _repeated(self) -> dict[str, set[Identity]]:
        """File -> identities that also occur in other files, except Namespaces, which are often repeated."""
        table: dict[str, set[Identity]] = defaultdict(set)
        for identity, files in self._files.items():
            if identity[1] != "Namespace":
                for file in files:
                    table[file].add(identity)
        return dict(table)

    @cached_property
    def _shared(self) -> dict[str, set[Identity]]:
        """Folder -> identities that also occur in other files."""
        table: dict[str, set[Identity]] = defaultdict(set)
        for file, identities in self._repeated.items():
            table[file.rpartition("/")[0]] |= identities
        return dict(table)

    def alternatives(self, first: str, second: str) -> bool:
        """Return whether two files or their folders contain the same object, so that only one of them is applied."""
        if first == second:
            return False
        if not self._repeated.get(first, set()).isdisjoint(self._repeated.get(second, ())):
            return True
        here, there = first.rpartition("/")[0], second.rpartition("/")[0]
        return here != there and not self._shared.get(here, set()).isdisjoint(self._shared.get(there, ()))


def _above(file: str) -> list[str]:
    """Return the folders that contain a file, innermost first; "" is the root of relative paths."""
    return _upwards(file.rpartition("/")[0])


@lru_cache(maxsize=10_000)
def _upwards(folder: str) -> list[str]:
    parts = folder.split("/") if folder else []
    return ["/".join(parts[:end]) for end in range(len(parts), -1, -1)]

"""Lookup of objects of one kind in the same folder by name, to suggest the target of a dangling reference."""

from __future__ import annotations

from collections.abc import Sequence

from kcheck.facts.bundle import Bundle
from kcheck.facts.facts import Facts
from kcheck.kube.suggestions import Lexicon


class PeerNames:
    """The first object of each name.

    Attributes:
        first: (index in the folder, facts) by name.
    """

    def __init__(self) -> None:
        self.first: dict[str, tuple[int, Facts]] = {}
        self._lexicon: Lexicon | None = None

    @property
    def lexicon(self) -> Lexicon:
        """Search index of the names."""
        if self._lexicon is None:
            self._lexicon = Lexicon(self.first)
        return self._lexicon


class PeerView:
    """The objects of a folder or file that may be in a namespace."""

    def __init__(self, tables: Sequence[PeerNames]) -> None:
        self._tables = tables

    def __bool__(self) -> bool:
        return bool(self._tables)

    def around(self, name: str) -> list[str]:
        """Return the names that may be similar to a misspelled name."""
        return [each for table in self._tables for each in table.lexicon.around(name)]

    def named(self, name: str) -> Facts | None:
        """Return the first object of a name."""
        return min((table.first[name] for table in self._tables if name in table.first), key=lambda found: found[0], default=(0, None))[1]


class Neighbours:
    """The named objects of one kind in one folder."""

    def __init__(self, objects: Sequence[Facts]) -> None:
        self._any: dict[str, Facts] = {}
        # By file ("" for the whole folder) and namespace (None for all namespaces).
        self._tables: dict[tuple[str, str | None], PeerNames] = {}
        for number, f in enumerate(objects):
            name = f.id.name
            self._any.setdefault(name, f)
            if name:
                for key in ((file, space) for file in ("", f.place.file) for space in (None, f.id.namespace)):
                    table = self._tables.get(key)
                    if table is None:
                        table = self._tables[key] = PeerNames()
                    table.first.setdefault(name, (number, f))

    def named(self, name: str) -> Facts | None:
        """Return the first object of a name in any namespace."""
        return self._any.get(name)

    def has(self, file: str, namespace: str) -> bool:
        """Return whether a file contains an object with this namespace."""
        return (file, namespace) in self._tables

    def sharing(self, namespace: str, file: str = "") -> PeerView:
        """Return the objects of the folder, or of one of its files, that may be in a namespace."""
        spaces = ("", namespace) if namespace else (None,)
        return PeerView([table for space in spaces if (table := self._tables.get((file, space))) is not None])


class Peers:
    """The objects of a bundle by unit or folder, kind and name: `bundle.once(Peers).of(...)`."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._known: dict[tuple[str, str, str], Neighbours] = {}

    def of(self, by: Facts, kind: str, group: str = "") -> Neighbours:
        """Return the objects of a kind in the unit or folder of an object."""
        key = (self._bundle.home(by), group, kind)
        if key not in self._known:
            self._known[key] = Neighbours(self._bundle.neighbours(by, kind, group))
        return self._known[key]

"""What kubeconfig files say of one another: KUBECONFIG makes one configuration of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from kcheck.kube.location import Location
from kcheck.text.record import NamedTuple

Section = Literal["clusters", "users", "contexts"]
SECTIONS: Mapping[Section, str] = {"clusters": "cluster", "users": "user", "contexts": "context"}
"""The lists of a kubeconfig, and the field of an entry that holds what is called by its name."""


class KubeconfigEntry(NamedTuple):
    """A cluster, user or context. `contents`: equal in two entries that say the same, and good for nothing else."""

    contents: str
    place: Location


class Naming(NamedTuple):
    """A place that names an entry, "" for none. `context`: the context that does, "" where it is current-context."""

    section: Section
    name: str
    context: str
    place: Location


class Kubeconfig(NamedTuple):
    """The entries of one file by their names, and what is named in it. `place` shows the whole."""

    place: Location
    entries: Mapping[Section, Mapping[str, KubeconfigEntry]]
    namings: tuple[Naming, ...]

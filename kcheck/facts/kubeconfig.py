"""Facts of kubeconfig files: KUBECONFIG merges several files into one configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from kcheck.kube.location import Location
from kcheck.text.record import NamedTuple

Section = Literal["clusters", "users", "contexts"]
SECTIONS: Mapping[Section, str] = {"clusters": "cluster", "users": "user", "contexts": "context"}
"""The lists of a kubeconfig, and the field of an entry that contains its value."""


class KubeconfigEntry(NamedTuple):
    """A cluster, user or context.

    Attributes:
        contents: comparison key; equal for two entries with the same value.
        place: location of the entry.
    """

    contents: str
    place: Location


class Naming(NamedTuple):
    """A reference to an entry.

    Attributes:
        section: list that contains the entry.
        name: name of the entry, "" if it is empty.
        context: context that contains the reference, "" for current-context.
        place: location of the reference.
    """

    section: Section
    name: str
    context: str
    place: Location


class Kubeconfig(NamedTuple):
    """The content of one kubeconfig file.

    Attributes:
        place: location of the object.
        entries: entries by section and name.
        namings: references to entries.
    """

    place: Location
    entries: Mapping[Section, Mapping[str, KubeconfigEntry]]
    namings: tuple[Naming, ...]

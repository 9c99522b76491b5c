"""A change of one object: the new manifest and the older one of the same identity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from kcheck.kube.location import Location
from kcheck.kube.resource import Resource
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.yaml.node import Node


class OlderObject(NamedTuple):
    """An object in an older state of the input.

    Attributes:
        resource: the object. The path of its source names the place as reports show it, such as `old/web.yaml` or `origin/main:web.yaml`.
        state: the older state in words, such as "before" or "origin/main".
        place: the location of the object in the older file.
    """

    resource: Resource
    state: str
    place: Location


class OlderState(Protocol):
    """An older state of the input."""

    @property
    def digest(self) -> bytes:
        """A digest of everything that findings about changes depend on."""

    def is_unchanged(self, source: Source) -> bool:
        """Return whether a file is the same in both states."""

    def find(self, resource: Resource) -> OlderObject | None:
        """Return the older version of an object, None if the object is new or has not changed."""


class AppliedForms(NamedTuple):
    """Both states of an object as the API server stores them: plain values as in JSON, with defaults.

    Attributes:
        stored: the object before the change.
        applied: the object after a server-side apply of the new manifest over it.
    """

    stored: dict[str, Any]
    applied: dict[str, Any]


class ObjectChange:
    """A change of one object.

    Attributes:
        old: the older manifest.
        new: the new manifest.
        place: the location of the older manifest.
    """

    def __init__(self, older: OlderObject, new: Resource, make_forms: Callable[[Resource, Resource], AppliedForms]) -> None:
        self.old = older.resource
        self.new = new
        self.place = older.place
        self._make_forms = make_forms
        self._forms: AppliedForms | None = None

    @property
    def forms(self) -> AppliedForms:
        """Both states as the API server stores them, computed on first access."""
        if self._forms is None:
            self._forms = self._make_forms(self.old, self.new)
        return self._forms

    def stored(self, *keys: str | int) -> Any:
        """Return the value of a field before the change, None if it was not set."""
        return value_at(self.forms.stored, keys)

    def applied(self, *keys: str | int) -> Any:
        """Return the value of a field after the change, None if it is not set."""
        return value_at(self.forms.applied, keys)

    def changes(self, *keys: str | int) -> bool:
        """Return whether a field changes."""
        return not is_equal(self.stored(*keys), self.applied(*keys))

    def node(self, *keys: str | int) -> Node:
        """Return the node of a field in the new manifest, an absent one if it does not contain the field."""
        return self.new.node.at(*keys)


def value_at(value: Any, keys: tuple[str | int, ...]) -> Any:
    """Return the value at a path in plain values, None if it does not exist."""
    for key in keys:
        if isinstance(key, int):
            value = value[key] if isinstance(value, list) and 0 <= key < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def is_equal(old: Any, new: Any) -> bool:
    """Return whether two plain values are equal. Null equals absent, and true differs from 1."""
    if isinstance(old, dict) and isinstance(new, dict):
        return all(is_equal(old.get(key), new.get(key)) for key in old.keys() | new.keys())
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(is_equal, old, new))
    return type(old) is type(new) and bool(old == new)

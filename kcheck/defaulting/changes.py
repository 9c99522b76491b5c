"""What defaulting has changed in an object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

Keys = tuple[str | int, ...]


class FieldChange(NamedTuple):
    """One difference between an object as written and as held.

    Attributes:
        keys: keys and list indexes from the object to the value.
        how: "set" for a value that was absent, "changed" for one that the server writes differently, "dropped" for one that it drops.
        value: the new value; of a dropped one, the value as written.
    """

    keys: Keys
    how: Literal["set", "changed", "dropped"]
    value: Any


def changes_between(written: Any, held: Any, keys: Keys = ()) -> Iterator[FieldChange]:
    """Yield what the API server set, changed and dropped. An added object or list is one change; so is an item at the end of a list."""
    if written.__class__ is dict and held.__class__ is dict:
        for key, value in held.items():
            if key in written:
                yield from changes_between(written[key], value, (*keys, key))
            else:
                yield FieldChange((*keys, key), "set", value)
        for key, value in written.items():
            if key not in held:
                yield FieldChange((*keys, key), "dropped", value)
    elif written.__class__ is list and held.__class__ is list:
        for index, value in enumerate(held):
            if index < len(written):
                yield from changes_between(written[index], value, (*keys, index))
            else:
                yield FieldChange((*keys, index), "set", value)
        for index in range(len(held), len(written)):
            yield FieldChange((*keys, index), "dropped", written[index])
    elif written != held or written.__class__ is not held.__class__:
        # null is the absence of a value.
        yield FieldChange(keys, "set" if written is None else "changed", held)

"""An object as YAML, in which comments mark what the API server set, changed and dropped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kcheck.defaulting.changes import FieldChange, Keys
from kcheck.text.pattern import pattern
from kcheck.yaml.edits import flow

_BLOCK = pattern(r"(?!\s)[^\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]*")

Marks = Mapping[Keys, str]
"""The comment of each marked value. The values in it are marked alike."""


class MarkedYaml:
    """Writes an object as block YAML.

    `marks`: comments by the keys of a value; `dropped`: by the keys of an object or list, the names of what is missing in it.
    """

    def __init__(self, marks: Marks, dropped: Mapping[Keys, Iterable[str]]) -> None:
        self.marks = marks
        self.dropped = dropped

    def text(self, value: Any) -> str:
        """Return the YAML of an object, ending with a line break."""
        return "".join(f"{line}\n" for line in self._collection(value, (), ""))

    def _collection(self, value: Any, keys: Keys, comment: str) -> Iterator[str]:
        entries: Iterable[tuple[str | int, Any]] = value.items() if value.__class__ is dict else enumerate(value)
        for key, each in entries:
            own = (*keys, key)
            yield from self._entry("- " if value.__class__ is list else f"{flow(str(key))}:", each, own, self.marks.get(own, comment))
        for name in self.dropped.get(keys, ()):
            yield f"# {name}: dropped"

    def _entry(self, head: str, value: Any, keys: Keys, comment: str) -> Iterator[str]:
        """The lines of an entry. `head`: the key with its colon, or the dash of an item."""
        remark = f"  # {comment}" if comment else ""
        is_item = head == "- "
        if value.__class__ in (dict, list) and (value or keys in self.dropped):
            lines = list(self._collection(value, keys, comment))
            if is_item:
                yield from (f"{'  ' if number else '- '}{line}" for number, line in enumerate(lines))
                return
            yield head + ("" if value else " " + flow(value)) + remark
            # Lists are not indented, as kubectl writes them.
            yield from (line if value.__class__ is list else f"  {line}" for line in lines)
        elif value.__class__ is str and "\n" in value and _BLOCK.fullmatch(value):
            yield f"{head.rstrip()} |{_chomping(value)}{remark}"
            yield from (f"  {line}" if line else "" for line in value.removesuffix("\n").split("\n"))
        else:
            yield f"{head.rstrip()} {flow(value)}{remark}"


def _chomping(text: str) -> str:
    """The indicator of a block scalar for the line breaks at the end of its text."""
    if not text.endswith("\n"):
        return "-"
    return "+" if text.endswith("\n\n") else ""


def dropped_names(changes: Iterable[FieldChange]) -> dict[Keys, list[str]]:
    """Return what the API server dropped, by the keys of the object or list that contained it."""
    found: dict[Keys, list[str]] = {}
    for change in changes:
        if change.how == "dropped":
            found.setdefault(change.keys[:-1], []).append(str(change.keys[-1]))
    return found

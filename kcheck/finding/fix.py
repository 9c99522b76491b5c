"""Fixes of problems: edits of the text, or the change from which the edits follow."""

from __future__ import annotations

import json
from typing import Any

from kcheck.text.edit import Edit
from kcheck.text.record import NamedTuple
from kcheck.yaml.node import Node
from kcheck.yaml.plain_value import Value


class Fix(NamedTuple):
    """Edits of the file that remove the problem.

    Attributes:
        title: description of the edits.
        edits: replaced ranges of the file's text.
        safe: whether the object keeps its meaning or gets the obviously intended one.
    """

    title: str
    edits: tuple[Edit, ...]
    safe: bool = True


class Correction(NamedTuple):
    """What a fix does with which values. `kcheck/finding/correction.py` makes edits of it, or none if the text does not allow it.

    Attributes:
        title: description of the change.
        steps: names of functions in `kcheck/yaml/edits.py`, each with the node and further arguments.
        safe: whether the object keeps its meaning or gets the obviously intended one.
    """

    title: str
    steps: tuple[tuple[str, Node, tuple[Any, ...]], ...]
    safe: bool = True

    @classmethod
    def replace(cls, node: Node, value: Value, *, safe: bool = True) -> Correction:
        """Replace a value that is written on one line. Strings keep their quotes."""
        return cls(f"use {_shown(value)}", (("replace_value", node, (value,)),), safe)

    @classmethod
    def rename(cls, node: Node, name: str, *, safe: bool = True) -> Correction:
        """Rename the key of an entry."""
        return cls(f"rename {node.name} to {name}", (("rename_key", node, (name,)),), safe)

    @classmethod
    def remove(cls, *nodes: Node, safe: bool = True) -> Correction:
        """Remove entries of maps and items of lists."""
        named = " and ".join(node.name or str(node.value) if not node.is_map else node.name or "the item" for node in nodes)
        return cls(f"remove {named}", tuple(("remove_entry", node, ()) for node in nodes), safe)

    @classmethod
    def set(cls, node: Node, value: Value, *, safe: bool = True) -> Correction:
        """Replace a value, or add it together with the maps that are to contain it."""
        step = "replace_value" if node else "insert_entry"
        return cls(f"{'set' if node else 'add'} {node.name}: {_shown(value)}", ((step, node, (value,)),), safe)

    @classmethod
    def append(cls, items: Node, value: Value, *, safe: bool = True) -> Correction:
        """Add an item to a list."""
        return cls(f"add {_shown(value)} to {items.name}", (("append_item", items, (value,)),), safe)

    @classmethod
    def move(cls, node: Node, target: Node, *, safe: bool = True) -> Correction:
        """Move an entry with its comments to an absent entry of the same name elsewhere."""
        place = target.parent.path if target.parent is not None else ""
        return cls(f"move {node.name} to {place or 'the top level'}", (("move_entry", node, (target,)),), safe)

    @classmethod
    def rewrite(cls, node: Node, name: str, value: Value, *, safe: bool = True) -> Correction:
        """Write another entry in place of one whose value is a scalar."""
        return cls(f"replace {node.name} with {name}", (("rewrite_entry", node, (name, value)),), safe)

    @classmethod
    def nest(cls, node: Node, name: str, *, safe: bool = True) -> Correction:
        """Put all entries of a map below a new key of it."""
        return cls(f"put the entries under {name}", (("nest_entries", node, (name,)),), safe)

    def also(self, other: Correction) -> Correction:
        """Return the change that does both."""
        return Correction(f"{self.title} and {other.title}", self.steps + other.steps, self.safe and other.safe)


def _shown(value: Value) -> str:
    """A value as the title of a fix shows it."""
    if isinstance(value, str):
        return value or '""'
    if isinstance(value, (bool, int)):
        return json.dumps(value)
    from kcheck.yaml.edits import flow

    return flow(value)

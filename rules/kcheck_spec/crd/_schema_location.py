"""Where a schema stands within that of a version: what the checks of it depend on, and how the API server writes it."""

from __future__ import annotations

from typing import NamedTuple

from kcheck.api import Node

# Keywords whose value is a map from names to schemas.
_MAPS = frozenset({"properties", "definitions", "dependencies", "patternProperties"})


class SchemaLocation(NamedTuple):
    """Where a schema stands.

    `level`: root, item, field, nested, which is within allOf, anyOf, oneOf or not, or loose, where the server looks at keywords alone.
    `meta`: the schema of the object within whose metadata it stands.
    `fixed`: why no default may stand here, "" where one may. `settled`: whether the defaults here are judged by themselves.
    `lost`: the list or map above it whose items nobody can find again in the former object.
    """

    level: str
    meta: Node | None = None
    fixed: str = ""
    settled: bool = True
    lost: Node | None = None

    @property
    def is_spine(self) -> bool:
        """Whether it describes the structure of the object, not a condition."""
        return self.level in ("field", "item", "root")


ROOT = SchemaLocation("root")


def written(node: Node, root: Node, prefix: str) -> str:
    """The field of a node in a schema as the server writes it. `prefix`: that of the root."""
    keys: list[str | int] = []
    at: Node | None = node
    while at is not None and at is not root and at.key is not None:
        keys.append(at.key.value if isinstance(at.key, Node) else at.key)
        at = at.parent
    path, named = prefix, False
    for key in reversed(keys):
        path += f"[{key}]" if named or isinstance(key, int) else f".{key}"
        named = not named and key in _MAPS
    return path

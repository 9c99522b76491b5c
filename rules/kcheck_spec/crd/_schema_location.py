"""The location of a schema within the schema of a version: what its checks depend on, and its field path in errors of the API server."""

from __future__ import annotations

from typing import NamedTuple

from kcheck.api import Node

# Keywords whose value is a map from names to schemas.
_MAPS = frozenset({"properties", "definitions", "dependencies", "patternProperties"})


class SchemaLocation(NamedTuple):
    """The location of a schema.

    `level`: root, item, field, nested (within allOf, anyOf, oneOf or not), or loose (where the API server only checks keywords).
    `meta`: the schema of the object whose metadata contains this schema.
    `fixed`: why a default is not allowed here, "" where it is. `settled`: whether the defaults here are checked separately.
    `lost`: the list or map above it whose items cannot be found in the old object.
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
    """The field path of a node in a schema as the API server reports it. `prefix`: the path of the root."""
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

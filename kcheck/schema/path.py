"""Field paths in the format of the API server: `spec.containers[0].resources.limits[cpu]`."""

from __future__ import annotations

from kcheck.schema.shape import Shape
from kcheck.yaml.node import Node


def field_path(node: Node, root: Node, shape: Shape | None) -> str:
    """Return the path of a node from the root of its object. Keys of maps are in brackets, fields of types after a dot.

    `shape`: the type of the root; if it is None, every key follows a dot. The server names some fields that no type has; rules create these
    with `Node.virtual` and write the brackets themselves: `imaginary("containers", 0, "[cpu]")`.
    """
    keys: list[str | int] = []
    at: Node | None = node
    while at is not None and at is not root and at.key is not None:
        keys.append(at.key.value if isinstance(at.key, Node) else at.key)
        at = at.parent
    path = ""
    for key in reversed(keys):
        if isinstance(key, int) or (shape is not None and shape.kind == "map"):
            path += f"[{key}]"
        elif shape is None and key.startswith("["):
            path += key
        else:
            path = f"{path}.{key}" if path else key
        shape = _child(shape, key)
    return path


def _child(shape: Shape | None, key: str | int) -> Shape | None:
    if shape is None:
        return None
    if shape.kind in ("list", "map"):
        return shape.item_shape()
    field = shape.fields.get(key) if shape.fields and isinstance(key, str) else None
    return field.shape if field is not None else None

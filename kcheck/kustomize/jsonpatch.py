"""JSON patches (RFC 6902) as kustomize applies them, with the library evanphx/json-patch 4."""

from __future__ import annotations

from kcheck.kustomize.nodes import drop, duplicate, mutable, put, refill
from kcheck.kustomize.problem import BadInput
from kcheck.yaml.node import Node

_OPERATIONS = ("add", "remove", "replace", "move", "copy", "test")


def apply(root: Node, operations: Node) -> list[Node]:
    """Apply a list of operations to a tree; gives the nodes that they set. Raises BadInput where one fails."""
    touched: list[Node] = []
    for operation in operations:
        name = operation["op"].text
        if name not in _OPERATIONS:
            raise BadInput(f"unknown operation {name!r} in a JSON patch", operation["op"])
        if "path" not in operation:
            raise BadInput("an operation of a JSON patch has no path", operation)
        new = _apply(root, name, operation)
        if new is not None:
            touched.append(new)
    return touched


def _apply(root: Node, name: str, operation: Node) -> Node | None:
    path = operation["path"]
    if name == "add":
        return _add(root, path, duplicate(operation["value"]))
    if name == "remove":
        _remove(root, path)
    elif name == "replace":
        old = _find(root, path)
        if old is None:
            raise BadInput(f"path {path.text} of a JSON patch does not exist", path)
        return _replace(old, duplicate(operation["value"]))
    elif name == "test":
        found = _find(root, path)
        if (None if found is None else found.plain()) != operation["value"].plain():
            raise BadInput(f"the test of {path.text} fails", path)
    else:
        moved = _find(root, operation["from"])
        if moved is None:
            raise BadInput(f"path {operation['from'].text} of a JSON patch does not exist", operation["from"])
        moved = duplicate(moved)
        if name == "move":
            _remove(root, operation["from"])
        return _add(root, path, moved)
    return None


def _parts(path: Node) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in path.text.split("/")[1:]]


def _find(root: Node, path: Node) -> Node | None:
    """The node of a JSON pointer, None where there is none."""
    node = root
    for part in _parts(path):
        if node.is_list:
            node = node[_index(part, len(node), path)]
        else:
            node = node[part]
        if not node.exists:
            return None
    return node


def _owner(root: Node, path: Node) -> tuple[Node, str]:
    """The collection that a pointer leads into, and the last part of the pointer."""
    parts = _parts(path)
    if not parts:
        raise BadInput("a JSON patch cannot change the whole object", path)
    node = root
    for part in parts[:-1]:
        node = node[_index(part, len(node), path)] if node.is_list else node[part]
    if not node.is_map and not node.is_list:
        raise BadInput(f"path {path.text} of a JSON patch leads to nothing: its parent does not exist", path)
    return node, parts[-1]


def _index(part: str, length: int, path: Node) -> int:
    try:
        index = int(part)
    except ValueError:
        raise BadInput(f"{part!r} in path {path.text} of a JSON patch is not an index", path) from None
    return index + length if index < 0 else index


def _add(root: Node, path: Node, value: Node) -> Node:
    owner, part = _owner(root, path)
    if owner.is_map:
        before = owner[part]
        return _replace(before, value) if before.exists else put(owner, Node(part, path.start, path.end), value)
    items = list(owner)
    index = len(items) if part == "-" else _index(part, len(items), path)
    if not 0 <= index <= len(items):
        raise BadInput(f"path {path.text} of a JSON patch: the list has {len(items)} items", path)
    items.insert(index, value)
    refill(owner, items)
    return value


def _replace(old: Node, new: Node) -> Node:
    owner = old.parent
    if owner is None:
        raise BadInput("a JSON patch cannot change the whole object")
    new.key, new.parent = old.key, owner
    if owner.is_map:
        mutable(owner)[old.name] = new
    else:
        assert isinstance(old.key, int)
        owner.value[old.key] = new
    return new


def _remove(root: Node, path: Node) -> None:
    owner, part = _owner(root, path)
    if owner.is_map:
        if part not in owner:
            raise BadInput(f"path {path.text} of a JSON patch does not exist", path)
        drop(owner, part)
        return
    items = list(owner)
    index = _index(part, len(items), path)
    if not 0 <= index < len(items):
        raise BadInput(f"path {path.text} of a JSON patch: the list has {len(items)} items", path)
    del items[index]
    refill(owner, items)

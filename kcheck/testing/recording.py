"""A tree that remembers what a rule asks it for.

A missing child is an absent node and no error, so a rule that asks for `imagePulPolicy` would stay silent for ever. While its
page is checked every `node[key]` of the rule's own code is compared with the API type that the node has.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kcheck.rule.rule import Rule
from kcheck.schema.builtin.definitions import load
from kcheck.schema.shape import Shape
from kcheck.schema.store import Store
from kcheck.yaml.node import Absent, Node

# Code that asks on behalf of its caller.
_GO_BETWEENS = frozenset({"kcheck.yaml.node", "kcheck.kube.pod", "kcheck.kube.resource", __name__})


@dataclass
class AskedFields:
    """What was asked for, by the line of code that asked. A line is right if it once met a type that has the field:
    rules about all objects may ask any of them for `spec.replicas`.
    """

    store: Store
    package: str
    right: set[tuple[str, int, str]] = field(default_factory=set)
    wrong: dict[tuple[str, int, str], set[str]] = field(default_factory=dict)

    def note(self, node: Node, key: str) -> None:
        """Note that the code above asked for a key of a node."""
        frame = sys._getframe(2)
        while frame.f_back is not None and frame.f_globals.get("__name__") in _GO_BETWEENS:
            frame = frame.f_back
        if frame.f_globals.get("__name__", "").partition(".")[0] != self.package:
            return
        shape = self.shape_of(node)
        if shape is None or shape.kind in ("map", "any", "raw"):
            return
        site = (frame.f_code.co_filename, frame.f_lineno, key)
        if key in shape.fields:
            self.right.add(site)
        else:
            self.wrong.setdefault(site, set()).add(shape.name or f"a value of type {shape.kind}")

    def shape_of(self, node: Node) -> Shape | None:
        """The type of a node, None where its object is no built-in one or the type does not have it."""
        way: list[Any] = []
        at: Node | None = node
        while at is not None:
            shape = self.shape_of_object(at)
            if shape is not None:
                return _below(shape, reversed(way))
            way.append(at.key.value if isinstance(at.key, Node) else at.key)
            at = at.parent
        return None

    def shape_of_object(self, node: Node) -> Shape | None:
        value = node.value
        # A reference to an object has an apiVersion and a kind, too; objects themselves are documents, or items of a List.
        listed = node.parent is not None and node.parent.name == "items"
        if value.__class__ is not dict or "apiVersion" not in value or "kind" not in value or not (node.parent is None or listed):
            return None
        names = value["apiVersion"].text, value["kind"].text
        kind = self.store.builtin(*names) or self.store.components.kind(*names)
        return kind.shape if kind is not None else None

    def never_there(self) -> list[str]:
        """What was asked for and never could be there."""
        sites = sorted((site, types) for site, types in self.wrong.items() if site not in self.right)
        return [f"{file}:{line}: {key!r} of {', '.join(sorted(types))}" for (file, line, key), types in sites]


def _below(shape: Shape | None, way: Iterator[Any]) -> Shape | None:
    for key in way:
        if shape is None:
            return None
        if shape.kind in ("list", "map"):
            shape = shape.items
        else:
            found = shape.fields.get(key)
            shape = found.shape if found is not None else None
    return shape


@contextmanager
def recording(rule: Rule) -> Iterator[AskedFields]:
    """Within it, nodes remember what the code of this rule's package asks them for."""
    asked = AskedFields(Store(load()), rule.module.partition(".")[0])
    plain: dict[type[Node], Callable[[Any, str | int], Node]] = {kind: kind.__getitem__ for kind in (Node, Absent)}

    def remembering(kind: type[Node]) -> Callable[[Node, str | int], Node]:
        def remember(node: Node, key: str | int) -> Node:
            if isinstance(key, str):
                asked.note(node, key)
            return plain[kind](node, key)

        return remember

    for kind in plain:
        kind.__getitem__ = remembering(kind)  # type: ignore[method-assign]
    try:
        yield asked
    finally:
        for kind, method in plain.items():
            kind.__getitem__ = method  # type: ignore[method-assign]

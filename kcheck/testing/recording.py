"""Recording of the fields that a rule reads, to detect typos.

A missing child is an absent node and not an error, so a rule that reads `imagePulPolicy` would never report anything. While a page is
checked, every `node[key]` in the code of the rule is compared with the API type of the node.
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

# Modules whose functions read fields on behalf of their callers.
_HELPER_MODULES = frozenset({"kcheck.yaml.node", "kcheck.kube.pod", "kcheck.kube.resource", __name__})


@dataclass
class RecordedReads:
    """The fields that were read, by line of code. A line is right if at least one node that it read from has a type with the field: rules
    about all objects may read `spec.replicas` of any of them.
    """

    store: Store
    package: str
    right: set[tuple[str, int, str]] = field(default_factory=set)
    wrong: dict[tuple[str, int, str], set[str]] = field(default_factory=dict)

    def note(self, node: Node, key: str) -> None:
        """Records that the calling code reads a key of a node."""
        frame = sys._getframe(2)
        while frame.f_back is not None and frame.f_globals.get("__name__") in _HELPER_MODULES:
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
        """Returns the type of a node; None if its object is not built-in or the type has no such field."""
        path: list[Any] = []
        at: Node | None = node
        while at is not None:
            shape = self.shape_of_object(at)
            if shape is not None:
                return _below(shape, reversed(path))
            path.append(at.key.value if isinstance(at.key, Node) else at.key)
            at = at.parent
        return None

    def shape_of_object(self, node: Node) -> Shape | None:
        value = node.value
        # References to objects have apiVersion and kind as well. Objects are documents or items of a List.
        listed = node.parent is not None and node.parent.name == "items"
        if value.__class__ is not dict or "apiVersion" not in value or "kind" not in value or not (node.parent is None or listed):
            return None
        names = value["apiVersion"].text, value["kind"].text
        kind = self.store.builtin(*names) or self.store.components.kind(*names)
        return kind.shape if kind is not None else None

    def unknown_fields(self) -> list[str]:
        """Returns the reads of fields that no type has."""
        sites = sorted((site, types) for site, types in self.wrong.items() if site not in self.right)
        return [f"{file}:{line}: {key!r} of {', '.join(sorted(types))}" for (file, line, key), types in sites]


def _below(shape: Shape | None, path: Iterator[Any]) -> Shape | None:
    for key in path:
        if shape is None:
            return None
        if shape.kind in ("list", "map"):
            shape = shape.items
        else:
            found = shape.fields.get(key)
            shape = found.shape if found is not None else None
    return shape


@contextmanager
def recording(rule: Rule) -> Iterator[RecordedReads]:
    """Records the fields that the code of the rule's package reads."""
    reads = RecordedReads(Store(load()), rule.module.partition(".")[0])
    plain: dict[type[Node], Callable[[Any, str | int], Node]] = {kind: kind.__getitem__ for kind in (Node, Absent)}

    def recorder(kind: type[Node]) -> Callable[[Node, str | int], Node]:
        def read(node: Node, key: str | int) -> Node:
            if isinstance(key, str):
                reads.note(node, key)
            return plain[kind](node, key)

        return read

    for kind in plain:
        kind.__getitem__ = recorder(kind)  # type: ignore[method-assign]
    try:
        yield reads
    finally:
        for kind, method in plain.items():
            kind.__getitem__ = method  # type: ignore[method-assign]

"""An object on its way through a build."""

from __future__ import annotations

from typing import NamedTuple

from kcheck.kustomize.identity import Gvk, Id, gvk_of
from kcheck.kustomize.nodes import assign, made, put, strings, text_of
from kcheck.yaml.node import Node


class Change(NamedTuple):
    """What one setting of a kustomization did to an object. `field`: the setting ("namespace", "patches"); `where`: its node.

    `touched`: the nodes of the object that it set; for patches and removals only `where` says what happened.
    """

    field: str
    where: Node
    touched: list[Node]


class Item:
    """`previous`: its identities before it was renamed, the first one first. `origin`: the node that it was made from.

    `generated`: whether a generator made it; `hashed`: whether its name gets a hash of its content; `behavior`: what happens where
    the object exists already. `variables`: the vars that are read from it. `prefixes`, `suffixes`: what was added to its name.
    """

    __slots__ = ("behavior", "changes", "generated", "hashed", "node", "origin", "prefixes", "previous", "suffixes", "variables")

    def __init__(self, node: Node, origin: Node) -> None:
        self.node = node
        self.origin = origin
        self.previous: list[tuple[str, str, str]] = []
        self.prefixes: list[str] = []
        self.suffixes: list[str] = []
        self.generated = False
        self.hashed = False
        self.behavior = ""
        self.variables: list[str] = []
        self.changes: list[Change] = []

    @property
    def gvk(self) -> Gvk:
        return gvk_of(self.node["apiVersion"].text, self.kind)

    @property
    def kind(self) -> str:
        return self.node["kind"].text

    @property
    def name(self) -> str:
        return text_of(self.node.at("metadata", "name"))

    @property
    def namespace(self) -> str:
        return text_of(self.node.at("metadata", "namespace"))

    @property
    def labels(self) -> dict[str, str]:
        return strings(self.node.at("metadata", "labels"))

    @property
    def annotations(self) -> dict[str, str]:
        return strings(self.node.at("metadata", "annotations"))

    @property
    def id(self) -> Id:
        return Id(self.gvk, self.name, self.namespace)

    @property
    def previous_ids(self) -> list[Id]:
        gvk = self.gvk
        return [Id(gvk._replace(kind=kind), name, namespace) for name, namespace, kind in self.previous]

    @property
    def ids(self) -> list[Id]:
        return [*self.previous_ids, self.id]

    @property
    def first_id(self) -> Id:
        if self.previous:
            name, namespace, kind = self.previous[0]
            return Id(self.gvk._replace(kind=kind), name, namespace)
        return self.id

    def remember(self) -> None:
        """Note the identity that is about to change."""
        id = self.id
        self.previous.append((id.name, id.effective, id.gvk.kind))

    def changed(self, field: str, where: Node, *touched: Node) -> None:
        """Note what a setting did."""
        if self.changes and self.changes[-1].where is where:
            self.changes[-1].touched.extend(touched)
        else:
            self.changes.append(Change(field, where, list(touched)))

    def rename(self, name: str, place: Node | None = None) -> Node:
        """Set metadata.name."""
        node = self.node.at("metadata", "name")
        if node.exists:
            assign(node, name, place)
            return node
        return put(self.metadata(), "name", made(name, place or self.origin))

    def metadata(self) -> Node:
        found = self.node["metadata"]
        return found if found.is_map else put(self.node, "metadata", made({}, self.origin))

    def may_follow(self, other: Item, allow_empty: bool) -> bool:
        """Whether the names of two objects were given the same prefixes and suffixes, as far as both have some."""
        return _end_alike(self.prefixes, other.prefixes, allow_empty) and _end_alike(self.suffixes, other.suffixes, allow_empty)


def _end_alike(one: list[str], two: list[str], allow_empty: bool) -> bool:
    if not one or not two:
        return allow_empty or one == two
    length = min(len(one), len(two))
    return one[-length:] == two[-length:]

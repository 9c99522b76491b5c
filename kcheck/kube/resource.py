"""A Kubernetes object in a document."""

from __future__ import annotations

from collections.abc import Container

from kcheck.kube.feature_gates import is_enabled
from kcheck.kube.kinds import kind_names
from kcheck.kube.location import ObjectId
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node


class Resource:
    """An object: the root of a document, or an item of a List. It has an apiVersion and a kind.

    Attributes:
        node: root node of the object.
        document: document that contains the object.
        api_version: text of apiVersion.
        kind: text of kind.
        built_in: whether Kubernetes defines the kind; set when the kind is looked up.
        namespaced: whether the kind is namespaced, None if unknown; set when the kind is looked up.
        refused: nodes that the checks of the API server have rejected so far.
        part: whether the object is a patch.
        older: the older version of the object that it is compared with, None if there is none.
        minor: N of the Kubernetes version 1.N that the object is checked against, 0 if not set yet.
        enabled_gates: feature gates that the user's clusters enable in addition to the defaults of the version.
        dropped: nodes that the API server drops before validation, because their feature gate is off; absent during the walk.
    """

    built_in = False
    minor = 0
    part = False
    namespaced: bool | None = None
    older: Resource | None = None
    enabled_gates: Container[str] = ()

    def __init__(self, node: Node, document: Document) -> None:
        self.node = node
        self.document = document
        self.api_version = node["apiVersion"].text
        self.kind = node["kind"].text
        self._id: ObjectId | None = None
        self.refused: list[Node] = []
        self.dropped: list[Node] = []

    def __getitem__(self, key: str) -> Node:
        """Return a field of the object, such as `spec`."""
        return self.node[key]

    def is_before(self, minor: int) -> bool:
        """Return whether the object is checked against a Kubernetes version older than 1.minor."""
        return 0 < self.minor < minor

    def enables(self, gate: str) -> bool:
        """Return whether a feature gate is on in the version that the object is checked against. Raises KeyError for an unknown gate."""
        return is_enabled(gate, self.minor) or gate in self.enabled_gates

    @property
    def group(self) -> str:
        """API group without version, "" for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The text of metadata.name, "" without one."""
        return self.node.at("metadata", "name").text

    @property
    def namespace(self) -> str:
        """The text of metadata.namespace, "" without one."""
        return self.node.at("metadata", "namespace").text

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the object."""
        return strings(self.node.at("metadata", "labels"))

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations of the object."""
        return strings(self.node.at("metadata", "annotations"))

    @property
    def title(self) -> str:
        """Kind and quoted name, such as `Deployment "web"`; only the kind if the name is empty."""
        return f'{self.kind} "{self.name}"' if self.name else self.kind

    @property
    def id(self) -> ObjectId:
        """Identity of the object."""
        # Created once, so that all locations in the object share it.
        if self._id is None:
            self._id = ObjectId(self.api_version, self.kind, self.namespace, self.name)
        return self._id

    def refuses(self, node: Node) -> bool:
        """Return whether the checks of the API server have rejected this node or a node inside it so far."""
        for refused in self.refused:
            at: Node | None = refused
            while at is not None:
                if at is node:
                    return True
                at = at.parent
        return False

    def is_a(self, *kinds: str) -> bool:
        """Return whether the object has one of these kinds, such as "apps Deployment" or "core Pod" (notation: `kcheck.kube.kinds`)."""
        return not kind_names(self.api_version, self.kind).isdisjoint(kinds)


def strings(node: Node) -> dict[str, str]:
    """Return the entries of a map whose values are strings."""
    return {k: v.value for k, v in node.entries if isinstance(v.value, str)}


def is_object(node: Node) -> bool:
    """Return whether a node has an apiVersion and a kind."""
    return bool(node["apiVersion"].text and node["kind"].text)


def resources(document: Document) -> list[Resource]:
    """Return the objects of a document: its root, or the items of a List, also nested."""
    found: list[Resource] = []
    _unpack(document.root, document, found)
    return found


def _unpack(node: Node, document: Document, found: list[Resource]) -> None:
    """Add the object of a node, or the items of a List, to `found`."""
    if not is_object(node):
        return
    if node["kind"].text.endswith("List") and node["items"].is_list and "spec" not in node:
        for item in node["items"]:
            _unpack(item, document, found)
    else:
        found.append(Resource(node, document))

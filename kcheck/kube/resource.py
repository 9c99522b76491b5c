"""A Kubernetes object as it stands in a document."""

from __future__ import annotations

from kcheck.kube.kinds import kind_names
from kcheck.kube.location import ObjectId
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node


class Resource:
    """One object: a document's root, or an item of a List. Has an apiVersion and a kind.

    `built_in`: whether Kubernetes itself defines the kind; `namespaced`: whether its objects live in namespaces, None where nobody
    knows. Both are known once the kind has been looked up. `refused`: what the API server's checks have refused of it so far.
    `part`: it is a patch.
    `minor`: N of the Kubernetes 1.N that it is judged by, 0 where nobody has said so yet.
    """

    built_in = False
    minor = 0
    part = False
    namespaced: bool | None = None

    def __init__(self, node: Node, document: Document) -> None:
        self.node = node
        self.document = document
        self.api_version = node["apiVersion"].text
        self.kind = node["kind"].text
        self._id: ObjectId | None = None
        self.refused: list[Node] = []

    def __getitem__(self, key: str) -> Node:
        return self.node[key]

    def is_before(self, minor: int) -> bool:
        """Whether it is judged by a Kubernetes older than 1.minor."""
        return 0 < self.minor < minor

    @property
    def group(self) -> str:
        """API group without version, "" for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def name(self) -> str:
        return self.node.at("metadata", "name").text

    @property
    def namespace(self) -> str:
        return self.node.at("metadata", "namespace").text

    @property
    def labels(self) -> dict[str, str]:
        return strings(self.node.at("metadata", "labels"))

    @property
    def annotations(self) -> dict[str, str]:
        return strings(self.node.at("metadata", "annotations"))

    @property
    def id(self) -> ObjectId:
        # Made once, so that the places in an object share it.
        if self._id is None:
            self._id = ObjectId(self.api_version, self.kind, self.namespace, self.name)
        return self._id

    def refuses(self, node: Node) -> bool:
        """Whether the API server's checks have refused something of this value so far."""
        for refused in self.refused:
            at: Node | None = refused
            while at is not None:
                if at is node:
                    return True
                at = at.parent
        return False

    def is_a(self, *kinds: str) -> bool:
        """Whether it is of one of these kinds, such as "apps Deployment" or "core Pod". See `kcheck.kube.kinds` for the notation."""
        return not kind_names(self.api_version, self.kind).isdisjoint(kinds)


def strings(node: Node) -> dict[str, str]:
    """The text values of a map, the others left out."""
    return {k: v.value for k, v in node.entries if isinstance(v.value, str)}


def is_object(node: Node) -> bool:
    """Whether a node says what object it is."""
    return bool(node["apiVersion"].text and node["kind"].text)


def resources(document: Document) -> list[Resource]:
    """The objects of a document: itself, or the items of a List (of Lists)."""
    found: list[Resource] = []
    _unpack(document.root, document, found)
    return found


def _unpack(node: Node, document: Document, found: list[Resource]) -> None:
    """Add the objects that a node is."""
    if not is_object(node):
        return
    if node["kind"].text.endswith("List") and node["items"].is_list and "spec" not in node:
        for item in node["items"]:
            _unpack(item, document, found)
    else:
        found.append(Resource(node, document))

"""Objects built by kustomize itself, with the places that their values come from.

The output of kustomize names the file of an object, but neither the line nor the patch of a value. So it is compared with our own build of
the same kustomization: a value has the place of its counterpart there. An object that our build lacks, for example of a generator plug-in,
is compared with the document in its file. Values without a counterpart have the place of the map that contains them.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Sequence

from kcheck.kustomize.build import Build, BuiltObject
from kcheck.kustomize.library import Library, Parse
from kcheck.kustomize.nodes import Copier, drop, put, refill, text_of
from kcheck.kustomize.patches import unlisted
from kcheck.kustomize.program import ORIGIN, KustomizeOutput, RenderingFailed
from kcheck.text.source import Source
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse as parse_text

Identity = tuple[str, str, str, str]


class RenderedBuild:
    """The build of a kustomization according to kustomize.

    Args:
        library: The library of `build`.
        root: The folder that the paths of the library start from.
        build: The build without kustomize.
        rendered: The output of kustomize.
        parse: Parses the output.
    """

    def __init__(self, library: Library, root: str, build: Build, rendered: KustomizeOutput, parse: Parse | None = None) -> None:
        self._library = library
        self._root = os.path.realpath(root)
        self._build = build
        self._rendered = rendered
        self._parse = parse or parse_text
        self._known: dict[Identity, BuiltObject] = {_identity(each.node): each for each in build.objects}

    def build(self) -> Build:
        """Return the objects that kustomize built. Nothing is unknown about them. Raises RenderingFailed."""
        documents = self._parse(Source("", self._rendered.text))
        if fault := next((document.fault for document in documents if document.fault is not None), None):
            raise RenderingFailed(f"its output cannot be read: {fault.message}")
        roots = (root for document in documents for root in unlisted(document.root) if root.is_map)
        return self._build._replace(objects=tuple(map(self._located, roots)), problems=())

    def _located(self, node: Node) -> BuiltObject:
        origin = _take_origin(node)
        own = self._known.get(_identity(node))
        if own is not None:
            return own._replace(node=_with_places(node, own.node))
        found = self._document_of(node, origin)
        if found is not None:
            return BuiltObject(_with_places(node, found), found, (), False, ())
        place = self._kustomization(origin)
        return BuiltObject(_with_places(node, place), place, (), True, ())

    def _document_of(self, node: Node, origin: str) -> Node | None:
        """Return the object in a file that an object was made from: the one of its kind whose name is the most similar."""
        name, kind = text_of(node.at("metadata", "name")), node["kind"].text
        found = [each for each in self._objects_in(origin) if each["kind"].text == kind]
        return max(found, key=lambda each: _likeness(text_of(each.at("metadata", "name")), name), default=None)

    def _objects_in(self, origin: str) -> Iterator[Node]:
        piece = self._library.load(self._path(origin)) if origin.startswith("path: ") else None
        copier = Copier(piece.source.text, piece.base) if piece is not None else None
        for document in self._library.documents(piece) if piece is not None else ():
            if copier is not None and document.root.is_map:
                yield from unlisted(copier.copy(document.root))

    def _kustomization(self, origin: str) -> Node:
        """Return the root of the file that configures a generator, otherwise of the kustomization."""
        piece = self._library.load(self._path(origin)) if origin else None
        piece = piece or self._library.kustomization(self._build.folder)
        start = 0 if piece is None else piece.base
        return Node({}, start, start)

    def _path(self, origin: str) -> str:
        """Return the path of the file in an annotation, below the root."""
        path = origin.partition(": ")[2].strip()
        full = os.path.normpath(os.path.join(self._rendered.folder, path))
        return posixpath.normpath(os.path.relpath(full, self._root).replace(os.sep, "/"))


def _identity(node: Node) -> Identity:
    metadata = node["metadata"]
    return node["apiVersion"].text, node["kind"].text, text_of(metadata["namespace"]), text_of(metadata["name"])


def _take_origin(node: Node) -> str:
    """Remove the annotation with the origin of an object. Returns its line with the file: `path: FILE` or `configuredIn: FILE`."""
    annotations = node.at("metadata", "annotations")
    lines = text_of(annotations[ORIGIN]).splitlines()
    if annotations.is_map:
        drop(annotations, ORIGIN)
        if not len(annotations):
            drop(node["metadata"], "annotations")
    return next((line for line in lines if line.startswith(("path: ", "configuredIn: "))), "")


def _likeness(name: str, built: str) -> tuple[bool, int]:
    """Return how much a built name is like one in a file: kustomize adds prefixes and suffixes."""
    return name == built, len(name) if name in built else -1


def _with_places(node: Node, own: Node, parent: Node | None = None, key: Node | int | None = None) -> Node:
    """Return a tree with the values of one and the places of another one, whose nodes have the offsets of the library."""
    value = node.value
    if isinstance(value, dict):
        made = Node({}, own.start, own.end, own.style if own.is_map else "", key, parent)
        for name, child in value.items():
            counterpart = own[name] if own.is_map else Node(None, own.start, own.start)
            if counterpart.exists:
                put(made, counterpart.key if isinstance(counterpart.key, Node) else name, _with_places(child, counterpart))
            else:
                put(made, _at(name, own), _with_places(child, Node(None, own.start, own.start)))
        return made
    if isinstance(value, list):
        made = Node([], own.start, own.end, own.style if own.is_list else "", key, parent)
        refill(made, [_with_places(child, other) for child, other in zip(value, _counterparts(value, own), strict=True)])
        return made
    return Node(
        value, own.start, own.end, own.style if own.value == value else "" if own.is_map or own.is_list else node.style, key, parent
    )


def _at(name: str, owner: Node) -> Node:
    """Return a key that the owner does not have, at the owner's key."""
    start, end = owner.key_span if isinstance(owner.key, Node) else (owner.start, owner.start)
    return Node(name, start, end)


def _counterparts(items: Sequence[Node], own: Node) -> list[Node]:
    """Return the items of another list that correspond to these: by name, otherwise by position."""
    others = list(own) if own.is_list else []
    named = {text_of(each["name"]): each for each in others if each.is_map and text_of(each["name"])}
    found = []
    for index, item in enumerate(items):
        name = text_of(item["name"]) if item.is_map else ""
        other = named.get(name) if name and named else others[index] if index < len(others) else None
        found.append(other if other is not None else Node(None, own.start, own.start))
    return found

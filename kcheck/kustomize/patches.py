"""Patches: which objects they are about, and what they do to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from kcheck.kustomize import jsonpatch
from kcheck.kustomize.identity import Id
from kcheck.kustomize.item import Item
from kcheck.kustomize.library import Library, Piece
from kcheck.kustomize.mergekeys import merge_of
from kcheck.kustomize.nodes import Copier, drop, duplicate, put, text_of
from kcheck.kustomize.problem import BadInput
from kcheck.kustomize.selecting import selected
from kcheck.kustomize.strategic import Merger
from kcheck.yaml.node import Node


class Options(NamedTuple):
    """What a patch may change besides fields."""

    name: bool = False
    kind: bool = False


class Patcher:
    """Applies patches to the objects of one kustomization. `items` is the list that is changed: a patch can delete objects.

    `find` gives the text of a file that a setting names, and complains where there is none.
    """

    def __init__(self, library: Library, items: list[Item], find: Callable[[Node], Piece | None]) -> None:
        self.library = library
        self.items = items
        self.find = find

    def entry(self, setting: Node) -> None:
        """An entry of `patches`. Raises BadInput."""
        piece = self._text(setting, "path", "patch")
        if piece is None:
            return
        target = setting["target"] if setting["target"].is_map else None
        found = list(trees(self.library, piece))
        if any(tree.is_list for tree in found):
            if target is None:
                raise BadInput("a JSON patch needs a target", setting)
            self._operations(setting, selected(self.items, target), next(trees(self.library, piece, True)), True)
            return
        patches = [each for tree in found for each in unlisted(tree)]
        if not patches:
            raise BadInput("the patch is empty", setting)
        options = Options(
            setting.at("options", "allowNameChange").boolean is True, setting.at("options", "allowKindChange").boolean is True
        )
        if target is None:
            for patch in patches:
                self._merge_one(setting, patch, options)
        elif len(patches) > 1:
            raise BadInput("an entry with a target can have only one strategic merge patch", setting)
        else:
            check(patches[0])
            self._merge(setting, selected(self.items, target), patches[0], options, True)

    def strategic(self, setting: Node) -> None:
        """An entry of `patchesStrategicMerge`: a file, or the patch itself."""
        text = setting.text
        piece = self.library.inline(setting) if "\n" in text or ": " in text else self.find(setting)
        if piece is not None:
            for tree in trees(self.library, piece):
                for patch in unlisted(tree):
                    self._merge_one(setting, patch, Options())

    def json(self, setting: Node) -> None:
        """An entry of `patchesJson6902`."""
        piece = self._text(setting, "path", "patch")
        if piece is None:
            return
        tree = next(trees(self.library, piece, True), None)
        if tree is None or not tree.is_list:
            raise BadInput("a JSON patch is a list of operations", setting)
        if not setting["target"].is_map or not text_of(setting.at("target", "name")):
            raise BadInput("a JSON patch needs a target with a name", setting)
        self._operations(setting, selected(self.items, setting["target"]), tree, False)

    def _text(self, setting: Node, path: str, inline: str) -> Piece | None:
        if text_of(setting[path]) and setting[inline].text.strip():
            raise BadInput("patch and path cannot both be set", setting[path])
        if text_of(setting[path]):
            return self.find(setting[path])
        if setting[inline].text.strip():
            return self.library.inline(setting[inline])
        raise BadInput("a patch needs a path or a patch", setting)

    def _operations(self, setting: Node, targets: list[Item], operations: Node, remember: bool) -> None:
        for item in targets:
            self.library.spend(len(operations) * 5)
            if remember:
                item.remember()
            item.changed(field_of(setting), setting, *jsonpatch.apply(item.node, operations))

    def _merge_one(self, setting: Node, patch: Node, options: Options) -> None:
        """Merge a patch into the object that it names."""
        check(patch)
        item = Item(patch, patch)
        id = item.id
        found = [each for each in self.items if any(_same(id, other) for other in each.ids)]
        if len(found) != 1:
            raise BadInput(f"{'no object matches' if not found else 'several objects match'} the patch of {id}", patch)
        self._merge(setting, found, patch, options, False)

    def _merge(self, setting: Node, targets: list[Item], patch: Node, options: Options, by_target: bool) -> None:
        for item in targets:
            self._merge_into(item, patch if item is targets[-1] else duplicate(patch), options, by_target)
            item.changed(field_of(setting), setting)
        gone = [item for item in targets if not item.node]
        if gone:
            self.items[:] = [item for item in self.items if item.node]

    def _merge_into(self, item: Item, patch: Node, options: Options, by_target: bool) -> None:
        node = item.node
        kind, name, namespace = node["kind"], node.at("metadata", "name"), node.at("metadata", "namespace")
        if options.name or options.kind:
            item.remember()
        if by_target and node["apiVersion"].text:
            # The target says which objects are meant, whatever version the patch has.
            put(patch, "apiVersion", duplicate(node["apiVersion"]))
        api_version = node["apiVersion"].text
        result = Merger(self.library.spend).merge(node, patch, merge_of(api_version, kind.text))
        if result is None or not len(result):
            item.node = Node(None, node.start, node.start)
            return
        if result is not node:
            result.key = result.parent = None
            item.node = result
        metadata = item.metadata()
        if not options.kind:
            put(item.node, "kind", kind)
        if not options.name:
            put(metadata, "name", name) if name.exists else drop(metadata, "name")
        put(metadata, "namespace", namespace) if text_of(namespace) else drop(metadata, "namespace")


def _same(one: Id, other: Id) -> bool:
    return one.equals(other)


def field_of(setting: Node) -> str:
    """The name of the list in a kustomization that a setting is an entry of."""
    parent = setting.parent
    return parent.name if parent is not None else ""


def trees(library: Library, piece: Piece, is_setting: bool = False) -> Iterator[Node]:
    """Copies of the documents of a text. Raises BadInput where one is not YAML, or an object has a key twice.

    `is_setting`: whether they are settings of kustomize and not objects.
    """
    copier = Copier(piece.source.text, piece.base, is_setting)
    for document in library.documents(piece):
        if document.fault is not None:
            start, end = document.fault.start + piece.base, document.fault.end + piece.base
            raise BadInput(document.fault.message, Node(None, start, end))
        if document.duplicates and not is_setting:
            raise BadInput("duplicate key", copier.key(document.duplicates[0][0].key))
        yield copier.copy(document.root)
    library.spend(copier.count)


def unlisted(node: Node) -> Iterator[Node]:
    """The objects of a document: the items of a List, or itself."""
    if not node:
        return
    if node.is_map and node["kind"].text.endswith("List") and "items" in node:
        for item in node["items"]:
            item.key = item.parent = None
            yield from unlisted(item)
    else:
        yield node


def check(node: Node) -> None:
    """Refuse what kustomize takes for no object. Raises BadInput."""
    if not node.is_map:
        raise BadInput("not an object", node)
    kind = node["kind"].text
    if not kind:
        raise BadInput("missing kind", node)
    if not kind.endswith("List") and not text_of(node.at("metadata", "name")):
        raise BadInput(f"missing metadata.name in {kind}", node)

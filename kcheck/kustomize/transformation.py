"""The transformers of one kustomization, in the order in which kustomize applies them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from kcheck.kustomize.fields import Spec
from kcheck.kustomize.item import Item
from kcheck.kustomize.library import Library, Piece
from kcheck.kustomize.nodes import text_of
from kcheck.kustomize.patches import Patcher, trees
from kcheck.kustomize.replacements import replace
from kcheck.kustomize.settings import specs_of
from kcheck.kustomize.transformers import add_affix, images_of, label_specs, set_entries, set_images, set_namespace, set_replicas
from kcheck.yaml.node import Node

Action = Callable[[], object]
Specs = dict[str, tuple[Spec, ...]]


class Files(Protocol):
    """Where settings find the files that they name."""

    library: Library

    def find(self, node: Node) -> Piece | None:
        """The text of a file that a setting names; complains where there is none."""


class Transformation:
    """`items`: the objects that are changed, a list that patches may shorten; `specs`: the fields that settings are about."""

    def __init__(self, root: Node, items: list[Item], specs: Specs, files: Files) -> None:
        self.root = root
        self.items = items
        self.specs = specs
        self.files = files

    def actions(self) -> Iterator[tuple[Node, Action]]:
        """The settings in their order, and what each does."""
        yield from self._merging()
        yield from self._naming()
        yield from self._labelling()
        patcher = Patcher(self.files.library, self.items, self.files.find)
        for each in _entries(self.root["patchesJson6902"]):
            yield each, partial(patcher.json, each)
        for each in _entries(self.root["replicas"]):
            yield each, partial(set_replicas, self.items, each, self.specs["replicas"])
        images = [*_entries(self.root["images"]), *_entries(self.root["imageTags"])]
        if images:
            found: list[tuple[Item, Node]] = []
            yield images[0], lambda: found.extend(images_of(self.items, self.specs["images"]))
            for each in images:
                yield each, partial(set_images, found, each)
        for each in _entries(self.root["replacements"]):
            yield each, partial(self._replace, each)

    def _merging(self) -> Iterator[tuple[Node, Action]]:
        patcher = Patcher(self.files.library, self.items, self.files.find)
        for each in self.root["patchesStrategicMerge"] if self.root["patchesStrategicMerge"].is_list else ():
            yield each, partial(patcher.strategic, each)
        for each in _entries(self.root["patches"]):
            yield each, partial(patcher.entry, each)

    def _naming(self) -> Iterator[tuple[Node, Action]]:
        namespace = self.root["namespace"]
        if text_of(namespace):
            yield namespace, partial(set_namespace, self.items, namespace, self.specs["namespace"])
        for name in ("namePrefix", "nameSuffix"):
            if text_of(self.root[name]):
                yield self.root[name], partial(add_affix, self.items, self.root[name], self.specs[name])

    def _labelling(self) -> Iterator[tuple[Node, Action]]:
        for each in _entries(self.root["labels"]):
            yield each, partial(self._label, each)
        for name in ("commonLabels", "commonAnnotations"):
            setting = self.root[name]
            if setting.is_map:
                yield setting, partial(set_entries, self.items, setting, setting, self.specs[name])

    def _label(self, setting: Node) -> None:
        specs = label_specs(setting, self.specs, specs_of(setting["fields"]))
        set_entries(self.items, setting, setting["pairs"], specs)

    def _replace(self, setting: Node) -> None:
        """An entry of `replacements`: one, or a file of them."""
        if not text_of(setting["path"]):
            replace(self.items, setting)
            return
        piece = self.files.find(setting["path"])
        if piece is not None:
            for tree in trees(self.files.library, piece, True):
                for each in tree if tree.is_list else [tree]:
                    replace(self.items, each)


def _entries(node: Node) -> list[Node]:
    """The maps of a list."""
    return [each for each in node if each.is_map] if node.is_list else []

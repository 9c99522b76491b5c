"""`kustomize build`, modelled: the objects that a kustomization deploys, with the place that each part of them comes from.

    library = Library(reader("path/to/repository"))
    build = Builder(library).build("overlays/production")
    for each in build.objects:
        each.node                                      # the tree, as a Node
        library.locate(each.node["spec"]["replicas"].start)   # Spot(source, offset): the file and the character that say so
        library.document(each.node)                    # a Document, to be checked like any other; its text is that of all files

The place of a finding in such a document is a range of offsets of the library: `library.extent(start, end)` gives the file and the
characters there.

A `Build` has the `objects` of a kustomization and the `problems` with it. A `BuiltObject` has
- `node`: the root of a tree that is its own. `start` and `end` of each node are offsets in the space of the library (see `library.py`):
  those of the base's file, of a patch, of a generator's entry or of the file that it reads, or of the setting that gave the value.
  A name with a prefix, suffix or hash, and a reference that follows it, keep the place where the name is written; a map that holds
  entries from several files has the place where it was begun. Every node has a place; none is made up.
- `origin`: the node that it was made from, at the beginning: the document in its file, or the entry of a generator.
- `changes`: what settings did to it, in order, each with the setting's node in its kustomization and the nodes it set.
- `generated`: whether a generator made it; `previous`: the identities it had before.

Files are read through a callback that gets paths below the root; nothing is executed, nothing is fetched. What cannot be followed is a
problem with its place, and the build goes on without it: remote resources, missing files, what kustomize would refuse, and what is not
modelled (helm charts that the caller does not render; plug-ins named by `generators`, `transformers` and `validators`; `openapi`;
definitions in `crds`; `buildMetadata`).
So `Build.complete` says whether the objects are all that would be deployed, as they would be.

Values are compared with those of kubectl by `benchmarks/kustomize_builds.py`. Known differences, of values that have no influence on
identity and relations: kustomize writes some folded block scalars (`>`) with other line breaks than it read; a scalar that several
patches change from a string to a number and back may keep its quotes there; and a list of a patch with two different kinds of `$patch`
items, which no documentation describes.

Source: api/internal/target and api/internal/accumulator of kustomize 5.5, which is what kubectl 1.32 embeds.
"""

from __future__ import annotations

import posixpath
from typing import NamedTuple

from kcheck.kustomize.accumulation import Accumulation, PatchTarget
from kcheck.kustomize.generators import hash_of
from kcheck.kustomize.item import Change
from kcheck.kustomize.library import Exhausted, Library
from kcheck.kustomize.nodes import drop, is_scalar, text_of
from kcheck.kustomize.order import ordered
from kcheck.kustomize.problem import BadInput, BuildProblem
from kcheck.kustomize.references import Renaming
from kcheck.kustomize.variables import expand
from kcheck.yaml.node import Node

_LOCAL = "config.kubernetes.io/local-config"


class BuiltObject(NamedTuple):
    """An object as it is deployed."""

    node: Node
    origin: Node
    changes: tuple[Change, ...]
    generated: bool
    previous: tuple[tuple[str, str, str], ...]

    @property
    def name(self) -> str:
        """The name as deployed."""
        return text_of(self.node.at("metadata", "name"))


class Build(NamedTuple):
    """The build of a kustomization. `folder`: its folder; `components`: whether it is a Component, which is not a build by itself.

    `reads`: the folders of all kustomizations that take part, itself first.
    """

    folder: str
    objects: tuple[BuiltObject, ...]
    problems: tuple[BuildProblem, ...]
    reads: tuple[str, ...]
    is_component: bool = False

    @property
    def complete(self) -> bool:
        """Whether the objects are all that would be deployed, as they would be."""
        return not self.problems


class KustomizationBuilder:
    """Builds kustomizations of one library."""

    def __init__(self, library: Library) -> None:
        self.library = library

    def build(self, folder: str) -> Build:
        """The build of the kustomization in a folder below the root."""
        folder = posixpath.normpath(folder)
        target = PatchTarget(self.library, folder)
        try:
            state = target.accumulate(Accumulation())
            objects = self._finish(target, state)
        except Exhausted as error:
            target.complain("limit", f"the build was stopped: {error}", target.place)
            return Build(folder, (), tuple(target.problems), tuple(target.reads))
        return Build(folder, tuple(objects), tuple(target.problems), tuple(target.reads), target.is_component)

    def _finish(self, target: PatchTarget, state: Accumulation) -> list[BuiltObject]:
        """What happens once all settings of all kustomizations are applied: hashes, references, variables, order."""
        items = state.items
        for item in items:
            if item.hashed:
                name = item.name
                item.remember()
                item.rename(f"{name}-{hash_of(item)}")
        self.library.spend(20 * len(items))
        for fault in Renaming(items, state.settings.references).run():
            target.complain("error", fault.message, fault.place(target.place))
        if state.variables:
            for fault in self._expand(state):
                target.complain("error", fault.message, fault.place(target.place))
        items = [item for item in items if item.annotations.get(_LOCAL, "false") == "false"]
        for item in items:
            self._write_annotations(item.node["metadata"])
        try:
            items = ordered(items, target.place["sortOptions"])
        except BadInput as error:
            target.complain("error", error.message, error.place(target.place))
        return [BuiltObject(item.node, item.origin, tuple(item.changes), item.generated, tuple(item.previous)) for item in items]

    def _write_annotations(self, metadata: Node) -> None:
        """Make annotations texts, as kustomize does when it removes its own from all objects."""
        annotations = metadata["annotations"]
        if not annotations.exists:
            return
        if not annotations.is_map or not len(annotations):
            drop(metadata, "annotations")
            return
        for each in annotations:
            if not isinstance(each.held, str) and is_scalar(each):
                source, start = self.library.locate(each.start)
                written = source.text[start : start + each.end - each.start]
                each.held = "" if each.held is None else text_of(each) if "$" in written else written or text_of(each)

    def _expand(self, state: Accumulation) -> list[BadInput]:
        try:
            return list(expand(state.items, state.variables, state.settings.specs["varReference"]))
        except BadInput as error:
            return [error]

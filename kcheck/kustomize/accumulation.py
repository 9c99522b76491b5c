"""One kustomization of a build: its resources, then generators, components, transformers.

Source: api/internal/target/kusttarget.go and kusttarget_configplugin.go of kustomize 5.5 for the order of things.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from functools import partial

from kcheck.kustomize.generators import KINDS, absorb, generated
from kcheck.kustomize.identity import Gvk
from kcheck.kustomize.item import Item
from kcheck.kustomize.library import Exhausted, Library, Piece, is_outside
from kcheck.kustomize.nodes import text_of
from kcheck.kustomize.patches import check, trees, unlisted
from kcheck.kustomize.problem import BadInput, BuildProblem, Kind
from kcheck.kustomize.remote import is_remote
from kcheck.kustomize.settings import DEFAULTS, EMPTY, Settings, configured
from kcheck.kustomize.spelling import not_text, spell, unknown
from kcheck.kustomize.transformation import Transformation
from kcheck.kustomize.variables import attach
from kcheck.yaml.node import Node

_UNSUPPORTED = {
    "helmChartInflationGenerator": "helm charts are not rendered",
    "generators": "generator plug-ins are not run",
    "transformers": "transformer plug-ins are not run",
    "validators": "validator plug-ins are not run",
    "openapi": "openapi is not read: patches merge by the built-in schema",
    "buildMetadata": "buildMetadata is not modelled: its labels and annotations are missing",
}
_HOOK = "helm.sh/hook"
_GROUP = "kustomize.config.k8s.io/"
_API_VERSIONS = {"Kustomization": f"{_GROUP}v1beta1", "Component": f"{_GROUP}v1alpha1"}


class Accumulation:
    """What was gathered so far: objects, the fields that settings are about, variables by name."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.settings: Settings = EMPTY
        self.variables: dict[str, Node] = {}
        self._known: set[tuple[Gvk, str, str]] | None = None

    def add(self, item: Item) -> bool:
        """Add an object; False where one of the same identity is there."""
        if self._known is None:
            self._known = {_identity(each) for each in self.items}
        identity = _identity(item)
        if identity in self._known:
            return False
        self._known.add(identity)
        self.items.append(item)
        return True

    def forget(self) -> None:
        """Objects were renamed, added or removed otherwise."""
        self._known = None


def _identity(item: Item) -> tuple[Gvk, str, str]:
    id = item.id
    return id.gvk, id.name, id.effective


class PatchTarget:
    """A kustomization. `root`: its content, None where it cannot be read; `problems` and `reads` are those of the whole build."""

    def __init__(self, library: Library, folder: str, parent: PatchTarget | None = None) -> None:
        self.library = library
        self.folder = folder
        self.parent = parent
        self.problems: dict[BuildProblem, None] = {} if parent is None else parent.problems
        self.reads: list[str] = [] if parent is None else parent.reads
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.root: Node | None = None
        self.is_component = False
        self._load()

    @property
    def place(self) -> Node:
        return self.root if self.root is not None else Node({}, 0, 0)

    def complain(self, kind: Kind, message: str, node: Node) -> None:
        """Note a problem."""
        if node.is_map or node.is_list:
            start, end = node.key_span if isinstance(node.key, Node) else (node.start, node.start)
        else:
            start, end = node.start, node.end
        self.problems[BuildProblem(kind, message, start, end)] = None

    def _load(self) -> None:
        self.library.spend(200)
        piece = self.library.kustomization(self.folder)
        if piece is None:
            if self.parent is None:
                self.problems[BuildProblem("missing", "the folder contains no kustomization.yaml", 0, 0)] = None
            return
        self.reads.append(self.folder)
        try:
            found = list(trees(self.library, piece, True))
        except BadInput as error:
            self.complain("error", error.message, error.place(Node(None, piece.base, piece.base)))
            return
        if len(found) != 1 or not found[0].is_map:
            self.complain("error", "a kustomization file has one document, a map", Node(None, piece.base, piece.base))
            return
        self._take(found[0])

    def _take(self, root: Node) -> None:
        """Accept the content of the file, as far as kustomize would."""
        spell(root)
        kind, version = root["kind"].text or "Kustomization", root["apiVersion"].text
        self.is_component = kind == "Component"
        if kind not in _API_VERSIONS or (version and version != _API_VERSIONS[kind]):
            place = root["apiVersion"] if kind in _API_VERSIONS else root["kind"]
            self.complain("error", f"kustomize does not accept {f'{version} {kind}'.strip()}", place)
            if kind not in _API_VERSIONS or not version.startswith(_GROUP):
                # Another object in a file of this name.
                return
        self.root = root
        for node in unknown(root):
            self.complain("error", f"unknown field {node.name!r}", node.key if isinstance(node.key, Node) else node)
        for node in not_text(root):
            self.complain("error", f"{node.name} must be a string", node)

    def accumulate(self, state: Accumulation) -> Accumulation:
        """Apply the kustomization to what is there: nothing, or for a Component the objects of the one that names it."""
        root = self.root
        if root is None:
            return state
        for field, message in _UNSUPPORTED.items():
            if root[field]:
                self.complain("unsupported", message, root[field])
        for node in [*_texts(root["resources"]), *_texts(root["bases"])]:
            self._resource(state, node)
        self._configure(state)
        self._generate(state)
        for node in _texts(root["components"]):
            self._sub(state, node, True)
        self._transform(state)
        for variable in root["vars"]:
            self._attempt(variable, partial(attach, state.items, variable))
            self._add_variable(state, text_of(variable["name"]), variable)
        return state

    def _attempt(self, setting: Node, action: Callable[[], object]) -> None:
        """Do what a setting says; what kustomize refuses becomes a problem."""
        try:
            action()
        except BadInput as error:
            self.complain("error", error.message, error.place(setting))

    def _resource(self, state: Accumulation, node: Node) -> None:
        path = self._path(node)
        piece = None if path is None else self.library.load(path)
        if piece is None:
            self._sub(state, node, False)
            return
        self._restrict(node)
        try:
            for tree in trees(self.library, piece):
                for each in unlisted(tree):
                    check(each)
                    self._add(state, Item(each, each), node)
        except BadInput as error:
            self.complain("error", error.message, error.place(node))

    def _add(self, state: Accumulation, item: Item, node: Node) -> None:
        if not state.add(item):
            self.complain("error", f"{item.id} is added twice", node)

    def _sub(self, state: Accumulation, node: Node, as_component: bool) -> None:
        """Another kustomization, named by its folder."""
        path = self._path(node)
        if path is None or self.library.kustomization(path) is None:
            self._absent(node, path)
            return
        folder = posixpath.normpath(path)
        if self._is_above(folder):
            self.complain("error", f"{text_of(node)} leads back to a kustomization that it is part of", node)
            return
        if self.depth >= self.library.limits.depth:
            raise Exhausted(f"kustomizations are nested more than {self.library.limits.depth} levels deep")
        sub = PatchTarget(self.library, folder, self)
        if sub.root is not None and sub.is_component is not as_component:
            self.complain("error", f"{text_of(node)} is {'not ' if as_component else ''}a Component", node)
            return
        if as_component:
            sub.accumulate(state)
            return
        gathered = sub.accumulate(Accumulation())
        for item in gathered.items:
            self._add(state, item, node)
        self._attempt(node, partial(self._merge_settings, state, gathered.settings))
        for name, variable in gathered.variables.items():
            self._add_variable(state, name, variable)

    def _add_variable(self, state: Accumulation, name: str, variable: Node) -> None:
        if state.variables.setdefault(name, variable) is not variable:
            self.complain("error", f"var {name!r} is defined twice", variable["name"])

    def _is_above(self, folder: str) -> bool:
        target: PatchTarget | None = self
        while target is not None:
            if target.folder == folder:
                return True
            target = target.parent
        return False

    def _merge_settings(self, state: Accumulation, other: Settings) -> None:
        state.settings = state.settings.merged(other)

    def _path(self, node: Node) -> str | None:
        text = text_of(node)
        if not text or "\n" in text or text.startswith("/") or "://" in text:
            return None
        return posixpath.normpath(posixpath.join(self.folder, text))

    def _absent(self, node: Node, path: str | None) -> None:
        text = text_of(node)
        if is_remote(text):
            self.complain("remote", f"{text} is remote and was not fetched", node)
        elif path is None or is_outside(path):
            self.complain("outside", f"{text} is outside of the input", node)
        else:
            self.complain("missing", f"{text} does not exist", node)

    def _restrict(self, node: Node) -> None:
        """kustomize reads files of the folder of the kustomization and below only."""
        path = posixpath.normpath(text_of(node))
        if path == ".." or path.startswith("../"):
            self.complain("outside", f"{text_of(node)} is not in or below the folder of the kustomization", node)

    def find(self, node: Node) -> Piece | None:
        """The file that a setting names."""
        path = self._path(node)
        piece = None if path is None else self.library.load(path)
        if piece is None:
            self._absent(node, path)
        else:
            self._restrict(node)
        return piece

    def _configure(self, state: Accumulation) -> None:
        own = EMPTY
        for node in _texts(self.place["configurations"]):
            piece = self.find(node)
            try:
                for tree in () if piece is None else trees(self.library, piece, True):
                    own = own.merged(configured(tree))
            except BadInput as error:
                self.complain("error", error.message, error.place(node))
        settings = DEFAULTS if own is EMPTY else DEFAULTS.merged(own)
        self._attempt(self.place["configurations"], partial(self._merge_settings, state, settings))
        for node in _texts(self.place["crds"]):
            self._look_at_crd(node)

    def _look_at_crd(self, node: Node) -> None:
        """A file that `crds` names: a CustomResourceDefinition says nothing there, a definition in OpenAPI does."""
        piece = self.find(node)
        if piece is not None:
            documents = self.library.documents(piece)
            if not all(document.root["kind"].text for document in documents):
                self.complain("unsupported", "this definition is not read: references of its objects are not updated", node)

    def _generate(self, state: Accumulation) -> None:
        options = self.place["generatorOptions"]
        for field, kind in KINDS.items():
            for entry in self.place[field]:
                self._attempt(entry, partial(self._add_generated, state, entry, kind, options))
        charts = self.place["helmCharts"]
        for index, entry in enumerate(charts):
            pieces = self.library.chart(charts, index)
            if pieces is None:
                self.complain("unsupported", "helm charts are not rendered", charts)
            for piece in pieces or ():
                self._attempt(entry, partial(self._add_rendered, state, entry, piece))

    def _add_rendered(self, state: Accumulation, entry: Node, piece: Piece) -> None:
        """Add the objects of a rendered template."""
        for tree in trees(self.library, piece):
            for each in unlisted(tree):
                hook = text_of(each.at("metadata", "annotations", _HOOK))
                if not (hook and entry["skipHooks"].value is True) and not (hook == "test" and entry["skipTests"].value is True):
                    check(each)
                    self._add(state, Item(each, each), entry)

    def _add_generated(self, state: Accumulation, entry: Node, kind: str, options: Node) -> None:
        self.library.spend(5 * len(state.items) + 50)
        absorb(state.items, generated(entry, kind, options, self.find))
        state.forget()

    def _transform(self, state: Accumulation) -> None:
        for setting, action in Transformation(self.place, state.items, state.settings.specs, self).actions():
            self.library.spend(10 * len(state.items) + 10)
            self._attempt(setting, action)
        state.forget()


def _texts(node: Node) -> list[Node]:
    return [each for each in node if text_of(each)] if node.is_list else []

"""Kinds that CustomResourceDefinitions in the input define, in a form that can be sent to other processes.

Most of them have no objects in the input, so only the text of a definition is kept. It is parsed when the first object needs it.

If an input defines a kind several times, the definitions in the deployment unit of a file apply to its objects. If the unit has none, only
what all definitions refuse is a problem.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

from kcheck.finding.problem import Problem
from kcheck.kube.resource import Resource
from kcheck.schema.path import field_path
from kcheck.schema.shape import Shape
from kcheck.schema.store import Judge, Store
from kcheck.schema.walk import Walk
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.yaml.document import Document
from kcheck.yaml.fast.shared_blocks import Repeats
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

CRD_MARKER = "CustomResourceDefinition"
"""Substring of every text that defines a kind."""

POLICY_MARKER = "ingAdmissionPolicy"
"""Substring of every text with user-defined policies, as long as possible: a search takes the less time, the longer the substring."""


_MAX_TREE_CHARS = 16_000_000
"""Characters of definitions that a process keeps as trees, which take about thirty times as many bytes."""

_REDUCED_MAX_TREE_CHARS = 4_000_000
"""The same if the input has so many definitions that their texts are compressed."""


class InputKind(NamedTuple):
    """A kind with the text of the document that defines it.

    Attributes:
        api_version: Group and version of the kind.
        kind: Name of the kind.
        text: The document, compressed if the input has many definitions.
        state: See `KindPlace`.
        file: Number of the file in the run.
        start: Offset of the text in the file.
        is_general: Whether it applies to objects of all units; otherwise only to those of the unit of the definition.
    """

    api_version: str
    kind: str
    text: str | bytes
    state: str
    file: int
    start: int
    is_general: bool = True


class KindPlace(NamedTuple):
    """A kind with the location of its definition in the file. `state`: a digest of the text of the definition."""

    api_version: str
    kind: str
    start: int
    end: int
    state: str

    @property
    def group_kind(self) -> tuple[str, str]:
        """The API group and the name of the kind, which identify its definition in a cluster."""
        return self.api_version.partition("/")[0], self.kind


def make_input_kinds(
    file: int, source: Source, places: Iterable[KindPlace], compress: bool = False, is_general: bool = True
) -> list[InputKind]:  # fmt: skip
    """Return the kinds with the texts that define them. Versions of one definition share its text. `file`: number of the file."""
    texts: dict[int, str | bytes] = {}
    found = []
    for api_version, kind, start, end, state in places:
        if start not in texts:
            texts[start] = _compressed(source.text[start:end]) if compress else source.text[start:end]
        found.append(InputKind(api_version, kind, texts[start], state, file, start, is_general))
    return found


def _compressed(text: str) -> bytes:
    import zlib

    return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)


def _decompressed(data: bytes) -> str:
    import zlib

    return zlib.decompress(data).decode("utf-8", "surrogatepass")


class _InputDefinition(NamedTuple):
    """A parsed definition: its documents, and its kinds (`crd.CustomKind`) for each store that has requested them."""

    documents: list[Document]
    kinds_by_store: dict[int, dict[tuple[str, str], Any]]
    size: int


class InputDefinitions:
    """A least-recently-used cache of parsed definitions, limited by their size.

    Attributes:
        parsed_chars: Characters parsed because an object needed them.
        evicted_chars: Characters of evicted definitions.
        kinds: The registered kinds by the digest of their definition.
    """

    def __init__(self, repeats: Repeats) -> None:
        self.repeats = repeats
        self.kinds: dict[str, list[InputKind]] = {}
        self.parsed_chars = 0
        self.evicted_chars = 0
        self._max_chars = _MAX_TREE_CHARS
        # By digest, because the texts are large.
        self._definitions: OrderedDict[str, _InputDefinition] = OrderedDict()
        self._chars = 0

    @property
    def has_reduced_limit(self) -> bool:
        """Whether the limit is reduced because of very many definitions."""
        return self._max_chars == _REDUCED_MAX_TREE_CHARS

    def adjust_limit(self, kind: InputKind) -> None:
        """Reduce the limit if the definitions are compressed."""
        if isinstance(kind.text, bytes):
            self._max_chars = _REDUCED_MAX_TREE_CHARS

    def add_parsed(self, state: str, size: int, documents: list[Document]) -> None:
        """Add a definition that has been parsed anyway, if nothing has to be evicted for it: most are never needed."""
        if self._chars + size <= self._max_chars:
            self._add(state, documents, size)

    def _add(self, state: str, documents: list[Document], size: int) -> _InputDefinition:
        definition = _InputDefinition(documents, {}, size)
        self._chars += size - (old.size if (old := self._definitions.pop(state, None)) else 0)
        self._definitions[state] = definition
        while self._chars > self._max_chars and len(self._definitions) > 1:
            size = self._definitions.popitem(last=False)[1].size
            self._chars -= size
            self.evicted_chars += size
        return definition

    def validator_of(self, kind: InputKind, store: Store) -> Judge:
        """Return the validator of a kind, parsing its definition if necessary."""
        state = kind.state
        definition = self._definitions.get(state)
        if definition is None:
            plain = kind.text if isinstance(kind.text, str) else _decompressed(kind.text)
            self.parsed_chars += len(plain)
            definition = self._add(state, parse(Source("", plain), self.repeats), len(plain))
        self._definitions.move_to_end(state)
        custom_kinds = definition.kinds_by_store.get(id(store))
        if custom_kinds is None:
            from kcheck.schema.crd.definitions import definitions

            # Of two definitions of the same version and kind, the last one applies.
            parsed = definitions(store, definition.documents)
            custom_kinds = {(each.version.api_version, each.version.kind): each for each in parsed}
            definition.kinds_by_store[id(store)] = custom_kinds
        validator: Judge = custom_kinds[kind.api_version, kind.kind]
        return validator


def find_kinds(source: Source, documents: Iterable[Document], store: Store, known: InputDefinitions) -> list[KindPlace]:
    """Return the kinds that the documents of a file define. `known`: the cache to which the documents are added."""
    # Imported on first use: a fifth of the import time of a run.
    from kcheck.schema.crd.definitions import definitions

    found = []
    for document in documents:
        start, end = document.body, document.end
        if source.text.find(CRD_MARKER, start, end) < 0:
            continue
        state = _state_of(source.text[start:end])
        places = [KindPlace(k.version.api_version, k.version.kind, start, end, state) for k in definitions(store, [document])]
        if places:
            found += places
            known.add_parsed(state, end - start, [document])
    return found


def has_definition(source: Source, place: KindPlace) -> bool:
    """Return whether a file still has the definition of a kind in the same place."""
    return _state_of(source.text[place.start : place.end]) == place.state


def _state_of(text: str) -> str:
    from kcheck.text.digest import digest_of

    return digest_of(text.encode("utf-8", "surrogatepass")).hex()


def register_kinds(stores: Iterable[Store], kinds: Iterable[InputKind], known: InputDefinitions) -> None:
    """Register kinds. They replace kinds of the same name that are not defined in the input."""
    for kind in kinds:
        known.adjust_limit(kind)
        known.kinds.setdefault(kind.state, []).append(kind)
        if kind.is_general:
            for store in stores:
                _add_kind(store.custom, kind, store, known)


def select_kinds(stores: Iterable[Store], states: Sequence[str], known: InputDefinitions) -> None:
    """Let these definitions take precedence over others, until the next call. `states`: their digests."""
    for store in stores:
        own: dict[tuple[str, str], Judge] = {}
        for state in states:
            for kind in known.kinds.get(state, ()):
                _add_kind(own, kind, store, known)
        store.use_unit_kinds(own)


def _add_kind(kinds: dict[tuple[str, str], Judge], kind: InputKind, store: Store, known: InputDefinitions) -> None:
    key = kind.api_version, kind.kind
    before = kinds.get(key)
    # The same definition may occur in several files.
    rivals = [each for each in _rivals(before) if each.state != kind.state]
    added = LazyKind(kind, store, known)
    kinds[key] = RivalKinds([*rivals, added]) if rivals else added


def _rivals(judge: Judge | None) -> Sequence[LazyKind]:
    """Return the kinds of the input that a validator consists of."""
    if isinstance(judge, RivalKinds):
        return judge.kinds
    return [judge] if isinstance(judge, LazyKind) else []


class LazyKind:
    """The validator of a kind whose definition is parsed on first use."""

    def __init__(self, kind: InputKind, store: Store, known: InputDefinitions) -> None:
        self._kind = kind
        self._store = store
        self._known = known

    @property
    def state(self) -> str:
        """The digest of the definition."""
        return self._kind.state

    @property
    def _validator(self) -> Judge:
        return self._known.validator_of(self._kind, self._store)

    @property
    def shape(self) -> Shape | None:
        return self._validator.shape

    @property
    def namespaced(self) -> bool | None:
        return self._validator.namespaced

    @property
    def plural(self) -> str:
        """The name of the resource, "" if it is unknown."""
        return self._validator.plural

    @property
    def pod_schema(self) -> Node | None:
        return self._validator.pod_schema

    @property
    def definition(self) -> Judge | None:
        return self._validator.definition

    def judge(self, resource: Resource, walk: Walk) -> None:
        self._validator.judge(resource, walk)


class RivalKinds:
    """The validator of a kind with several definitions, of which any may apply.

    It reports the problems that all of them have. Types and Pods are those of the last one.
    """

    def __init__(self, kinds: Sequence[LazyKind]) -> None:
        self.kinds = kinds

    @property
    def shape(self) -> Shape | None:
        return self.kinds[-1].shape

    @property
    def plural(self) -> str:
        """The name of the resource."""
        return self.kinds[-1].plural

    @property
    def namespaced(self) -> bool | None:
        scopes = {each.namespaced for each in self.kinds}
        return scopes.pop() if len(scopes) == 1 else None

    @property
    def pod_schema(self) -> Node | None:
        return self.kinds[-1].pod_schema

    @property
    def definition(self) -> Judge | None:
        return self.kinds[-1].definition

    def judge(self, resource: Resource, walk: Walk) -> None:
        common: dict[tuple[str, str, str], tuple[str, Problem]] | None = None
        for each in reversed(self.kinds):
            found = _problems_of(each, resource, walk)
            common = found if common is None else {key: problem for key, problem in common.items() if key in found}
            if not common:
                return
        for rule, problem in (common or {}).values():
            walk.emit(rule, problem)


def _problems_of(kind: Judge, resource: Resource, walk: Walk) -> dict[tuple[str, str, str], tuple[str, Problem]]:
    """Return the problems that a kind finds in an object, with their rules, by rule, place and reason."""
    found: list[tuple[str, Problem]] = []
    refused = len(resource.refused)
    kind.judge(resource, Walk(resource, walk.plan, lambda rule, problem: found.append((rule, problem)), walk.crash))
    del resource.refused[refused:]
    return {(rule, _place_of(problem, resource), problem.reason): (rule, problem) for rule, problem in found}


def _place_of(problem: Problem, resource: Resource) -> str:
    node = problem.node
    return field_path(node, resource.node, None) if isinstance(node, Node) else str(node)

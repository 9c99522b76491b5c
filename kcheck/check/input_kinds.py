"""Kinds that CustomResourceDefinitions of the input define, in a form that goes from one process to another.

Most of them have no object in the input, so all that is kept of a definition is its text; it is read when the first object comes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from kcheck.kube.resource import Resource
from kcheck.schema.shape import Shape
from kcheck.schema.store import Judge, Store
from kcheck.schema.walk import Walk
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.yaml.document import Document
from kcheck.yaml.fast.shared_blocks import Repeats
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

MARK = "CustomResourceDefinition"
"""What stands in every text that defines a kind."""


_ROOM = 16_000_000
"""Characters of definitions that a process keeps as trees, which take thirty times as many bytes."""

_LITTLE_ROOM = 4_000_000
"""The same where the input has so many of them that their texts are compressed."""


class InputKind(NamedTuple):
    """A kind, and the text of the document that defines it: compressed where there is much of it. `state`: see KindPlace.

    `file`, `start`: the number of its file among those of the run, and where in it the text begins.
    """

    api_version: str
    kind: str
    text: str | bytes
    state: str
    file: int
    start: int


class KindPlace(NamedTuple):
    """A kind, and where in its file the document stands that defines it. `state`: a digest of its text."""

    api_version: str
    kind: str
    start: int
    end: int
    state: str


def input_kinds(file: int, source: Source, places: Iterable[KindPlace], packed: bool) -> list[InputKind]:
    """Kinds with the texts that define them. Versions of one share its text. `file`: its number."""
    texts: dict[int, str | bytes] = {}
    found = []
    for api_version, kind, start, end, state in places:
        if start not in texts:
            texts[start] = _packed(source.text[start:end]) if packed else source.text[start:end]
        found.append(InputKind(api_version, kind, texts[start], state, file, start))
    return found


def _packed(text: str) -> bytes:
    import zlib

    return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)


def _unpacked(data: bytes) -> str:
    import zlib

    return zlib.decompress(data).decode("utf-8", "surrogatepass")


class _InputDefinition(NamedTuple):
    """A text that defines kinds, read: its documents, and its kinds (`crd.CustomKind`) for each store that has asked."""

    documents: list[Document]
    judges: dict[int, dict[tuple[str, str], Any]]
    size: int


class InputDefinitions:
    """Texts that define kinds, each read once, as long as there is room for them; those asked for last are kept.

    `read`: characters that were read for an object; `dropped`: those that were not kept.
    """

    def __init__(self, repeats: Repeats) -> None:
        self.repeats = repeats
        self.read = 0
        self.dropped = 0
        self._room = _ROOM
        # By the states of the texts, which are large.
        self._read: OrderedDict[str, _InputDefinition] = OrderedDict()
        self._size = 0

    @property
    def are_many(self) -> bool:
        """Whether room is short."""
        return self._room == _LITTLE_ROOM

    def learn(self, kind: InputKind) -> None:
        """Take note of a kind."""
        if isinstance(kind.text, bytes):
            self._room = _LITTLE_ROOM

    def offer(self, state: str, size: int, documents: list[Document]) -> None:
        """Take in a text that has been read by the way, as long as nothing has to go for it: most are never asked for."""
        if self._size + size <= self._room:
            self._keep(state, documents, size)

    def _keep(self, state: str, documents: list[Document], size: int) -> _InputDefinition:
        made = _InputDefinition(documents, {}, size)
        self._size += size - (old.size if (old := self._read.pop(state, None)) else 0)
        self._read[state] = made
        while self._size > self._room and len(self._read) > 1:
            size = self._read.popitem(last=False)[1].size
            self._size -= size
            self.dropped += size
        return made

    def judge(self, kind: InputKind, store: Store) -> Judge:
        """What judges the objects of a kind."""
        state = kind.state
        definition = self._read.get(state)
        if definition is None:
            plain = kind.text if isinstance(kind.text, str) else _unpacked(kind.text)
            self.read += len(plain)
            definition = self._keep(state, parse(Source("", plain), self.repeats), len(plain))
        self._read.move_to_end(state)
        judges = definition.judges.get(id(store))
        if judges is None:
            from kcheck.schema.crd.definitions import definitions

            # Of two that say the same of themselves, the last one counts.
            made = definitions(store, definition.documents)
            judges = definition.judges[id(store)] = {(each.version.api_version, each.version.kind): each for each in made}
        found: Judge = judges[kind.api_version, kind.kind]
        return found


def kinds_of(source: Source, documents: Iterable[Document], store: Store, known: InputDefinitions) -> list[KindPlace]:
    """The kinds that these documents of a file define. `known`: where the documents are kept for whoever needs them again."""
    # Loaded when there are some: it is a fifth of all that a run would load.
    from kcheck.schema.crd.definitions import definitions
    from kcheck.text.digest import digest_of

    found = []
    for document in documents:
        start, end = document.body, document.end
        if source.text.find(MARK, start, end) < 0:
            continue
        state = digest_of(source.text[start:end].encode("utf-8", "surrogatepass")).hex()
        places = [KindPlace(k.version.api_version, k.version.kind, start, end, state) for k in definitions(store, [document])]
        if places:
            found += places
            known.offer(state, end - start, [document])
    return found


def add_kinds(stores: Iterable[Store], kinds: Iterable[InputKind], known: InputDefinitions) -> None:
    """Make kinds known; those that come later win."""
    for kind in kinds:
        known.learn(kind)
        for store in stores:
            store.custom[kind.api_version, kind.kind] = Announced(kind, store, known)


class Announced:
    """The judge of a kind whose definition is read when somebody asks for more than its name."""

    def __init__(self, kind: InputKind, store: Store, known: InputDefinitions) -> None:
        self._kind = kind
        self._store = store
        self._known = known

    @property
    def _judge(self) -> Judge:
        return self._known.judge(self._kind, self._store)

    @property
    def shape(self) -> Shape | None:
        return self._judge.shape

    @property
    def namespaced(self) -> bool | None:
        return self._judge.namespaced

    @property
    def pod_schema(self) -> Node | None:
        return self._judge.pod_schema

    def judge(self, resource: Resource, walk: Walk) -> None:
        self._judge.judge(resource, walk)

"""Kinds that CustomResourceDefinitions of the input define, in a form that goes from one process to another.

Most of them have no object in the input, so all that is kept of a definition is its text; it is read when the first object comes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from kcheck.kube.resource import Resource
from kcheck.schema.shape import Shape
from kcheck.schema.store import Judge, Store
from kcheck.schema.walk import Walk
from kcheck.text.source import Source
from kcheck.tree.document import Document
from kcheck.tree.parse import parse

MARK = "CustomResourceDefinition"
"""What stands in every text that defines a kind."""


Trees = dict[str, list[Document]]
"""Documents that define kinds, by their texts, so that each is read once."""


class InputKind(NamedTuple):
    """A kind, and the text of the document that defines it."""

    api_version: str
    kind: str
    text: str


class KindPlace(NamedTuple):
    """A kind, and where in its file the document stands that defines it."""

    api_version: str
    kind: str
    start: int
    end: int

    def within(self, source: Source) -> InputKind:
        return InputKind(self.api_version, self.kind, source.text[self.start : self.end])


def kinds_of(source: Source, documents: Iterable[Document], store: Store, trees: Trees) -> list[KindPlace]:
    """The kinds that these documents of a file define. `trees`: where the documents are kept for whoever needs them again."""
    # Loaded when there are some: it is a fifth of all that a run would load.
    from kcheck.schema.crd import definitions

    found = []
    for document in documents:
        start, end = document.start, document.end
        if source.text.find(MARK, start, end) < 0:
            continue
        places = [KindPlace(k.version.api_version, k.version.kind, start, end) for k in definitions(store, [document])]
        if places:
            found += places
            trees[source.text[start:end]] = [document]
    return found


def add_kinds(stores: Iterable[Store], kinds: Iterable[InputKind], trees: Trees) -> None:
    """Make kinds known; those that come later win."""
    for store in stores:
        for kind in kinds:
            store.custom[kind.api_version, kind.kind] = Announced(kind, store, trees)


class Announced:
    """The judge of a kind whose definition is read when somebody asks for more than its name."""

    def __init__(self, kind: InputKind, store: Store, trees: Trees) -> None:
        self._kind = kind
        self._store = store
        self._trees = trees

    @cached_property
    def _judge(self) -> Judge:
        from kcheck.schema.crd import definitions

        api_version, name, text = self._kind
        if text not in self._trees:
            self._trees[text] = parse(Source("", text))
        found = definitions(self._store, self._trees[text])
        return [kind for kind in found if (kind.version.api_version, kind.version.kind) == (api_version, name)][-1]

    @property
    def shape(self) -> Shape | None:
        return self._judge.shape

    @property
    def namespaced(self) -> bool | None:
        return self._judge.namespaced

    def judge(self, resource: Resource, walk: Walk) -> None:
        self._judge.judge(resource, walk)

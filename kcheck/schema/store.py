"""Everything that is known of kinds: the definitions of a Kubernetes version, the CRDs of the input, users' JSON Schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from kcheck.kube.resource import Resource
from kcheck.kube.suggestions import Lexicon, nearest
from kcheck.schema.builtin.components import Components
from kcheck.schema.builtin.definitions import Absence, Definitions, Kind
from kcheck.schema.shape import Shape
from kcheck.schema.walk import Walk
from kcheck.yaml.node import Node


class Judge(Protocol):
    """A kind that is not built in: how to judge an object of it.

    `shape`: its type for field paths; None, as its scope, where unknown. `pod_schema`: the schema by which pods in it can be found.
    """

    @property
    def shape(self) -> Shape | None: ...

    @property
    def namespaced(self) -> bool | None: ...

    @property
    def pod_schema(self) -> Node | None: ...

    def judge(self, resource: Resource, walk: Walk) -> None: ...


class CrdRules(Protocol):
    """What evaluates the rules (x-kubernetes-validations) of a custom resource's schema.

    `schema`: a `structural.Schema`, whose module only custom resources load. `value`: the object as the server holds it, decoded
    and defaulted, a status that it drops left out. Its keys lead to nodes of `resource`; what a default put there has none.
    """

    def evaluate(self, schema: Any, value: dict[str, Any], resource: Resource, walk: Walk) -> None: ...


class Catalog(Protocol):
    """A collection of JSON Schemas that are read as they are needed."""

    def find(self, api_version: str, kind: str) -> Judge | None: ...


class Store:
    """Kinds by apiVersion and kind. CRDs and schemas added later win over earlier ones, built-in kinds over all.

    `catalogs`: JSON Schemas, asked where no CRD has a kind, the last one first. `rules`: what evaluates the rules of custom
    resources, None to leave them out. `pods`: where the config says that a kind, by its group and name, holds pods; `places`: what has
    been found out of that, by apiVersion and kind, `outlines`: the shapes that objects with pods in these places have.
    """

    def __init__(self, definitions: Definitions) -> None:
        self.definitions = definitions
        self.custom: dict[tuple[str, str], Judge] = {}
        self.catalogs: list[Catalog] = []
        self.rules: CrdRules | None = None
        self.pods: Mapping[tuple[str, str], Any] = {}
        self.places: dict[tuple[str, str], Any] = {}
        self.outlines: dict[Any, Shape] = {}
        self._components: Components | None = None
        self._groups: set[str] | None = None
        # By the kind that was written and how many kinds there were to compare it with.
        self._likes: dict[tuple[str, int], str | None] = {}
        self._known: tuple[int, Lexicon] | None = None

    @property
    def components(self) -> Components:
        """The kinds of component configuration: they are no API objects, and no API server serves them."""
        if self._components is None:
            self._components = Components(self.definitions)
        return self._components

    def builtin(self, api_version: str, kind: str) -> Kind | None:
        return self.definitions.kind(api_version, kind)

    def added(self, api_version: str, kind: str) -> Judge | None:
        judge = self.custom.get((api_version, kind))
        if judge is None:
            for catalog in reversed(self.catalogs):
                judge = catalog.find(api_version, kind)
                if judge is not None:
                    break
        return judge

    def versions_of(self, kind: str) -> list[str]:
        """apiVersions that have a kind of this name, built in or added."""
        known = self.definitions.versions_of(kind) or self.components.versions_of(kind)
        return [*known, *sorted(v for v, k in self.custom if k == kind)]

    def absence(self, api_version: str, kind: str) -> Absence | None:
        """Why a kind that Kubernetes knows is not in this version."""
        return self.definitions.absence(api_version, kind) or self.components.absence(api_version, kind)

    def serves_group(self, api_version: str) -> bool:
        """Whether the group is Kubernetes' own, so that an unknown kind in it is a mistake and not a missing CRD."""
        if self._groups is None:
            self._groups = {v.rpartition("/")[0] for known in (self.definitions, self.components) for v, _ in known.kinds()}
        return api_version.rpartition("/")[0] in self._groups

    def kind_names(self) -> set[str]:
        """Names of all kinds, for suggestions."""
        return {k for known in (self.definitions.kinds(), self.components.kinds(), self.custom) for _, k in known}

    def kind_like(self, kind: str) -> str | None:
        """The kind that may be meant by one that nobody knows. A kind that is missing is mostly so in many objects."""
        key = (kind, len(self.custom))
        if key not in self._likes:
            if self._known is None or self._known[0] != len(self.custom):
                self._known = len(self.custom), Lexicon(self.kind_names())
            self._likes[key] = nearest(kind, self._known[1])
        return self._likes[key]

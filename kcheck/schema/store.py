"""All known kinds: the definitions of a Kubernetes version, the CRDs of the input and the users' JSON Schemas."""

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
    """Validator of a kind that is not built in.

    `shape`: its type for field paths; None if unknown, like the scope. `pod_schema`: the schema in which its Pods are searched.
    """

    @property
    def shape(self) -> Shape | None:
        """The type for field paths, or None if unknown."""

    @property
    def namespaced(self) -> bool | None:
        """Whether objects belong to a namespace, None if unknown."""

    @property
    def plural(self) -> str:
        """The name of the resource, "" if it is unknown."""

    @property
    def pod_schema(self) -> Node | None:
        """The schema in which Pods are searched, or None."""

    @property
    def definition(self) -> Judge | None:
        """The kind as its CRD defines it, None without a CRD."""

    def judge(self, resource: Resource, walk: Walk) -> None:
        """Report the errors of an object."""


class CrdRules(Protocol):
    """Evaluates the CEL rules (x-kubernetes-validations) of a custom resource's schema.

    `schema`: a `structural.Schema`, whose module is imported only for custom resources. `value`: the object as the server stores it,
    decoded and defaulted, without a dropped status. Its keys correspond to nodes of `resource`; defaulted values have no node. `old`:
    the stored object that it replaces, None for a new object.
    """

    def evaluate(self, schema: Any, value: dict[str, Any], resource: Resource, walk: Walk, old: dict[str, Any] | None = None) -> None:
        """Report the violations of an object."""


class Catalog(Protocol):
    """A collection of JSON Schemas that are read on demand."""

    def find(self, api_version: str, kind: str) -> Judge | None:
        """Return the validator of a kind, or None."""


class Store:
    """Kinds by apiVersion and kind. Later CRDs and schemas override earlier ones; built-in kinds take precedence over both.

    Attributes:
        definitions: the definitions of the Kubernetes version.
        custom: kinds of CRDs, by apiVersion and kind.
        unit_kinds: kinds of CRDs that take precedence for the current file: those of its deployment unit.
        catalogs: JSON Schemas, searched if no CRD defines a kind, the last catalog first.
        rules: evaluates the CEL rules of custom resources; None to skip them.
        pods: the configured places of Pods, by group and kind.
        places: the cached places of Pods, by apiVersion and kind.
        outlines: the cached shapes of objects with Pods in given places.
    """

    def __init__(self, definitions: Definitions) -> None:
        self.definitions = definitions
        self.custom: dict[tuple[str, str], Judge] = {}
        self.unit_kinds: Mapping[tuple[str, str], Judge] = {}
        self.catalogs: list[Catalog] = []
        self.rules: CrdRules | None = None
        self.pods: Mapping[tuple[str, str], Any] = {}
        self.places: dict[tuple[str, str], Any] = {}
        self.outlines: dict[Any, Shape] = {}
        self._general_places: dict[tuple[str, str], Any] | None = None
        self._components: Components | None = None
        self._groups: set[str] | None = None
        # By the requested kind and the number of custom kinds it was compared with.
        self._similar_kinds: dict[tuple[str, int], str | None] = {}
        self._lexicon: tuple[int, Lexicon] | None = None

    @property
    def components(self) -> Components:
        """The kinds of component configuration files. They are not API objects, and the API server does not serve them."""
        if self._components is None:
            self._components = Components(self.definitions)
        return self._components

    def builtin(self, api_version: str, kind: str) -> Kind | None:
        """Return the kind if this Kubernetes version serves it, else None."""
        return self.definitions.kind(api_version, kind)

    def added(self, api_version: str, kind: str) -> Judge | None:
        """Return the validator of a kind from the CRDs and catalogs, or None."""
        key = api_version, kind
        judge = self.unit_kinds.get(key) or self.custom.get(key)
        if judge is None:
            for catalog in reversed(self.catalogs):
                judge = catalog.find(api_version, kind)
                if judge is not None:
                    break
        return judge

    def use_unit_kinds(self, kinds: Mapping[tuple[str, str], Judge]) -> None:
        """Let these kinds take precedence over others of the same name, until the next call."""
        if self._general_places is not None:
            self.places, self._general_places = self._general_places, None
        self.unit_kinds = kinds
        if kinds:
            # The places of Pods depend on the definition.
            self.places, self._general_places = {}, self.places

    def versions_of(self, kind: str) -> list[str]:
        """Return the apiVersions that have a kind of this name, built in or added."""
        known = self.definitions.versions_of(kind) or self.components.versions_of(kind)
        return [*known, *sorted(v for v, k in self.custom if k == kind)]

    def absence(self, api_version: str, kind: str) -> Absence | None:
        """Return why this version does not have a known kind."""
        return self.definitions.absence(api_version, kind) or self.components.absence(api_version, kind)

    def serves_group(self, api_version: str) -> bool:
        """Whether the group belongs to Kubernetes, so that an unknown kind in it is a mistake and not a missing CRD."""
        if self._groups is None:
            self._groups = {v.rpartition("/")[0] for known in (self.definitions, self.components) for v, _ in known.kinds()}
        return api_version.rpartition("/")[0] in self._groups

    def kind_names(self) -> set[str]:
        """Return the names of all kinds, for suggestions."""
        return {k for known in (self.definitions.kinds(), self.components.kinds(), self.custom) for _, k in known}

    def kind_like(self, kind: str) -> str | None:
        """Return the known kind that resembles an unknown one. Cached, because an unknown kind usually occurs in many objects."""
        key = (kind, len(self.custom))
        if key not in self._similar_kinds:
            if self._lexicon is None or self._lexicon[0] != len(self.custom):
                self._lexicon = len(self.custom), Lexicon(self.kind_names())
            self._similar_kinds[key] = nearest(kind, self._lexicon[1])
        return self._similar_kinds[key]

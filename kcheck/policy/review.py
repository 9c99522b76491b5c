"""The object that policies judge, as the API server holds it when it calls them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kcheck.defaulting.conversion import converted
from kcheck.kube.resource import Resource
from kcheck.policy.held_objects import default_again, held_object
from kcheck.policy.resource_names import ResourceName, equivalents, resource_of
from kcheck.schema.shape import Shape
from kcheck.schema.store import Store

CREATE, UPDATE = "CREATE", "UPDATE"


class Review:
    """A request to create or update an object.

    Attributes:
        resource: The object in its file.
        store: The kinds of the Kubernetes version.
        name: The resource of the object.
        is_namespace: Whether the object is a Namespace.
        object_name: The name in the request: "" if the API server generates it.
        changed_by: The ids of the mutating policies that changed the object.
        namespace: The namespace of the request: for a Namespace its own name, "" for other objects without namespace.
        old: The object before the request in JSON, None if it is created.
    """

    def __init__(
        self, resource: Resource, store: Store, old: Mapping[str, Any] | None = None, object: dict[str, Any] | None = None
    ) -> None:
        self.resource = resource
        self.store = store
        self.name: ResourceName = resource_of(resource.api_version, resource.kind, store)
        self.old = old
        self.changed_by: list[str] = []
        self._object = object
        id = resource.id
        self.is_namespace = self.name.plural == "namespaces" and not self.name.group
        self.object_name = id.name
        self.namespace = id.name if self.is_namespace else (id.namespace or "default") if self.name.namespaced else ""
        self.answers: dict[Any, Any] = {}
        self._equivalents: tuple[ResourceName, ...] | None = None

    @property
    def object(self) -> dict[str, Any]:
        """The object in JSON: decoded and defaulted."""
        if self._object is None:
            self._object = held_object(self.resource, self.store)
        return self._object

    def replace_object(self, value: dict[str, Any]) -> None:
        """Replace the object by one that a mutating policy changed, which is defaulted again."""
        self._object = default_again(value, self.store)
        self.answers = {}

    @property
    def equivalents(self) -> tuple[ResourceName, ...]:
        """The other versions and groups in which the API server serves the object."""
        if self._equivalents is None:
            self._equivalents = equivalents(self.name, self.store)
        return self._equivalents

    @property
    def shape(self) -> Shape | None:
        """The type of the object, None if it is unknown."""
        resource = self.resource
        builtin = self.store.builtin(resource.api_version, resource.kind)
        if builtin is not None:
            return builtin.shape
        added = self.store.added(resource.api_version, resource.kind)
        return added.shape if added is not None else None

    def object_as(self, name: ResourceName) -> Mapping[str, Any]:
        """Return the object in another version of its resource."""
        return self.object if name == self.name else converted(self.object, name.api_version)

    def old_as(self, name: ResourceName) -> Mapping[str, Any] | None:
        """Return the object before the request in another version of its resource."""
        return self.old if self.old is None or name == self.name else converted(self.old, name.api_version)

    @property
    def operation(self) -> str:
        """The operation: CREATE, or UPDATE if the object existed before."""
        return CREATE if self.old is None else UPDATE

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of the object."""
        return labels_of(self.object)


def labels_of(object: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the labels of an object in JSON."""
    metadata = object.get("metadata")
    found = metadata.get("labels") if isinstance(metadata, Mapping) else None
    return found if isinstance(found, Mapping) else {}

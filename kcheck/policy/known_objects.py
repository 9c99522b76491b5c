"""Namespaces and parameters that policies refer to."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kcheck.policy.policy_input import KnownObject

NAME_LABEL = "kubernetes.io/metadata.name"
"""The label with its name that every Namespace has."""


class _Definition:
    """A definition of an object, which is parsed when it is first needed. `file`: the file that contains it."""

    __slots__ = ("_json", "_object", "file")

    def __init__(self, file: str, json: str) -> None:
        self.file = file
        self._json = json
        self._object: dict[str, Any] | None = None

    def object_in(self, namespace: str) -> dict[str, Any]:
        """Return the object in JSON. `namespace`: that of an object that states none, "" to leave it out."""
        if self._object is None:
            self._object = json.loads(self._json)
        metadata = self._object.get("metadata") or {}
        if not namespace or "namespace" in metadata:
            return self._object
        return {**self._object, "metadata": {**metadata, "namespace": namespace}}


class KnownObjects:
    """Finds objects by kind, namespace and name. If several files define an object, the file nearest to the one that needs it applies."""

    def __init__(self, objects: Iterable[KnownObject]) -> None:
        # The definitions of an object by its group and kind, then its name, then its namespace.
        self._by_kind: dict[tuple[str, str], dict[str, dict[str, list[_Definition]]]] = defaultdict(dict)
        self._repeated: set[tuple[str, str]] = set()
        for each in objects:
            kind = each.api_version.rpartition("/")[0], each.kind
            same = self._by_kind[kind].setdefault(each.name, {}).setdefault(each.namespace or "default", [])
            same.append(_Definition(each.file, each.json))
            if len(same) > 1:
                self._repeated.add(kind)
        self._found: dict[tuple[str, str, str, str, str], list[dict[str, Any]]] = {}
        self._namespaces: dict[tuple[str, str], Mapping[str, Any]] = {}

    def find(self, group: str, kind: str, namespace: str, name: str, file: str) -> dict[str, Any] | None:
        """Return an object in JSON, None if it is not known.

        `namespace`: "" for cluster-scoped objects; `file`: the file that needs it.
        """
        return next(iter(self.find_all(group, kind, namespace, file, name)), None)

    def find_all(self, group: str, kind: str, namespace: str, file: str, name: str = "") -> list[dict[str, Any]]:
        """Return the objects of a kind in a namespace, each name once, in the order of their names. They are shared: do not change them."""
        # The file makes no difference if each object is defined once.
        folder = os.path.dirname(file) if (group, kind) in self._repeated else ""
        key = group, kind, namespace, folder, name
        if key not in self._found:
            self._found[key] = list(self._search(group, kind, namespace, file, name))
        return self._found[key]

    def of_kind(self, kind: str, file: str) -> list[dict[str, Any]]:
        """Return the objects of a kind in any group and namespace, each name once."""
        return [each for group, name in list(self._by_kind) if name == kind for each in self.find_all(group, kind, "", file)]

    def _search(self, group: str, kind: str, namespace: str, file: str, name: str) -> Iterator[dict[str, Any]]:
        by_name = self._by_kind.get((group, kind), {})
        for wanted in [name] if name else sorted(by_name):
            by_namespace = by_name.get(wanted, {})
            for place in [namespace] if namespace else sorted(by_namespace):
                definitions = by_namespace.get(place)
                if definitions:
                    yield max(definitions, key=lambda each: nearness(each.file, file)).object_in(namespace)

    def namespace_of(self, name: str, file: str) -> Mapping[str, Any]:
        """Return a Namespace as policies see it. Of one that is not known, only the name is assumed."""
        key = name, os.path.dirname(file)
        if key not in self._namespaces:
            found = self.find("", "Namespace", "", name, file) or {}
            self._namespaces[key] = _seen_namespace(found, name)
        return self._namespaces[key]


def _seen_namespace(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the fields of a Namespace that expressions can read. Source: CreateNamespaceObject in k8s.io/apiserver."""
    metadata = found.get("metadata") or {}
    seen = {key: value for key in ("annotations", "finalizers") if (value := metadata.get(key))}
    seen |= {"name": name, "labels": {**(metadata.get("labels") or {}), NAME_LABEL: name}}
    return {"metadata": seen, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}


def nearness(one: str, other: str) -> int:
    """Return the number of folders that two paths share."""
    shared = 0
    for left, right in zip(os.path.dirname(one).split("/"), os.path.dirname(other).split("/"), strict=False):
        if left != right:
            break
        shared += 1
    return shared

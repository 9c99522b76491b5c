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


class KnownObjects:
    """Finds objects by kind, namespace and name. If several files define an object, the file nearest to the one that needs it applies."""

    def __init__(self, objects: Iterable[KnownObject]) -> None:
        self._by_kind: dict[tuple[str, str], list[KnownObject]] = defaultdict(list)
        for each in objects:
            self._by_kind[each.api_version.rpartition("/")[0], each.kind].append(each)
        self._found: dict[tuple[str, str, str, str, str], list[dict[str, Any]]] = {}
        self._namespaces: dict[tuple[str, str], Mapping[str, Any]] = {}

    def find(self, group: str, kind: str, namespace: str, name: str, file: str) -> dict[str, Any] | None:
        """Return an object in JSON, None if it is not known.

        `namespace`: "" for cluster-scoped objects; `file`: the file that needs it.
        """
        return next(iter(self.find_all(group, kind, namespace, file, name)), None)

    def find_all(self, group: str, kind: str, namespace: str, file: str, name: str = "") -> list[dict[str, Any]]:
        """Return the objects of a kind in a namespace, each name once, in the order of their names."""
        key = group, kind, namespace, os.path.dirname(file), name
        if key not in self._found:
            self._found[key] = list(self._search(group, kind, namespace, file, name))
        return self._found[key]

    def of_kind(self, kind: str, file: str) -> list[dict[str, Any]]:
        """Return the objects of a kind in any group and namespace, each name once."""
        return [each for group, name in list(self._by_kind) if name == kind for each in self.find_all(group, kind, "", file)]

    def _search(self, group: str, kind: str, namespace: str, file: str, name: str) -> Iterator[dict[str, Any]]:
        candidates = [
            each
            for each in self._by_kind.get((group, kind), ())
            if (not name or each.name == name) and (not namespace or (each.namespace or "default") == namespace)
        ]
        candidates.sort(key=lambda each: (each.name, each.namespace, -_nearness(each.file, file)))
        seen: set[tuple[str, str]] = set()
        for each in candidates:
            if (each.namespace, each.name) not in seen:
                seen.add((each.namespace, each.name))
                found = json.loads(each.json)
                found.setdefault("metadata", {}).setdefault("namespace", namespace) if namespace else None
                yield found

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


def _nearness(one: str, other: str) -> int:
    """Return the number of folders that two paths share."""
    shared = 0
    for left, right in zip(os.path.dirname(one).split("/"), os.path.dirname(other).split("/"), strict=False):
        if left != right:
            break
        shared += 1
    return shared

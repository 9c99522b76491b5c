"""How the Go types of the Kubernetes API are written as JSON, by Kubernetes version.

schemas/go-types.json, which tools/refresh_go_types.py generates, is

    {"1.25": {"core/v1 ContainerPort": {"kept": ["containerPort"], "defaults": {"protocol": "TCP"}}}, "1.26": {...}}

A version contains only the types that differ from the version before. "pointers" are the fields whose Go type is a pointer, "kept" those
that are written even if they are empty, "omitzero" those whose structs are not written if they are empty, "defaults" the declared defaults.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from kcheck.schema.builtin.definitions import folder

_EMPTY: dict[str, Any] = {}


class GoType:
    """Facts about the fields of a struct. `defaults`: declared default by field."""

    __slots__ = ("defaults", "kept", "omitzero", "pointers")

    def __init__(self, entry: dict[str, Any]) -> None:
        self.pointers = frozenset(entry.get("pointers", ()))
        self.kept = frozenset(entry.get("kept", ()))
        self.omitzero = frozenset(entry.get("omitzero", ()))
        self.defaults: dict[str, Any] = entry.get("defaults", {})


def go_type(name: str, minor: int) -> GoType:
    """Return the facts about an API type, such as "core/v1 Container", in Kubernetes 1.`minor`; without any if the type is unknown."""
    return GoType(_types(minor).get(name, _EMPTY))


@cache
def _types(minor: int) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for version, changed in _versions().items():
        if int(version.partition(".")[2]) <= minor:
            found.update(changed)
    return found


@cache
def _versions() -> dict[str, dict[str, dict[str, Any]]]:
    versions: dict[str, dict[str, dict[str, Any]]] = json.loads((folder() / "go-types.json").read_text(encoding="utf-8"))
    return versions

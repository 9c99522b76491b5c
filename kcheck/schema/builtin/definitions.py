"""The API types of one Kubernetes version, read from the compact table that tools/refresh_schemas.py generates.

A table, schemas/kubernetes-1.NN.json, is

    {"version": "1.36.3",
     "kinds": {"apps/v1": {"Deployment": ["apps/v1 Deployment", "deployments", true]}},
     "types": {"core/v1 ContainerPort": {"fields": {"containerPort": "int32",
                                                    "protocol": {"type": "string", "enum": ["SCTP", "TCP", "UDP"], "default": "TCP"}},
                                         "required": ["containerPort"], "plain": ["containerPort"]}}}

A kind has its type, its plural ("" if it is only a subresource of another kind) and whether it is namespaced. A field is a type
expression or an object with "type" and any of "enum", "default", "list" ("map" or "set") and "keys", or with "by" and "of": the types of
the field by the value of the sibling field "by". A type expression is a word of `kcheck.schema.shape.PRIMITIVES`, the name of a type,
"[]X" for a list of X, "{}X" for a map from string to X, or "?X" for any value, where a mapping is an X.

schemas/removed.json has, by apiVersion and kind, the first version that served it ("added", if it is newer than the oldest table) and
the first version that no longer served it ("removed").
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from kcheck.schema.builtin.gated_fields import gated_off
from kcheck.schema.shape import PRIMITIVES, Choice, Field, Shape

Table = dict[str, Any]


class UnknownVersion(ValueError):
    """A Kubernetes version without definitions; the message lists the supported versions."""


class Kind(NamedTuple):
    """The kind identified by an apiVersion and a kind. `plural` is "" if it is only a subresource of another kind."""

    api_version: str
    name: str
    shape: Shape
    plural: str
    namespaced: bool


class Absence(NamedTuple):
    """Why a version does not serve a known kind: exactly one of `added` and `removed` is set.

    Attributes:
        added: the later version that first serves the kind.
        removed: the version, this or an earlier one, that first no longer serves the kind.
        replacement: the apiVersion that serves the kind in this version instead, or "".
    """

    added: str
    removed: str
    replacement: str


class Definitions:
    """The definitions of one Kubernetes version. `version` is "1.36", `release` the exact version that the table was generated from."""

    def __init__(self, table: Table) -> None:
        self.release: str = table["version"]
        self.version = self.release.rpartition(".")[0]
        self.minor = _minor_number(self.version)
        self._kinds: dict[str, dict[str, list[Any]]] = table["kinds"]
        self._types: dict[str, Table] = table["types"]
        self._kind_cache: dict[tuple[str, str], Kind] = {}
        self._shapes: dict[str, Shape] = dict(PRIMITIVES)
        self._fields: dict[tuple[str, bool], Field] = {}

    def kind(self, api_version: str, kind: str) -> Kind | None:
        """Return the kind of an object's apiVersion and kind, or None if this version does not serve it."""
        found = self._kind_cache.get((api_version, kind))
        if found is None and kind in self._kinds.get(api_version, ()):
            name, plural, namespaced = self._kinds[api_version][kind]
            found = self._kind_cache[api_version, kind] = Kind(api_version, kind, self.shape(name), plural, namespaced)
        return found

    def shape(self, type_name: str) -> Shape:
        """Return the complete shape of an API type, such as "core/v1 Container". Raises KeyError if this version lacks the type."""
        if type_name not in self._types:
            raise KeyError(type_name)
        return self._shapes.get(type_name) or self._resolve_object(type_name)

    def kinds(self) -> Iterator[tuple[str, str]]:
        """Yield every (apiVersion, kind) that this version serves."""
        for api_version, kinds in self._kinds.items():
            for kind in kinds:
                yield api_version, kind

    def types(self) -> tuple[str, ...]:
        """Return the names of all API types of this version."""
        return tuple(self._types)

    def entries(self) -> dict[str, Table]:
        """Return the table's entries of all API types, to derive further types from them."""
        return self._types

    def versions_of(self, kind: str) -> tuple[str, ...]:
        """Return the apiVersions that serve a kind, sorted by group, the most stable version of a group first."""
        return tuple(sorted((each for each, kinds in self._kinds.items() if kind in kinds), key=_preference_key))

    def absence(self, api_version: str, kind: str) -> Absence | None:
        """Return why this version does not serve a kind: removed earlier or added later. None if it is served here or was never known."""
        if kind in self._kinds.get(api_version, ()):
            return None
        removals = self._removals()
        added = removals["added"].get(api_version, {}).get(kind, "")
        removed = removals["removed"].get(api_version, {}).get(kind, "")
        if added and _minor_number(added) > _minor_number(self.version):
            return Absence(added, "", self._replacement(api_version, kind))
        if removed and _minor_number(removed) <= _minor_number(self.version):
            return Absence("", removed, self._replacement(api_version, kind))
        return None

    def removal(self, api_version: str, kind: str) -> str:
        """Return the first Kubernetes version that no longer serves a kind, or "" if it has not been removed."""
        removed: str = self._removals()["removed"].get(api_version, {}).get(kind, "")
        return removed

    def _removals(self) -> Table:
        return _load_removals()

    def _replacement(self, api_version: str, kind: str) -> str:
        group = api_version.rpartition("/")[0]
        served = self.versions_of(kind)
        # All kinds of the group extensions have moved to other groups; otherwise the same name in another group is a different kind.
        return next((each for each in served if group in ("extensions", each.rpartition("/")[0])), "")

    def _resolve(self, expression: str) -> Shape:
        shape = self._shapes.get(expression)
        if shape is not None:
            return shape
        if expression.startswith("[]"):
            shape = Shape("list", items=self._resolve(expression[2:]))
        elif expression.startswith("{}"):
            shape = Shape("map", items=self._resolve(expression[2:]))
        elif expression.startswith("?"):
            shape = Shape("any", items=self._resolve(expression[1:]))
        else:
            return self._resolve_object(expression)
        self._shapes[expression] = shape
        return shape

    def _resolve_object(self, type_name: str) -> Shape:
        entry = self._types[type_name]
        # Registered before its fields are resolved, so that recursive types resolve to this shape.
        shape = self._shapes[type_name] = Shape("object", type_name, required=tuple(entry.get("required", ())))
        plain = entry.get("plain", ())
        for name, value in entry["fields"].items():
            shape.fields[name] = self._field(value, name in plain)
        shape.gated = gated_off(type_name, entry["fields"], self.minor)
        shape.structs = tuple((name, field.shape) for name, field in shape.fields.items() if field.plain and field.shape.kind == "object")
        return shape

    def _field(self, value: str | dict[str, Any], plain: bool) -> Field:
        if isinstance(value, str):
            field = self._fields.get((value, plain))
            if field is None:
                field = self._fields[value, plain] = Field(self._resolve(value), plain=plain)
            return field
        shape = self._resolve(value["type"])
        if "by" in value:
            shape = Choice(value["by"], {word: self._resolve(name) for word, name in value["of"].items()})
        return Field(
            shape,
            enum=tuple(value.get("enum", ())),
            default=value.get("default"),
            list_type=value.get("list", ""),
            list_keys=tuple(value.get("keys", ())),
            plain=plain,
        )


def load(version: str = "") -> Definitions:
    """Return the definitions of a version such as "1.36", "v1.36" or "1.36.2"; by default of the newest. Raises UnknownVersion."""
    match = re.fullmatch(r"v?(1\.\d+)(?:\.\d+)?(?:[-+].*)?", version or newest())
    if match is None or match[1] not in available():
        raise UnknownVersion(f"{version!r} is not a supported Kubernetes version; use {available()[0]} to {newest()}")
    return _load(match[1])


def available() -> tuple[str, ...]:
    """Return the versions that have definitions, oldest first."""
    found = [name[11:-5] for name in os.listdir(folder()) if name.startswith("kubernetes-1.") and name.endswith(".json")]
    return tuple(sorted(found, key=_minor_number))


def newest() -> str:
    """Return the newest version that has definitions."""
    return available()[-1]


@cache
def folder() -> Path:
    """Return the directory of the tables: inside the package if it is installed from a wheel, else at the top of the checkout."""
    package = Path(__file__).resolve().parents[2]
    inside = package / "schemas"
    return inside if inside.is_dir() else package.parent / "schemas"


@cache
def _load(minor: str) -> Definitions:
    return Definitions(json.loads((folder() / f"kubernetes-{minor}.json").read_text(encoding="utf-8")))


@cache
def _load_removals() -> Table:
    removals: Table = json.loads((folder() / "removed.json").read_text(encoding="utf-8"))
    return removals


def _minor_number(minor: str) -> int:
    return int(minor.split(".")[1])


def _preference_key(api_version: str) -> tuple[str, int, int, int]:
    """Sort key by Kubernetes' preference of versions: stable, beta, alpha; higher numbers first."""
    match = re.fullmatch(r"(?:(.*)/)?v(\d+)(?:(alpha|beta)(\d+))?", api_version)
    if match is None:
        return (api_version, 0, 0, 0)
    group, major, stage, minor = match.groups()
    return (group or "", ("", "beta", "alpha").index(stage or ""), -int(major), -int(minor or 0))

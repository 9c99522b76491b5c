"""The API types of one Kubernetes version, read from the compact table that tools/refresh_schemas.py made of it.

A table, schemas/kubernetes-1.NN.json, is

    {"version": "1.36.3",
     "kinds": {"apps/v1": {"Deployment": ["apps/v1 Deployment", "deployments", true]}},
     "types": {"core/v1 ContainerPort": {"fields": {"containerPort": "int32",
                                                    "protocol": {"type": "string", "enum": ["SCTP", "TCP", "UDP"], "default": "TCP"}},
                                         "required": ["containerPort"], "plain": ["containerPort"]}}}

A kind has its type, its plural ("" where it is only a subresource of another kind) and whether it is namespaced. A field
is a type expression or an object with "type" and any of "enum", "default", "list" ("map" or "set") and "keys", or with "by" and
"of": the types of the field by what stands in the field "by" beside it. A type
expression is a word of `kcheck.schema.shape.PRIMITIVES`, the name of a type, "[]X" for a list of X, "{}X" for a map from
string to X, or "?X" for anything at all, where a mapping is an X.

schemas/removed.json has, by apiVersion and kind, the first version that served it ("added", where that is younger than
the oldest table) and the first that no longer did ("removed").
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from kcheck.schema.shape import PRIMITIVES, Choice, Field, Shape
from kcheck.text.record import NamedTuple

Table = dict[str, Any]


class UnknownVersion(ValueError):
    """A Kubernetes version that there are no definitions of; its text says which there are."""


class Kind(NamedTuple):
    """What an apiVersion and a kind name together. `plural` is "" where it is only a subresource of another kind."""

    api_version: str
    name: str
    shape: Shape
    plural: str
    namespaced: bool


class Absence(NamedTuple):
    """Why a version does not serve a kind that Kubernetes knows: exactly one of `added` and `removed` is set.

    `added`: the later version that is the first to serve it. `removed`: the version, this or an earlier one, that was the
    first without it. `replacement`: the apiVersion that serves the kind in this version instead, "" for none.
    """

    added: str
    removed: str
    replacement: str


class Definitions:
    """What one Kubernetes version serves. `version` is "1.36", `release` the exact one that the table was made from."""

    def __init__(self, table: Table) -> None:
        self.release: str = table["version"]
        self.version = self.release.rpartition(".")[0]
        self.minor = _number(self.version)
        self._kinds: dict[str, dict[str, list[Any]]] = table["kinds"]
        self._types: dict[str, Table] = table["types"]
        self._found: dict[tuple[str, str], Kind] = {}
        self._shapes: dict[str, Shape] = dict(PRIMITIVES)
        self._fields: dict[tuple[str, bool], Field] = {}

    def kind(self, api_version: str, kind: str) -> Kind | None:
        """The kind of an object's apiVersion and kind, None where this version does not serve it."""
        found = self._found.get((api_version, kind))
        if found is None and kind in self._kinds.get(api_version, ()):
            name, plural, namespaced = self._kinds[api_version][kind]
            found = self._found[api_version, kind] = Kind(api_version, kind, self.shape(name), plural, namespaced)
        return found

    def shape(self, type_name: str) -> Shape:
        """The complete shape of an API type, "core/v1 Container". Raises KeyError for a type that this version lacks."""
        if type_name not in self._types:
            raise KeyError(type_name)
        return self._shapes.get(type_name) or self._object(type_name)

    def kinds(self) -> Iterator[tuple[str, str]]:
        """Every (apiVersion, kind) that this version serves."""
        for api_version, kinds in self._kinds.items():
            for kind in kinds:
                yield api_version, kind

    def types(self) -> tuple[str, ...]:
        """The names of all API types of this version."""
        return tuple(self._types)

    def entries(self) -> dict[str, Table]:
        """The table's own entries of all API types, to make further types of them."""
        return self._types

    def versions_of(self, kind: str) -> tuple[str, ...]:
        """The apiVersions that serve a kind, by group, the most stable of a group first; () for none."""
        return tuple(sorted((each for each, kinds in self._kinds.items() if kind in kinds), key=_preference))

    def absence(self, api_version: str, kind: str) -> Absence | None:
        """Why this version does not serve a kind: removed earlier or added later. None where it does, or none ever did."""
        if kind in self._kinds.get(api_version, ()):
            return None
        past = self._past()
        added = past["added"].get(api_version, {}).get(kind, "")
        removed = past["removed"].get(api_version, {}).get(kind, "")
        if added and _number(added) > _number(self.version):
            return Absence(added, "", self._replacement(api_version, kind))
        if removed and _number(removed) <= _number(self.version):
            return Absence("", removed, self._replacement(api_version, kind))
        return None

    def removal(self, api_version: str, kind: str) -> str:
        """The first Kubernetes version that no longer serves a kind, "" where none has removed it yet."""
        removed: str = self._past()["removed"].get(api_version, {}).get(kind, "")
        return removed

    def _past(self) -> Table:
        return _history()

    def _replacement(self, api_version: str, kind: str) -> str:
        group = api_version.rpartition("/")[0]
        served = self.versions_of(kind)
        # The group extensions was emptied into others; elsewhere the same name in another group is another thing.
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
            return self._object(expression)
        self._shapes[expression] = shape
        return shape

    def _object(self, type_name: str) -> Shape:
        entry = self._types[type_name]
        # Registered before it is filled, so that a type that contains itself finds itself.
        shape = self._shapes[type_name] = Shape("object", type_name, required=tuple(entry.get("required", ())))
        plain = entry.get("plain", ())
        for name, value in entry["fields"].items():
            shape.fields[name] = self._field(value, name in plain)
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
    """The definitions of a version, "1.36", "v1.36" or "1.36.2"; of the newest without one. Raises UnknownVersion."""
    match = re.fullmatch(r"v?(1\.\d+)(?:\.\d+)?(?:[-+].*)?", version or newest())
    if match is None or match[1] not in available():
        raise UnknownVersion(f"{version!r} is no Kubernetes version that kcheck knows: write {available()[0]} to {newest()}")
    return _load(match[1])


def available() -> tuple[str, ...]:
    """The versions that there are definitions of, oldest first."""
    found = [name[11:-5] for name in os.listdir(folder()) if name.startswith("kubernetes-1.") and name.endswith(".json")]
    return tuple(sorted(found, key=_number))


def newest() -> str:
    """The newest version that there are definitions of."""
    return available()[-1]


@cache
def folder() -> Path:
    """Where the tables are: inside the package when it is installed from a wheel, else at the top of the checkout."""
    package = Path(__file__).resolve().parents[2]
    inside = package / "schemas"
    return inside if inside.is_dir() else package.parent / "schemas"


@cache
def _load(minor: str) -> Definitions:
    return Definitions(json.loads((folder() / f"kubernetes-{minor}.json").read_text(encoding="utf-8")))


@cache
def _history() -> Table:
    past: Table = json.loads((folder() / "removed.json").read_text(encoding="utf-8"))
    return past


def _number(minor: str) -> int:
    return int(minor.split(".")[1])


def _preference(api_version: str) -> tuple[str, int, int, int]:
    """Sorts as Kubernetes prefers versions: stable, beta, alpha; the higher number first."""
    match = re.fullmatch(r"(?:(.*)/)?v(\d+)(?:(alpha|beta)(\d+))?", api_version)
    if match is None:
        return (api_version, 0, 0, 0)
    group, major, stage, minor = match.groups()
    return (group or "", ("", "beta", "alpha").index(stage or ""), -int(major), -int(minor or 0))

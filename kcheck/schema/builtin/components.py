"""Configuration files of Kubernetes components: kubeconfig, the configuration of kube-scheduler.

They are typed like API objects but are not API objects: the API server never sees them, and general requirements (a name, labels) do
not apply.

schemas/components.json is a table in the format of kcheck.schema.builtin.definitions, with these differences:

- a kind has only its type; "removed" maps apiVersion and kind to the first version that no longer reads it;
- a field or a type with "since" exists from that version on;
- types may refer to types of the API.

schemas/retired.json names replacements of removed kinds ("kinds", by group and name) and describes what happened to API groups that were
removed as a whole ("groups").
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from kcheck.schema.builtin.definitions import Definitions, Table, folder
from kcheck.text.complaint import Complaint


class Components(Definitions):
    """The component configuration that one Kubernetes version reads; its types may use the API types of that version."""

    def __init__(self, api: Definitions) -> None:
        table = _read("components")
        self._removed: Table = {"added": {}, "removed": table["removed"]}
        existing = {name: entry for name, entry in table["types"].items() if _since(entry) <= api.minor}
        types = {name: entry | {"fields": _fields(entry["fields"], existing, api.minor)} for name, entry in existing.items()}
        kinds = {
            api_version: {kind: [name, "", False] for kind, name in names.items() if api.minor < _minor(table, api_version, kind)}
            for api_version, names in table["kinds"].items()
        }
        super().__init__({"version": api.release, "kinds": kinds, "types": api.entries() | types})

    def _removals(self) -> Table:
        return self._removed


def instead_of(group: str, kind: str) -> str:
    """Return what replaces a removed kind that has no successor of the same name, or "" if unknown."""
    advice: str = _read("retired")["kinds"].get(f"{group} {kind}".lstrip(), "")
    return advice


def end_of(group: str) -> str:
    """Return what happened to an API group that was removed as a whole: a Complaint without its subject; "" for any other group."""
    end: list[str] | None = _read("retired")["groups"].get(group)
    return Complaint(*end) if end else ""


@cache
def _read(name: str) -> Table:
    table: Table = json.loads((folder() / f"{name}.json").read_text(encoding="utf-8"))
    return table


def _minor(table: Table, api_version: str, kind: str) -> float:
    """Return the first minor version that does not read a kind."""
    removed = table["removed"].get(api_version, {}).get(kind)
    return int(removed.split(".")[1]) if removed else float("inf")


def _since(entry: Any) -> int:
    """Return the minor version that introduced a type or field."""
    return int(entry.get("since", "1.0").split(".")[1]) if isinstance(entry, dict) else 0


def _fields(fields: Table, types: Table, minor: int) -> Table:
    """Return the fields that exist in a version; the alternatives of a field are restricted to existing types."""
    return {name: _field(value, types) for name, value in fields.items() if _since(value) <= minor}


def _field(value: Any, types: Table) -> Any:
    if isinstance(value, str) or "of" not in value:
        return value
    return value | {"of": {word: name for word, name in value["of"].items() if name in types}}

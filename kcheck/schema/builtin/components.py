"""What programs of Kubernetes read as files: kubeconfig, the configuration of kube-scheduler. They are typed as API objects are, and
they are none: no API server sees them, and what holds of every object (a name, labels) does not hold of them.

schemas/components.json is a table as kcheck.schema.builtin.definitions reads it, in which

- a kind has its type alone, and "removed" says by apiVersion and kind which version was the first that no longer read it;
- a field or a type with "since" is there from that version on;
- types may be made of the API's own types.

schemas/retired.json says of kinds that went for good what to write instead ("kinds", by group and name), and of API groups that were
given up as a whole what became of them ("groups").
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from kcheck.schema.builtin.definitions import Definitions, Table, folder
from kcheck.text.complaint import Complaint


class Components(Definitions):
    """The component configuration that one Kubernetes version reads, in types of its own and of that version's API."""

    def __init__(self, api: Definitions) -> None:
        table = _read("components")
        self._gone: Table = {"added": {}, "removed": table["removed"]}
        there = {name: entry for name, entry in table["types"].items() if _since(entry) <= api.minor}
        types = {name: entry | {"fields": _fields(entry["fields"], there, api.minor)} for name, entry in there.items()}
        kinds = {
            api_version: {kind: [name, "", False] for kind, name in names.items() if api.minor < _minor(table, api_version, kind)}
            for api_version, names in table["kinds"].items()
        }
        super().__init__({"version": api.release, "kinds": kinds, "types": api.entries() | types})

    def _past(self) -> Table:
        return self._gone


def instead_of(group: str, kind: str) -> str:
    """What to write instead of a kind that went without a successor of its name, "" where nobody knows."""
    advice: str = _read("retired")["kinds"].get(f"{group} {kind}".lstrip(), "")
    return advice


def end_of(group: str) -> str:
    """What happened to an API group that was retired as a whole: a Complaint that lacks its subject; "" for any other group."""
    end: list[str] | None = _read("retired")["groups"].get(group)
    return Complaint(*end) if end else ""


@cache
def _read(name: str) -> Table:
    table: Table = json.loads((folder() / f"{name}.json").read_text(encoding="utf-8"))
    return table


def _minor(table: Table, api_version: str, kind: str) -> float:
    """The first minor version that does not read a kind."""
    removed = table["removed"].get(api_version, {}).get(kind)
    return int(removed.split(".")[1]) if removed else float("inf")


def _since(entry: Any) -> int:
    """The minor version that a type or field came with."""
    return int(entry.get("since", "1.0").split(".")[1]) if isinstance(entry, dict) else 0


def _fields(fields: Table, types: Table, minor: int) -> Table:
    """The fields that there are in a version; of the types that a field can be of, those that there are."""
    return {name: _field(value, types) for name, value in fields.items() if _since(value) <= minor}


def _field(value: Any, types: Table) -> Any:
    if isinstance(value, str) or "of" not in value:
        return value
    return value | {"of": {word: name for word, name in value["of"].items() if name in types}}

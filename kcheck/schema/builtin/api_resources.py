"""Resources of the Kubernetes API as RBAC names them: by group and plural, with their subresources.

schemas/resources.json is

    {"apps": {"deployments": {"kind": "Deployment", "namespaced": true, "short": ["deploy"], "parts": ["scale", "status"]}}}

It contains the resources of all versions for which there are tables and, maintained by hand, old groups, subresources and resources that
only authorizers use (users, signers). tools/refresh_schemas.py adds the kinds of new versions and keeps the other entries.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from kcheck.schema.builtin.definitions import folder
from kcheck.text.record import NamedTuple


class Served(NamedTuple):
    """A resource.

    Attributes:
        group: the API group.
        plural: the name in URLs and RBAC rules.
        kind: the kind, or "" if it has no objects.
        namespaced: whether its objects belong to a namespace.
        short: kubectl's short names.
        parts: its subresources; "*" for any.
    """

    group: str
    plural: str
    kind: str
    namespaced: bool
    short: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


@cache
def served() -> Mapping[str, Mapping[str, Served]]:
    """Return group -> plural -> resource, for all versions together."""
    table = json.loads((folder() / "resources.json").read_text(encoding="utf-8"))
    return {group: {plural: _served(group, plural, entry) for plural, entry in entries.items()} for group, entries in table.items()}


@cache
def homes() -> Mapping[str, tuple[str, ...]]:
    """Return plural -> the groups that have a resource of that name."""
    found: dict[str, tuple[str, ...]] = {}
    for group, entries in served().items():
        for plural in entries:
            found[plural] = (*found.get(plural, ()), group)
    return found


@cache
def aliases() -> Mapping[str, str]:
    """Return alias -> plural: lower-case kinds, singulars and short names."""
    found: dict[str, str] = {}
    for entries in served().values():
        for each in entries.values():
            for word in (each.kind.lower(), each.plural, *each.short):
                if word:
                    found.setdefault(word, each.plural)
    return found


def _served(group: str, plural: str, entry: dict[str, Any]) -> Served:
    short, parts = tuple(entry.get("short", ())), tuple(entry.get("parts", ()))
    return Served(group, plural, entry["kind"], entry["namespaced"], short, parts)

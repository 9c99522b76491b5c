"""Lists whose items must be unique: x-kubernetes-list-type "set" and "map", checked after defaults are applied.

Source: k8s.io/apiextensions-apiserver 1.36, pkg/apiserver/schema/listtype.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from kcheck.schema.crd.structural import Schema
from kcheck.schema.crd.validation import Keys, SchemaFault
from kcheck.schema.crd.wording import label, shown
from kcheck.text.complaint import Complaint


def duplicate_faults(value: Any, schema: Schema | None, keys: Keys = ()) -> Iterator[SchemaFault]:
    """Yield duplicate items of lists, here and below. Only the first duplicate of each item is reported."""
    if schema is None:
        return
    if isinstance(value, dict):
        for key, child in value.items():
            # The API server checks a key of both properties and additionalProperties twice; once is enough here.
            yield from duplicate_faults(child, schema.under(key), (*keys, key))
    elif isinstance(value, list):
        if schema.list_type == "set":
            for index in _repetitions(value):
                yield _duplicate((*keys, index), Complaint(f"duplicate item {shown(value[index])} in {label(keys)}", "remove it"))
        elif schema.list_type == "map":
            yield from _map_faults(value, schema, keys)
        for index, item in enumerate(value):
            yield from duplicate_faults(item, schema.items, (*keys, index))


def _map_faults(value: list[Any], schema: Schema, keys: Keys) -> Iterator[SchemaFault]:
    for index, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            message = Complaint(f"{label((*keys, index))} is {shown(item)}, but must be a map")
            yield SchemaFault((*keys, index), "wrong-type", message, "Invalid", bracketed=True)
            return
    parts = [{key: item[key] for key in schema.list_keys if key in item} if item else {} for item in value]
    for index in _repetitions(parts):
        described = " and ".join(f"{key} {shown(part)}" for key, part in parts[index].items()) or f"no {' and '.join(schema.list_keys)}"
        yield _duplicate((*keys, index), Complaint(f"duplicate item in {label(keys)}: {described}", "change it, or remove it"))


def _duplicate(keys: Keys, message: str) -> SchemaFault:
    return SchemaFault(keys, "duplicate-list-item", message, "Duplicate", bracketed=True)


def _repetitions(values: list[Any]) -> list[int]:
    """The indices at which values appear for the second time."""
    times: dict[str, int] = {}
    found = []
    for index, value in enumerate(values):
        # JSON distinguishes true from 1, and the reader converts 1.0 to 1.
        text = json.dumps(value, sort_keys=True)
        times[text] = times.get(text, 0) + 1
        if times[text] == 2:
            found.append(index)
    return found

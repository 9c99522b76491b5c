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


def duplicate_faults(value: Any, schema: Schema) -> list[SchemaFault]:
    """Return the duplicate items of lists, at any depth. Only the first duplicate of each item is reported."""
    faults: list[SchemaFault] = []
    _add_faults(value, schema, (), faults)
    return faults


def _add_faults(value: Any, schema: Schema, keys: Keys, faults: list[SchemaFault]) -> None:
    # Most values are scalars, and many are below fields without a schema: neither is visited.
    if value.__class__ is dict:
        for key, child in value.items():
            # The API server checks a key of both properties and additionalProperties twice; once is enough here.
            if (child.__class__ is dict or child.__class__ is list) and (inner := schema.under(key)) is not None:
                _add_faults(child, inner, (*keys, key), faults)
    elif value.__class__ is list:
        if schema.list_type == "set":
            faults += _set_faults(value, keys)
        elif schema.list_type == "map":
            faults += _map_faults(value, schema, keys)
        if (items := schema.items) is not None:
            for index, item in enumerate(value):
                if item.__class__ is dict or item.__class__ is list:
                    _add_faults(item, items, (*keys, index), faults)


def _set_faults(value: list[Any], keys: Keys) -> Iterator[SchemaFault]:
    for index in _repetitions(value):
        yield _duplicate((*keys, index), Complaint(f"duplicate item {shown(value[index])} in {label(keys)}", "remove it"))


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

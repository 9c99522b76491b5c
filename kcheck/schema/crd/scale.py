"""The scale subresource of a custom resource: the fields at the replica paths of the CRD must be numbers.

Source: k8s.io/apiextensions-apiserver 1.36, pkg/registry/customresource/validator.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcheck.schema.crd.validation import Keys
from kcheck.schema.crd.wording import shown
from kcheck.text.complaint import Complaint
from kcheck.text.record import NamedTuple

_MOST = 2**31 - 1


class Scale(NamedTuple):
    """The JSON paths of a CRD's scale subresource, such as ".spec.replicas"; "" for none."""

    spec: str
    status: str
    selector: str


def scale_faults(value: dict[str, Any], scale: Scale) -> Iterator[tuple[str, Keys, str]]:
    """Yield the errors at these paths: the field as the server formats it, the keys, and a message."""
    for path in (scale.spec, scale.status):
        if path:
            keys, found, there = _value_at(value, path)
            message = _replicas(found) if there else ""
            if message:
                yield path, keys, message
    if scale.selector:
        keys, found, there = _value_at(value, scale.selector)
        if there and not isinstance(found, str):
            yield (
                scale.selector,
                keys,
                Complaint(f"label selector of the scale subresource must be a string, not {shown(found)}", "use a selector string"),
            )


def _value_at(value: Any, path: str) -> tuple[Keys, Any, bool]:
    """Return the keys, the value there or the value that blocks the path, and whether there is such a value."""
    keys = tuple(path.removeprefix(".").split("."))
    for place, key in enumerate(keys):
        if value is None:
            return keys, None, False
        if not isinstance(value, dict):
            return keys[:place], value, True
        if key not in value:
            return keys, None, False
        value = value[key]
    return keys, value, True


def _replicas(value: Any) -> str:
    if value.__class__ is not int:
        return Complaint(f"replicas of the scale subresource must be an integer, not {shown(value)}", "use an integer")
    if value < 0:
        return Complaint(f"replicas of the scale subresource must not be negative: {value}", "use 0 or more")
    return Complaint(f"replicas of the scale subresource are out of range: {value}", f"use at most {_MOST}") if value > _MOST else ""

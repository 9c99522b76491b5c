"""The scale subresource of a custom resource: the values at the paths of the CRD must be numbers of replicas and a selector.

Source: k8s.io/apiextensions-apiserver 1.36, pkg/registry/customresource/validator.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcheck.schema.crd.validation import Keys
from kcheck.schema.crd.wording import shown
from kcheck.text.complaint import Complaint
from kcheck.text.record import NamedTuple

_MAX_REPLICAS = 2**31 - 1


class Scale(NamedTuple):
    """The paths as the CRD specifies them, such as ".spec.replicas"; "" for none."""

    spec: str
    status: str
    selector: str


def scale_faults(value: dict[str, Any], scale: Scale) -> Iterator[tuple[str, Keys, str]]:
    """Yield faults at these paths: the field as the API server reports it, the keys, and a message."""
    for path in (scale.spec, scale.status):
        if path:
            keys, found, there = _find(value, path)
            message = _replicas(path, found) if there else ""
            if message:
                yield path, keys, message
    if scale.selector:
        keys, found, there = _find(value, scale.selector)
        if there and not isinstance(found, str):
            yield (
                scale.selector,
                keys,
                Complaint(f"{path} is {shown(found)}, but must be a string, the label selector of the scale subresource"),
            )


def _find(value: Any, path: str) -> tuple[Keys, Any, bool]:
    """The keys of a path, its value or the value that blocks it, and whether there is one."""
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


def _replicas(path: str, value: Any) -> str:
    if value.__class__ is not int:
        return Complaint(f"{path} is {shown(value)}, but must be an integer, the replicas of the scale subresource")
    if value < 0:
        return Complaint(f"{path} {value} is negative", "use 0 or more")
    return Complaint(f"{path} {value} is greater than {_MAX_REPLICAS}", f"use at most {_MAX_REPLICAS}") if value > _MAX_REPLICAS else ""

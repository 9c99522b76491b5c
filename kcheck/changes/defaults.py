"""Defaults of the API server, as far as they decide about changes."""

from __future__ import annotations

from typing import Any

from kcheck.schema.shape import Shape


def with_defaults(value: dict[str, Any], shape: Shape) -> dict[str, Any]:
    """Return an object of a built-in type with its defaults."""
    return value

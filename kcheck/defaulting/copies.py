"""Copies of plain data."""

from __future__ import annotations

from typing import Any


def copy_of(value: Any) -> Any:
    """Return a copy of plain data: dicts and lists are new, scalars are shared."""
    if value.__class__ is dict:
        return {key: copy_of(each) for key, each in value.items()}
    return [copy_of(each) for each in value] if value.__class__ is list else value

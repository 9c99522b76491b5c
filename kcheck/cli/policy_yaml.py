"""Policies as YAML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcheck.yaml.edits import flow


def yaml_of(value: Any) -> str:
    """Returns an object in JSON as YAML in block style. Texts of several lines are block scalars."""
    return "\n".join(_lines(value)) + "\n"


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _entry(f"{flow(key)}:", each)
    elif isinstance(value, list) and value:
        for each in value:
            first, *rest = list(_lines(each))
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield flow(value)


def _entry(head: str, value: Any) -> Iterator[str]:
    if isinstance(value, str) and "\n" in value.strip():
        yield f"{head} |-"
        yield from (f"  {line}".rstrip() for line in value.strip().split("\n"))
    elif (isinstance(value, dict) and value) or (isinstance(value, list) and not all(isinstance(each, str) for each in value)):
        yield head
        yield from (f"  {line}" for line in _lines(value))
    else:
        yield f"{head} {flow(value)}"

"""The tables beside this: reading them, and writing values as they do."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from kcheck.cel.library.conversions import write_double
from kcheck.cel.values import values

HERE = Path(__file__).parent


def read_table(name: str) -> list[tuple[str, str]]:
    """The pairs of a table: the expression and what is expected."""
    lines = (HERE / f"{name}.txt").read_text(encoding="utf-8").split("\n")
    return [tuple(line.rsplit(" => ", 1)) for line in lines if line and not line.startswith("# ")]  # type: ignore[misc]


def write(value: Any) -> str:
    """The value as the tables have it."""
    kind = value.__class__
    if kind is bool:
        return "true" if value else "false"
    if kind is values.UInt:
        return f"{int(value)}u"
    if kind is int:
        return str(value)
    if kind is float:
        return write_double(value) if not math.isfinite(value) else f"{_plain(value)}e"
    if kind is str:
        return json.dumps(value, ensure_ascii=False)
    if kind is bytes:
        return f"b{value.hex()}"
    if value is None:
        return "null"
    if kind is values.Duration:
        return f"duration({value.nanos})"
    if kind is values.Timestamp:
        return "timestamp({}.{:09})".format(*divmod(value.nanos, 10**9))
    if kind is values.Optional:
        return "none" if value is values.NONE else f"optional({write(value.value)})"
    if kind is values.TypeName:
        return f"type({value.name})"
    if values.is_map(value):
        return f"{{{', '.join(sorted(f'{write(values.from_key(key))}: {write(value[key])}' for key in value))}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(write, value))}]"
    return str(value.cel_type)


def _plain(value: float) -> str:
    text = repr(value)
    return text[:-2] if text.endswith(".0") else text

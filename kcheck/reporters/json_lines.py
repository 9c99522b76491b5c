"""JSON documents with one item per line, so that a diff of two reports shows the items that differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TextIO


def write_document(head: Mapping[str, Any], lists: Mapping[str, Iterable[str]], out: TextIO) -> None:
    """Writes a JSON object in ASCII: the members of `head`, then `lists`, whose items are already encoded."""
    # Without indentation, json uses its C encoder, which is ten times as fast.
    members = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    for name, items in lists.items():
        lines = ",\n  ".join(items)
        members.append(f" {json.dumps(name)}: [" + (f"\n  {lines}\n ]" if lines else "]"))
    out.write("{\n" + ",\n".join(members) + "\n}")

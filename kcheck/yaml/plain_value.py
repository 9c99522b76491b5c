"""Values to write into a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Value = str | int | bool | Mapping[str, "Value"] | Sequence["Value"]

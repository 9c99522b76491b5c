"""The file of a baseline: JSON with one line per entry, so that it reviews and merges well."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from kcheck.baseline.baseline import Baseline, Entry, Root
from kcheck.finding.fingerprint import Fingerprint
from kcheck.kube.location import ObjectId

VERSION = 1
_OBJECT_KEYS = ("apiVersion", "kind", "namespace", "name")
_CONFLICT = ("<<<<<<<", "=======", ">>>>>>>")
_MAX_COUNT = 1_000_000


class BadBaseline(Exception):
    """A baseline file that cannot be read; the message explains why."""


def read_baseline(path: str) -> Baseline:
    """Reads a baseline. Raises BadBaseline."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        content = json.loads(text)
    except OSError as error:
        raise BadBaseline(f"{path}: cannot be read: {error.strerror or error}") from None
    except json.JSONDecodeError as error:
        line = text.split("\n")[error.lineno - 1]
        reason = "unresolved merge conflict" if line.startswith(_CONFLICT) else f"invalid JSON: {error.msg}"
        raise BadBaseline(f"{path}:{error.lineno}:{error.colno}: {reason}") from None
    except (ValueError, RecursionError):
        raise BadBaseline(f"{path}: not a JSON file in UTF-8") from None
    if not isinstance(content, dict) or not isinstance(content.get("findings"), list):
        raise BadBaseline(f"{path}: not a baseline; create one with kcheck baseline create")
    if content.get("version") != VERSION:
        raise BadBaseline(f"{path}: version {content.get('version')!r} of the format is not supported, only {VERSION}")
    entries = tuple(_entry(each, path, number) for number, each in enumerate(content["findings"], 1))
    return Baseline(Root.of(os.path.dirname(path) or "."), entries)


def baseline_text(entries: Iterable[Entry]) -> str:
    """Returns the content of a baseline file: one line per entry, in ASCII."""
    lines = ",\n".join(f"  {json.dumps(_line(entry))}" for entry in entries)
    findings = f"[\n{lines}\n ]" if lines else "[]"
    return f'{{\n "version": {VERSION},\n "findings": {findings}\n}}\n'


def _line(entry: Entry) -> dict[str, Any]:
    file, rule, id, field, text = entry.fingerprint
    named = {key: value for key, value in zip(_OBJECT_KEYS, id, strict=True) if value}
    return {"file": file, "rule": rule, "object": named, "field": field, "text": text, "count": entry.times}


def _entry(line: Any, path: str, number: int) -> Entry:
    if not isinstance(line, dict):
        raise BadBaseline(f"{path}: finding {number} is not a map")
    id, count = line.get("object", {}), line.get("count", 1)
    texts = [line.get(key, "") for key in ("file", "rule", "field", "text")]
    names: list[Any] = [id.get(key, "") for key in _OBJECT_KEYS] if isinstance(id, dict) else [None]
    if not all(isinstance(text, str) for text in (*texts, *names)):
        raise BadBaseline(f"{path}: finding {number} contains a value that is not a string")
    file, rule, field, text = texts
    if not file or not rule:
        raise BadBaseline(f"{path}: finding {number} has no file or no rule")
    if type(count) is not int or not 0 < count <= _MAX_COUNT:
        raise BadBaseline(f"{path}: count of finding {number} is not a positive integer")
    return Entry(Fingerprint(file, rule, ObjectId(*names), field, text), count)

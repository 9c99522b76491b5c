"""Write schemas/rule-examples.json: for built-in rules about single objects, an object with a finding and the same object without it.

    python tools/rule_examples.py

The objects are the examples of rule pages, which kcheck checks first. Policies are evaluated for them, to report policies that a
built-in rule repeats or contradicts (kcheck/policy/admission/rule_overlap.py).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kcheck
from kcheck.kube.resource import resources
from kcheck.rule.page import Example, page_at
from kcheck.rule.registry import Registry
from kcheck.rule.rule import Rule
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

FILE = Path(__file__).parent.parent / "schemas" / "rule-examples.json"
_FAMILIES = ("practice",)
_MAX_CHARS = 2500
_MAX_KEYS = 4


def main() -> int:
    """Write the file. Return the exit status."""
    FILE.write_text(text_of_examples(), encoding="utf-8")
    return 0


def text_of_examples() -> str:
    """Return the content of the file."""
    registry = Registry.load()
    rows = [row for rule in sorted(registry.rules.values(), key=lambda each: each.id) for row in rows_of(rule, registry.page(rule))]
    return "[\n" + ",\n".join(json.dumps(row, separators=(",", ":"), sort_keys=True) for row in rows) + "\n]\n"


def rows_of(rule: Rule, path: Path | None) -> Iterator[dict[str, Any]]:
    """Yield the examples of a rule: at most one for each kind."""
    page = page_at(path) if rule.family in _FAMILIES and rule.scope not in ("bundle", "document", "change") else None
    examples = [each for each in page.examples if is_plain(each)] if page is not None else []
    kinds: set[str] = set()
    for bad in examples:
        if not bad.drawings:
            continue
        for good in examples:
            row = row_of(rule, bad, good) if not good.drawings else None
            if row is not None and row["bad"]["kind"] not in kinds:
                kinds.add(row["bad"]["kind"])
                yield row


def is_plain(example: Example) -> bool:
    """Return whether an example is one object, checked without options."""
    return example.language == "yaml" and not example.options and example.before is None and len(example.text) < _MAX_CHARS


def row_of(rule: Rule, bad: Example, good: Example) -> dict[str, Any] | None:
    """Return an example with its counterpart, None if they do not fit."""
    one, other = object_of(bad.text), object_of(good.text)
    if one is None or other is None or one["kind"] != other["kind"] or one["apiVersion"] != other["apiVersion"]:
        return None
    if one.get("metadata", {}).get("name") != other.get("metadata", {}).get("name"):
        return None
    found = kcheck.check_text(bad.text, config={}, select=rule.id).findings
    fields = sorted({each.place.field for each in found if each.rule == rule.id})
    if not fields or any(each.rule == rule.id for each in kcheck.check_text(good.text, config={}, select=rule.id).findings):
        return None
    changes = list(differences(one, other))
    keys = sorted({key for key, _, _ in changes})
    # Only for a boolean, not to be as in the first object means to be as in the second.
    is_text = any(isinstance(before, str) and isinstance(after, str) for _, before, after in changes)
    is_switch = len(changes) == 1 and all(value in (None, True, False) for value in changes[0][1:])
    row = {"rule": rule.id, "fields": fields, "keys": keys, "switch": is_switch, "text": is_text, "bad": one, "good": other}
    return row if 0 < len(keys) <= _MAX_KEYS else None


def object_of(text: str) -> dict[str, Any] | None:
    """Return the only object of a text, None if there are several."""
    documents = parse(Source("example.yaml", text))
    found = [each for document in documents if document.fault is None for each in resources(document)]
    value = found[0].node.plain() if len(found) == 1 and len(documents) == 1 else None
    return value if isinstance(value, dict) and "kind" in value and "apiVersion" in value else None


def differences(one: Any, other: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the names of the fields in which two objects differ, with both values; an absent one is None."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in {**one, **other}:
            if name not in one or name not in other:
                yield name, one.get(name), other.get(name)
            else:
                yield from differences(one[name], other[name], name)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for left, right in zip(one, other, strict=True):
            yield from differences(left, right, key)
    elif one != other:
        yield key, one, other


if __name__ == "__main__":
    sys.exit(main())

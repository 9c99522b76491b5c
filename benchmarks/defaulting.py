"""Compares objects with defaults with those that a real API server returned.

    python benchmarks/defaulting.py [--show N] [--json] [--kind KIND] [--speed]

Reads ../shared/oracle/defaults, the answers of dry-run creates: which fields an object came back with, and which it lost. Every leaf that
the server set or changed counts as one field, an empty object or list as well. CLUSTER lists what only a running cluster knows, which is
not compared; docs/defaults.md describes it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kcheck.defaulting.objects import default_object
from kcheck.schema.builtin import definitions
from kcheck.schema.store import Store
from kcheck.text.source import Source
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

ORACLE = Path(__file__).resolve().parent.parent.parent / "shared" / "oracle" / "defaults" / "defaults.jsonl"
MISSING = object()
_REVIEW = "(?:Token|SelfSubject|SubjectAccess|LocalSubjectAccess|SelfSubjectAccess|SelfSubjectRules)Review"

CLUSTER = {
    "name generated from generateName": r"\w+ /metadata/name|Namespace /metadata/labels/kubernetes.io~1metadata.name",
    "answer of a review, and the metadata of its response": rf"{_REVIEW} /(?:status|metadata|spec)\b.*",
    "user of the request": r"CertificateSigningRequest /spec/(?:username|uid|groups|extra)\b.*",
    "uid of a Job": r"Job /.*(?:controller-uid|spec/selector).*",
    "current time": r"\w+ /.*/(?:lastPhaseTransitionTime|timeAdded|lastTransitionTime)",
    "allocated address, port and IP family of a Service": r"Service /spec/(?:clusterIPs?|ipFamilies|healthCheckNodePort|.*nodePort)\b.*",
}
"""What is not compared: patterns of a kind and a JSON Pointer."""
_CLUSTER = re.compile("|".join(f"(?:{pattern})" for pattern in CLUSTER.values()))


def leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the scalars, empty objects and empty lists of a value with their JSON Pointers."""
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from leaves(each, f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list) and value:
        for index, each in enumerate(value):
            yield from leaves(each, f"{pointer}/{index}")
    else:
        yield pointer, value


def read(manifest: str) -> Node:
    """Returns the object of a manifest, as written."""
    return next(each.root for each in parse(Source("manifest.yaml", manifest)) if each.root)


def answer(row: dict[str, Any], written: Any) -> Any:
    """Returns the object that the server returned, as far as it is recorded. `written`: the object as written, which is changed."""
    result = written
    for pointer in row["dropped"]:
        owner, key = _owner(result, pointer)
        if isinstance(owner, dict):
            owner.pop(key, None)
        elif isinstance(owner, list) and int(key) < len(owner):
            owner[int(key)] = MISSING
    for pointer, value in row["set"].items():
        owner, key = _owner(result, pointer)
        if isinstance(owner, list):
            owner[len(owner) :] = [None] * (int(key) + 1 - len(owner))
            owner[int(key)] = value
        else:
            owner[key] = value
    return result


def _owner(value: Any, pointer: str) -> tuple[Any, str]:
    keys = [key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:]]
    for key in keys[:-1]:
        value = value[int(key)] if isinstance(value, list) else value.get(key, {})
    return value, keys[-1]


def compare(row: dict[str, Any], store: Store) -> Iterator[tuple[str, str, Any, Any]]:
    """Yields (outcome, pointer, expected, actual).

    Outcomes: "right", "wrong" or "missing" for what the server set; "changed" or "lost" for what it left as it was; "kept" for what it
    dropped; "extra" for what it did not set.
    """
    root = read(row["manifest"])
    kind = row["kind"]
    written = dict(leaves(root.plain()))
    expected = dict(leaves(answer(row, root.plain())))
    actual = dict(leaves(default_object(root, store, namespace="default")))
    recorded = {pointer + inner for pointer, value in row["set"].items() for inner, _ in leaves(value)}
    for pointer, value in expected.items():
        found = actual.get(pointer, MISSING)
        if _is_ignored(kind, pointer):
            continue
        if pointer in recorded:
            yield "right" if same(found, value) else "missing" if found is MISSING else "wrong", pointer, value, found
        elif value is not None and not same(found, value):
            # The recorded answers do not tell null from absent fields.
            yield "lost" if found is MISSING else "changed", pointer, value, found
    for pointer, value in actual.items():
        emptied = not value and any(each.startswith(pointer + "/") for each in written)
        if pointer not in expected and not emptied and not _is_ignored(kind, pointer):
            yield "kept" if pointer in written else "extra", pointer, MISSING, value


def _is_ignored(kind: str, pointer: str) -> bool:
    # The recorded answers leave out what every object of the server has.
    always = re.fullmatch(r"/metadata/(?:uid|creationTimestamp|generation|managedFields|resourceVersion|selfLink)\b.*", pointer)
    return always is not None or _CLUSTER.fullmatch(f"{kind} {pointer}") is not None


def same(one: Any, other: Any) -> bool:
    """Whether two scalars are equal in JSON."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--show", type=int, default=20, metavar="N", help="differences to print")
    parser.add_argument("--kind", default="", help="only this kind")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON only")
    parser.add_argument("--speed", action="store_true", help="measure the time of an object")
    options = parser.parse_args()
    store = Store(definitions.load("1.36"))
    with ORACLE.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rows = [row for row in rows if options.kind in ("", row["kind"])]
    if options.speed:
        return print_speed(rows, store)
    counts: Counter[str] = Counter()
    differences: Counter[tuple[str, str, str, str, str]] = Counter()
    whole = 0
    for row in rows:
        outcomes = list(compare(row, store))
        counts.update(outcome for outcome, *_ in outcomes)
        different = [each for each in outcomes if each[0] != "right"]
        whole += not different
        for outcome, pointer, expected, actual in different:
            shown = ["absent" if each is MISSING else json.dumps(each)[:60] for each in (expected, actual)]
            differences[outcome, row["kind"], re.sub(r"/\d+(?=/|$)", "/*", pointer), *shown] += 1
    fields = counts["right"] + counts["wrong"] + counts["missing"]
    figures = {
        "objects": len(rows),
        "fields": fields,
        "set": counts["right"] / fields,
        "extra": counts["extra"],
        "not_dropped": counts["kept"],
        "lost": counts["lost"] + counts["changed"],
        "exact_objects": whole / len(rows),
    }
    if options.json:
        print(json.dumps(figures))
        return 0
    for (outcome, kind, pointer, expected, actual), count in differences.most_common(options.show):
        print(f"{count:5} {outcome:8}{kind} {pointer}: server {expected}, kcheck {actual}")
    print(", ".join(f"{name} {value:.5g}" if isinstance(value, float) else f"{name} {value}" for name, value in figures.items()))
    return 0


def print_speed(rows: list[dict[str, Any]], store: Store) -> int:
    """Prints the time that defaulting takes by object, without parsing."""
    objects = [read(row["manifest"]).plain() for row in rows]
    for each in objects:
        default_object(each, store)
    start = time.process_time()
    for each in objects:
        default_object(each, store)
    print(f"{(time.process_time() - start) / len(objects) * 1e6:.1f} µs for each of {len(objects)} objects")
    return 0


if __name__ == "__main__":
    sys.exit(main())

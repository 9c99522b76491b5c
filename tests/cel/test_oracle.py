"""Rules of recorded CRDs, beside what a real API server said of objects that violate them or nearly do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kcheck.cel.kubernetes.rule_evaluation import ObjectRules, find_rules
from kcheck.cel.kubernetes.rule_validation import check_rules
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "oracle" / "crs"


def schemas(text: str) -> Iterator[tuple[tuple[str, str], dict[str, Any], bool]]:
    """apiVersion and kind, the schema, and whether status is a subresource."""
    for document in parse(Source("crds.yaml", text)):
        root = document.root
        spec = root["spec"]
        for version in spec["versions"]:
            schema = version.at("schema", "openAPIV3Schema")
            if schema:
                key = (f"{spec['group'].text}/{version['name'].text}", spec.at("names", "kind").text)
                yield key, schema.plain(), version.at("subresources", "status").is_map


def fill(value: Any, schema: dict[str, Any]) -> None:
    """Defaults, and nulls taken away, as far as the recorded objects need it."""
    if isinstance(value, dict):
        for name, inner in (schema.get("properties") or {}).items():
            if value.get(name) is None and not inner.get("nullable"):
                value.pop(name, None)
                if inner.get("default") is not None:
                    value[name] = json.loads(json.dumps(inner["default"]))
            if name in value:
                fill(value[name], inner)
        additional = schema.get("additionalProperties")
        for each in value.values() if isinstance(additional, dict) else ():
            fill(each, additional)
    elif isinstance(value, list):
        for each in value:
            fill(each, schema.get("items") or {})


@pytest.mark.slow
@pytest.mark.skipif(not FOLDER.is_dir(), reason="the recorded answers are not beside this checkout")
def test_rules_hold_as_the_server_says() -> None:
    wrong = []
    for path in sorted(FOLDER.glob("*.jsonl")):
        rows = [row for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()) if row["mut"].startswith("cel-")]
        known: dict[tuple[str, str], tuple[ObjectRules, dict[str, Any], bool]] = {}
        if rows:
            for key, schema, status in schemas((FOLDER / "crds" / f"{path.stem}.yaml").read_text(encoding="utf-8")):
                rules = find_rules(schema)
                if rules is not None:
                    assert not check_rules(schema), key
                    known[key] = rules, schema, status
        for row in rows:
            object_ = parse(Source("object.yaml", row["manifest"]))[0].root.plain()
            rules, schema, status = known[object_["apiVersion"], object_["kind"]]
            if status:
                object_.pop("status", None)
            fill(object_, schema)
            found = {each.field for each in rules.evaluate(object_)}
            if bool(found) is not (row["verdict"] == "rejected") or not found <= {each["field"] for each in row["causes"]}:
                wrong.append((row["id"], found, row["causes"]))
    assert wrong == []

"""Every recorded answer of the Go library, beside ours."""

import json
from pathlib import Path

import pytest

from kcheck.text.source import Source
from kcheck.yaml.parse import parse
from tests.tree.answers import difference, reason, same

OWN = Path(__file__).with_name("answers.jsonl")
ANSWERS = Path(__file__).resolve().parents[3] / "shared" / "oracle" / "yaml-answers.jsonl"

_LAST_LINE = "the library alone; apimachinery's reader, which comes before it, ends the last line"

DELIBERATE = {
    "k: |\n  yes": _LAST_LINE,
    "a: |\n x\n  y\n z": _LAST_LINE,
    "a: |2\n   x": _LAST_LINE,
    "[]: x": "an empty list as a key: the library makes the whole document an empty list; never intended",
    "{}: x": "an empty map as a key: the library makes the whole document an empty map; never intended",
    "%YAML 1.2\n---\na: b": "the API server's reader cuts at '---' before any YAML is read, so the directive is never seen",
    "%YAML 2.0\n---\na: b": "the API server's reader cuts at '---' before any YAML is read, so the directive is never seen",
}


def answers() -> list[dict[str, object]]:
    if not ANSWERS.is_file():
        return []
    return [json.loads(line) for line in ANSWERS.read_text(encoding="utf-8").splitlines()]


@pytest.mark.skipif(not ANSWERS.is_file(), reason="the recorded answers are not beside this checkout")
def test_reads_as_the_go_library_does() -> None:
    wrong = []
    for row in answers():
        text = str(row["yaml"])
        documents = parse(Source("answers.yaml", text))
        faults = [d.fault for d in documents if d.fault]
        value = documents[0].root.plain() if documents else None
        if text in DELIBERATE:
            continue
        if "error" in row:
            if not faults:
                wrong.append((text, "should be refused", value))
        elif faults:
            wrong.append((text, row["json"], faults))
        elif not same(value, row["json"]):
            wrong.append((text, row["json"], value))
    assert wrong == []


def test_reads_as_kubectl_does() -> None:
    """Answers of the decoder of kubectl, which benchmarks/differential.py records."""
    wrong = []
    for line in OWN.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text, theirs = row["text"], row["documents"]
        documents = parse(Source.decode("answers.yaml", text.encode()))
        ours = [{"error": d.fault.message} if d.fault else {"json": d.root.plain()} for d in documents]
        found = difference(text, ours, theirs)
        if found and not reason(found):
            wrong.append((text, found, ours, theirs))
    assert wrong == []

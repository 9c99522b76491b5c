"""The file of a baseline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kcheck.baseline.baseline import Entry, Root, entries_of, expanded
from kcheck.baseline.file import BadBaseline, baseline_text, read_baseline
from kcheck.finding.fingerprint import Fingerprint
from kcheck.kube.location import ObjectId

ONE = Fingerprint("b.yaml", "latest-tag", ObjectId("v1", "Pod", "", "web"), "spec.containers[0].image", "nginx")
TWO = Fingerprint("a \udce9.yaml", "unknown-field", ObjectId(), "", 'a: "b"\\')


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    entries = entries_of([ONE, TWO, ONE])
    path = tmp_path / "baseline.json"
    path.write_text(baseline_text(entries), encoding="ascii")
    assert read_baseline(str(path)).entries == entries == (Entry(TWO, 1), Entry(ONE, 2))
    assert sorted(expanded(entries)) == [TWO, ONE, ONE]


def test_it_has_one_sorted_line_per_finding_and_no_line_numbers() -> None:
    lines = baseline_text(entries_of([ONE, TWO, ONE])).split("\n")
    assert lines == [
        "{",
        ' "version": 1,',
        ' "findings": [',
        r'  {"file": "a \udce9.yaml", "rule": "unknown-field", "object": {}, "field": "", "text": "a: \"b\"\\", "count": 1},',
        '  {"file": "b.yaml", "rule": "latest-tag", "object": {"apiVersion": "v1", "kind": "Pod", "name": "web"}, '
        '"field": "spec.containers[0].image", "text": "nginx", "count": 2}',
        " ]",
        "}",
        "",
    ]


def test_an_empty_one_is_valid_json() -> None:
    assert json.loads(baseline_text(())) == {"version": 1, "findings": []}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"baseline.json:1:1: invalid JSON"),
        ('{\n<<<<<<< HEAD\n "version": 1', "baseline.json:2:1: unresolved merge conflict"),
        ("[]", "not a baseline"),
        ('{"version": 2, "findings": []}', "version 2 of the format is not supported, only 1"),
        ('{"version": 1, "findings": [1]}', "finding 1 is not a map"),
        ('{"version": 1, "findings": [{"file": "a"}]}', "finding 1 has no file or no rule"),
        ('{"version": 1, "findings": [{"file": "a", "rule": 1}]}', "finding 1 contains a value that is not a string"),
        ('{"version": 1, "findings": [{"file": "a", "rule": "b", "object": "c"}]}', "finding 1 contains a value that is not a string"),
        ('{"version": 1, "findings": [{"file": "a", "rule": "b", "count": 0}]}', "count of finding 1 is not a positive integer"),
        ('{"version": 1, "findings": [{"file": "a", "rule": "b", "count": true}]}', "count of finding 1 is not a positive integer"),
        ('{"version": 1, "findings": [{"file": "a", "rule": "b", "count": 1e9}]}', "count of finding 1 is not a positive integer"),
    ],
)
def test_an_invalid_one_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(text)
    with pytest.raises(BadBaseline, match=message):
        read_baseline(str(path))


def test_paths_are_relative_to_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "apps" / "web").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "apps")
    root = Root.of("..")
    assert root.relative("web/a.yaml") == "apps/web/a.yaml"
    assert root.relative("./web/../b.yaml") == "apps/b.yaml"
    assert root.relative(str(tmp_path / "c.yaml")) == "c.yaml"
    assert root.relative("../../d.yaml") == "../d.yaml"

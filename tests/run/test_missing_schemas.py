"""A kind without a schema is reported once, with the number of its objects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kcheck.cli.main import kcheck
from kcheck.run import run as running

SHORT = "kind: Thing\nmetadata: {name: a}\n"
THING = f"apiVersion: example.com/v1\n{SHORT}"
MESSAGE = "not validated: no schema for example.com/v1 Thing"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def plant(**files: str) -> None:
    for name, text in files.items():
        Path(f"{name}.yaml").write_text(text)


def found(*arguments: str) -> list[tuple[str, str]]:
    """Returns the file and message of each finding."""
    output = CliRunner().invoke(kcheck, [*arguments, "--format", "json"]).stdout
    return [(each["file"], each["message"]) for each in json.loads(output)["findings"]]


def checked(*arguments: str) -> list[tuple[str, str]]:
    return found("check", "--no-cache", "--isolated", "--select", "missing-schema", *arguments, ".")


def test_each_kind_is_reported_once() -> None:
    plant(a=THING, b=f"{THING}---\n{THING}---\n{THING.replace('/v1', '/v2')}", c=THING.replace("Thing", "Other"))
    assert checked() == [
        ("a.yaml", f"{MESSAGE} (3 objects in 2 files)"),
        ("b.yaml", "not validated: no schema for example.com/v2 Thing"),
        ("c.yaml", "not validated: no schema for example.com/v1 Other"),
    ]


def test_ignored_objects_do_not_count() -> None:
    ignored = f"apiVersion: example.com/v1  # kcheck: ignore[missing-schema] internal\n{SHORT}"
    plant(a=ignored, b=THING, c=THING, d=ignored)
    assert checked() == [("b.yaml", f"{MESSAGE} (2 objects in 2 files)")]


def test_an_object_counts_once_in_a_range_of_versions() -> None:
    plant(a=f"{THING}---\n{THING}")
    assert checked("--kubernetes", "1.30-1.32") == [("a.yaml", f"{MESSAGE} (2 objects in 1 file)")]


def test_severities_are_separate(tmp_path: Path) -> None:
    plant(a=THING, b=THING, c=THING)
    Path(".kcheck.yaml").write_text("overrides: [{files: ['[bc].yaml'], rules: {missing-schema: error}}]\n")
    arguments = ("check", "--no-cache", "--select", "missing-schema", ".")
    assert found(*arguments) == [("a.yaml", MESSAGE), ("b.yaml", f"{MESSAGE} (2 objects in 2 files)")]
    assert found(*arguments, "--severity", "error") == [("b.yaml", f"{MESSAGE} (2 objects in 2 files)")]


def test_shards_and_the_cache_count_all_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "CACHE_MIN_CHARS", 0)
    plant(**{f"f{number}": THING for number in range(9)})
    expected = [("f0.yaml", f"{MESSAGE} (9 objects in 9 files)")]
    arguments = ("check", "--isolated", "--select", "missing-schema", ".")
    assert found(*arguments) == found(*arguments) == expected
    for number in (1, 2):
        CliRunner().invoke(kcheck, [*arguments, "--shard", f"{number}/2", "--output", f"{number}.shard"])
    assert found("merge", "1.shard", "2.shard") == expected


def test_the_summary_names_the_kinds_although_no_rule_reports_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "CACHE_MIN_CHARS", 0)
    plant(a=f"{THING}---\n{THING.replace('name: a', 'name: b')}", b=THING, **{kind: THING.replace("Thing", kind) for kind in "CDEFGH"})
    arguments = ("check", "--isolated", "--select", "spec", "--kubernetes", "1.30-1.32", ".")
    for _ in range(2):
        shown = CliRunner().invoke(kcheck, arguments).stdout
        assert shown.splitlines() == [
            "No findings in 8 files (9 documents, 8 deployment units) for Kubernetes 1.30-1.32.",
            "9 objects without a schema were not validated: Thing (3), C, D, E, F and 2 other kinds (add their CRDs or use --schemas).",
        ]

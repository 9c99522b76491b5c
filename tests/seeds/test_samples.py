"""The samples of the source documents get exactly the findings that they deserve, by a list reviewed by hand."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kcheck.check.session import Session
from kcheck.discovery.discover import discover
from kcheck.finding.finding import Finding
from kcheck.finding.severity import ERROR
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.run.run import run_pipeline
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "seeds" / "samples"
LISTED = {
    name: {key: value.plain() for key, value in entry.entries}
    for document in parse(Source("expected.yaml", Path(__file__).with_name("expected.yaml").read_text(encoding="utf-8")))
    for name, entry in document.root.entries
}

pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples of the source documents are not beside the checkout")


@cache
def session(*rules: str, complete: bool = False) -> Session:
    registry = Registry.load()
    return Session(registry, choose(registry, rules), [Store(load(""))], complete)


def check(sample: str, *rules: str, complete: bool = False) -> list[Finding]:
    return run_pipeline(discover([str(SAMPLES / sample)]), session(*rules, complete=complete)).findings


def reported(findings: list[Finding]) -> list[str]:
    return sorted(f"{finding.range.start[0]} {finding.rule}" for finding in findings)


def index() -> dict[str, dict[str, Any]]:
    lines = (SAMPLES / "index.jsonl").read_text(encoding="utf-8").splitlines() if SAMPLES.is_dir() else []
    return {row["file"]: row for row in map(json.loads, lines)}


def test_every_sample_is_listed() -> None:
    there = {str(p.relative_to(SAMPLES)) for p in SAMPLES.rglob("*") if p.suffix in (".yaml", ".yml", ".json")}
    assert there == set(LISTED) == set(index())


@pytest.mark.parametrize("sample", LISTED)
def test_a_sample_gets_what_it_deserves(sample: str) -> None:
    assert reported(check(sample)) == sorted(LISTED[sample]["findings"])


@pytest.mark.parametrize("sample", LISTED)
def test_a_sample_that_is_all_there_is(sample: str) -> None:
    entry = LISTED[sample]
    assert reported(check(sample, complete=True)) == sorted([*entry["findings"], *entry.get("complete", [])])


@pytest.mark.parametrize("sample", [sample for sample, entry in LISTED.items() if "on-demand" in entry])
def test_rules_on_demand(sample: str) -> None:
    wanted = LISTED[sample]["on-demand"]
    assert {finding.rule for finding in check(sample, *wanted, complete=True)} == set(wanted)


@pytest.mark.parametrize("sample", LISTED)
def test_errors_of_the_server_stand_where_it_refuses(sample: str) -> None:
    errors = [f.rule for f in check(sample) if f.family == "spec" and f.severity == ERROR]
    row = index()[sample]
    # That the class of a Pod is missing depends on the cluster.
    assert bool(errors) == (row["verdict"] != "accepted" and row["reason_class"] != "admission")


def test_the_samples_together_know_one_another() -> None:
    """What one names and another defines is not missing; the two Deployments of the last document are a pair."""
    findings = run_pipeline(discover([str(SAMPLES)]), session(complete=True)).findings
    references = {rule.id for rule in Registry.load().rules.values() if rule.scope == "bundle" and rule.id.startswith("missing-")}
    absent = {Path(f.file).name[:6] for f in findings if f.rule in references or f.rule == "affinity-without-pods"}
    assert absent == {"002-06", "002-23", "002-24", "002-26", "004-04"}

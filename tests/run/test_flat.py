"""Findings that go to the cache come back as they were."""

from __future__ import annotations

import marshal

import pytest

from kcheck.finding.finding import Finding
from kcheck.finding.problem import Fix, Related
from kcheck.finding.report import Report
from kcheck.finding.severity import Severity
from kcheck.kube.place import ObjectId, Place
from kcheck.run.flat import flattened, restored
from kcheck.text.edit import Edit
from kcheck.text.span import Range
from tests.reporters.sample import sample_report


def kinds(value: object) -> object:
    """The classes of a value and of all in it."""
    return (type(value), [kinds(each) for each in value] if isinstance(value, tuple) else None)


@pytest.fixture
def report() -> Report:
    report = sample_report()
    at = Place("caf\udce9.yaml", 2, Range(1, 2, 3, 4), "", ObjectId("v1"), "\ud800", 5)
    fix = Fix("e", (Edit(1, 2, "f"),), False)
    report.findings.append(Finding("a", Severity.INFO, "b", "c", at, "Invalid", (Related(at, "d"),), fix, "g"))
    return report


def test_nothing_is_lost(report: Report) -> None:
    found = restored(marshal.loads(marshal.dumps(flattened(report.findings))))
    assert found == report.findings
    assert [kinds(each) for each in found] == [kinds(each) for each in report.findings]
    assert restored(flattened([])) == []


@pytest.mark.parametrize("parts", [None, [], 7, (1,), ((),), ("abcdefghi",), (tuple("abcdefghi"),), (("a", 9, *"cdefghi"),)])
def test_other_things_are_no_findings(parts: object) -> None:
    with pytest.raises((TypeError, ValueError, KeyError)):
        restored(parts)

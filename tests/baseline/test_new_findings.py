"""Which findings of a tree are new, compared with those of an earlier one."""

from __future__ import annotations

from kcheck.baseline.new_findings import new_findings
from kcheck.finding.finding import Finding
from kcheck.finding.problem import Related
from kcheck.finding.severity import WARNING
from kcheck.kube.location import Location, ObjectId
from kcheck.text.span import Range


def place(file: str, line: int = 1, name: str = "a", field: str = "spec.x", text: str = "x: 1") -> Location:
    return Location(file, 0, Range(line, 1, line, 5), field, ObjectId("v1", "Service", "", name), text, 0)


def finding(at: Location, message: str = "wrong", rule: str = "latest-tag", *related: Location) -> Finding:
    return Finding(rule, WARNING, "practice", message, at, related=tuple(Related(each, "other") for each in related))


def test_what_makes_a_finding_old() -> None:
    old = finding(place("a.yaml"))
    assert new_findings([old], [old]) == []
    assert new_findings([finding(place("a.yaml", line=7))], [old]) == []
    assert new_findings([finding(place("a.yaml"), "another message")], [old]) == []
    for new in (
        finding(place("b.yaml", name="b")),
        finding(place("a.yaml", field="spec.y")),
        finding(place("a.yaml", text="x: 2")),
        finding(place("a.yaml"), rule="missing-key"),
    ):
        assert new_findings([new], [old]) == [new]


def test_findings_move_with_their_objects() -> None:
    """The tiers of a baseline apply."""
    old = finding(place("a.yaml", field="spec.items[0].x"))
    for moved in (
        finding(place("b.yaml", field="spec.items[0].x")),
        finding(place("a.yaml", field="spec.items[1].x")),
        finding(place("a.yaml", name="b", field="spec.items[0].x")),
        finding(place("a.yaml", 2, field="spec.items[0].x", text="x:1 ")),
    ):
        assert new_findings([moved], [old]) == []
        assert new_findings([moved, old], [old]) == [moved]


def test_the_first_object_without_a_schema_may_be_another_one() -> None:
    old = finding(place("a.yaml"), rule="missing-schema")
    assert new_findings([finding(place("b.yaml", name="b"), rule="missing-schema")], [old]) == []


def test_each_earlier_finding_accounts_for_one() -> None:
    first, second = finding(place("a.yaml"), "one"), finding(place("a.yaml"), "two")
    assert new_findings([first, second], [second]) == [first]
    assert new_findings([first, second], [first]) == [second]
    assert new_findings([first, first], [first]) == [first]


def test_a_conflict_may_move_between_its_objects() -> None:
    """If a file is renamed, a conflict of two objects may be reported at the other one."""
    one, other = place("a.yaml", name="one"), place("b.yaml", name="other")
    renamed = place("z.yaml", name="one")
    assert new_findings([finding(other, "conflict with one", "latest-tag", renamed)], [finding(one, "conflict", "latest-tag", other)]) == []
    third = place("c.yaml", name="third")
    new = finding(other, "conflict with third", "latest-tag", third)
    assert new_findings([new], [finding(one, "conflict", "latest-tag", other)]) == [new]

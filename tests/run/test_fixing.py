"""What `--fix` makes of texts: the fixed forms of all pages, fixes that get in each other's way, fixes that do harm."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from kcheck.discovery.discover import Discovery, Target
from kcheck.finding.finding import Finding
from kcheck.finding.fix import Fix
from kcheck.finding.report import Report
from kcheck.finding.severity import WARNING
from kcheck.kube.location import Location, ObjectId
from kcheck.run.fixing import Check, Fixed, Fixing
from kcheck.testing import Case, pages
from kcheck.testing.texts import check_text
from kcheck.text.edit import Edit
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n"


def fixed_forms() -> list[Case]:
    cases = [*pages("kcheck_spec._plugin"), *pages("kcheck_practice._plugin")]
    return [case for case in cases if case.example is not None and case.example.fixed is not None]


@pytest.mark.parametrize("case", fixed_forms(), ids=str)
def test_an_example_becomes_its_fixed_form(case: Case, tmp_path: Path) -> None:
    example, rule = case.example, case.rule
    assert example is not None
    assert rule is not None
    path = tmp_path / "example.yaml"
    path.write_text(example.text, encoding="utf-8", newline="")
    options = parse(Source("", example.options))[0].root.plain() if example.options else {}
    flags = {name: options.pop(name) for name in ("kubernetes", "complete") if name in options}

    def check(found: Discovery) -> Report:
        text = (found.targets[0].data or path.read_bytes()).decode()
        return Report(check_text(text, [rule], options={rule.id: options}, name=str(path), **flags))

    fixing = Fixing(Discovery([Target(str(path), True)]), unsafe=True)
    fixing.fix_all(check)
    assert fixing.files[str(path)].text == example.fixed
    assert path.read_text(encoding="utf-8") == example.text


class Wrong(NamedTuple):
    """A finding to come, wherever a text has this word: another one is to be written."""

    word: str
    instead: str
    safe: bool = True


def checker(path: Path, *wrongs: Wrong) -> Check:
    def check(found: Discovery) -> Report:
        text = (found.targets[0].data or path.read_bytes()).decode()
        findings = []
        for wrong in wrongs:
            at = text.find(wrong.word)
            if at >= 0:
                source = Source(str(path), text)
                place = Location(str(path), 0, source.range(at, at + len(wrong.word)), wrong.word, ObjectId(), "", at)
                fix = Fix("x", (Edit(at, at + len(wrong.word), wrong.instead),), wrong.safe)
                findings.append(Finding("rule", WARNING, "practice", wrong.word, place, fix=fix))
        return Report(sorted(findings, key=lambda f: f.order))

    return check


def repaired(tmp_path: Path, text: str, *wrongs: Wrong, unsafe: bool = False) -> Fixed | None:
    path = tmp_path / "a.yaml"
    path.write_text(text)
    fixing = Fixing(Discovery([Target(str(path), True)]), unsafe)
    fixing.fix_all(checker(path, *wrongs))
    return fixing.files.get(str(path))


def test_of_two_that_overlap_the_first_is_made_and_the_other_asked_for_again(tmp_path: Path) -> None:
    fixed = repaired(tmp_path, "a: one two three\n", Wrong("one two", "1 two"), Wrong("two three", "2 3"))
    assert fixed is not None
    assert (fixed.text, fixed.findings) == ("a: 1 2 3\n", 2)


def test_the_same_edits_are_made_once_and_count_for_each(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: one\n")
    once = checker(path, Wrong("one", "two"))

    def twice(found: Discovery) -> Report:
        return Report([each for f in once(found).findings for each in (f, f._replace(rule="another"))])

    fixing = Fixing(Discovery([Target(str(path), True)]))
    fixing.fix_all(twice)
    assert [(f.text, f.findings) for f in fixing.files.values()] == [("a: two\n", 2)]


def test_what_breaks_a_text_is_left_out_and_all_else_made(tmp_path: Path) -> None:
    wrongs = (Wrong("one", "1"), Wrong("two", "'2"), Wrong("three", "3"), Wrong("four", "\n---\nx: y"), Wrong("c: five", "a: 5"))
    fixed = repaired(tmp_path, "a: one\nb: two\nb3: three\nb4: four\nc: five\nd: six\n", *wrongs, Wrong("six", "6"))
    assert fixed is not None
    assert (fixed.text, fixed.findings) == ("a: 1\nb: two\nb3: 3\nb4: four\nc: five\nd: 6\n", 3)


def test_a_fix_that_does_not_help_is_made_once(tmp_path: Path) -> None:
    fixed = repaired(tmp_path, "a: b\n", Wrong("b", "bb"))
    assert fixed is not None
    assert fixed.text == "a: bb\n"


def test_two_that_undo_each_other_come_to_an_end(tmp_path: Path) -> None:
    assert repaired(tmp_path, "a: one\n", Wrong("one", "two"), Wrong("two", "one")) is None


def test_an_unsafe_one_must_be_asked_for(tmp_path: Path) -> None:
    assert repaired(tmp_path, "a: one\n", Wrong("one", "1", safe=False)) is None
    fixed = repaired(tmp_path, "a: one\n", Wrong("one", "1", safe=False), unsafe=True)
    assert fixed is not None
    assert fixed.text == "a: 1\n"


def test_edits_of_one_fix_that_overlap_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: one\n")
    good = checker(path, Wrong("one", "1"))

    def check(found: Discovery) -> Report:
        bad = Fix("x", (Edit(0, 4, "b"), Edit(2, 5, "c")))
        return Report([f._replace(fix=bad) for f in good(found).findings])

    fixing = Fixing(Discovery([Target(str(path), True)]))
    fixing.fix_all(check)
    assert fixing.files == {}


def test_a_file_that_changes_while_it_is_checked_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: one\n")
    good = checker(path, Wrong("one", "1"))

    def check(found: Discovery) -> Report:
        report = good(found)
        path.write_text("b: another\n")
        return report

    fixing = Fixing(Discovery([Target(str(path), True)]))
    fixing.fix_all(check)
    assert fixing.files == {}
    assert fixing.changed == [str(path)]

"""Nothing of a manifest reaches a terminal that the terminal would obey."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.finding.finding import Finding
from kcheck.finding.fix import Fix
from kcheck.finding.problem import Related
from kcheck.finding.report import Report, RuleNote, SkippedFile
from kcheck.finding.severity import ERROR
from kcheck.kube.location import Location, ObjectId
from kcheck.reporters import Style
from kcheck.reporters.excerpt import excerpt
from kcheck.reporters.plugin import BUILT_IN
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.text.edit import Edit
from kcheck.text.span import Position, Range
from tests.reporters.sample import shown

SPECIAL = "\x1b\x9b\x07\x00\r\n\t\x7f\x85\u202e\u2066\u2028\u200b\ud800\udc80웹🚀\u0301%:,"
HOSTILE = st.text(st.one_of(st.characters(), st.sampled_from(SPECIAL)), max_size=60)
DIRECTION = {*"\u061c\u200e\u200f", *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}
POSITIONS = st.builds(Position, st.integers(1, 9), st.integers(1, 70))


@st.composite
def places(draw: st.DrawFn) -> Location:
    start, end = sorted((draw(POSITIONS), draw(POSITIONS)))
    return Location(draw(HOSTILE), 0, Range(*start, *end), draw(HOSTILE), ObjectId(), draw(HOSTILE), 0)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    fix = Fix(draw(HOSTILE), (Edit(0, 1, draw(HOSTILE)),), draw(st.booleans()))
    related = (Related(draw(places()), draw(HOSTILE)),)
    found = Finding(draw(HOSTILE), ERROR, draw(HOSTILE), draw(HOSTILE), draw(places()), related=related, fix=fix)
    note = RuleNote(found.rule, draw(HOSTILE), ERROR, draw(HOSTILE), draw(HOSTILE), draw(HOSTILE))
    # A file name cannot contain such characters.
    return Report(
        has_files=False,
        without_schema=Counter({draw(HOSTILE): 2}),
        findings=[found],
        passed=[SkippedFile(draw(HOSTILE), draw(HOSTILE))],
        rules={found.rule: note},
    )


@pytest.mark.parametrize("format", [each.name for each in BUILT_IN])
@given(report=reports(), verbose=st.booleans(), statistics=st.booleans(), width=st.integers(0, 120))
def test_no_control_character_is_written(format: str, report: Report, verbose: bool, statistics: bool, width: int) -> None:
    text = shown(report, format, Style(verbose=verbose, statistics=statistics, width=width))
    bad = {c for c in text if (unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} and c != "\n") or c in DIRECTION}
    assert not bad
    text.encode("utf-8")


@given(report=reports())
def test_colours_are_the_only_sequences(report: Report) -> None:
    text = shown(report, style=Style(colour=True, verbose=True))
    assert "\x1b" not in re.sub(r"\x1b\[(?:0|1|1;3[1346])m", "", text)


@given(report=reports())
def test_a_finding_is_one_line_of_a_line_format(report: Report) -> None:
    assert shown(report, "concise").count("\n") == 1
    assert shown(report, "github").count("\n") == 1


@given(place=places(), width=st.integers(0, 120))
def test_an_excerpt_fits_and_its_carets_are_below_it(place: Location, width: int) -> None:
    glyphs = Glyphs()
    result = excerpt(place, glyphs, width)
    if result is None:
        return
    cells = sum(glyphs.glyph(char).cells for char in result.line)
    assert cells <= max(width, 40)
    assert set(result.carets) == {"^"}
    assert len(result.indent + result.carets) <= max(cells + 1, 1)

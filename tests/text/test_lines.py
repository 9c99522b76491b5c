"""Lines and columns of a text, where they are counted, are those of its table of lines."""

from __future__ import annotations

from random import Random

import pytest

from kcheck.text.source import Source


def long_text(random: Random) -> str:
    lines = ["x" * random.choice((0, 1, 7, 80)) + random.choice(("", "é", "\U0001f600")) for _ in range(1500)]
    return "\n".join(lines) + random.choice(("", "\n", "\n\n"))


@pytest.mark.parametrize("seed", range(20))
def test_counted_lines(seed: int) -> None:
    random = Random(seed)
    text = long_text(random)
    tabled = Source("", text)
    assert tabled.line_starts[-1] <= len(text)
    for _ in range(30):
        counted = Source("", text)
        for _ in range(random.choice((1, 5, 100))):
            start, end = sorted(random.choices(range(len(text) + 1), k=2))
            if random.random() < 0.5:
                end = min(start + 5, len(text))
            range_ = counted.range(start, end)
            assert range_ == tabled.range(start, end)
            assert counted.line(range_.start.line) == tabled.line(range_.start.line)
            assert counted.offset(range_.end) == end


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_other_line_ends(end: str) -> None:
    text = end.join(["key: value"] * 3000)
    source = Source("", text)
    at = text.index("value", 20_000)
    assert source.range(at, at + 5).start.column == 6
    assert source.line(source.position(at).line) == "key: value"


def test_few_lines_of_a_long_text_need_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcheck.text.source._line_starts", lambda text: pytest.fail("looked up"))
    source = Source("", "key: value\n" * 5000)
    assert source.position(11 * 4000 + 5) == (4001, 6)
    assert source.line(4001) == "key: value"


def test_who_asks_for_many_gets_a_table() -> None:
    source = Source("", "key: value\n" * 100)
    for number in [*range(100), *reversed(range(100))]:
        assert source.position(11 * number + 5) == (number + 1, 6)
        assert source.line(number + 1) == "key: value"
    assert source._count_budget <= 0

"""A tree whose repeated passages are read late is the tree that is read at once."""

from __future__ import annotations

from textwrap import indent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.text.source import Source
from kcheck.yaml.fast import shared_blocks
from kcheck.yaml.fast.reader import read
from kcheck.yaml.fast.shared_blocks import Repeats
from kcheck.yaml.parse import parse
from tests.conftest import examples
from tests.tree.outline import outline

FIELD = (
    "type: object\ndescription: |-\n  a text of some length\n\n  of two paragraphs\n"
    "required:\n- a\n- b\nproperties:\n  a:\n    type: string\n"
)


@pytest.fixture(autouse=True)
def all_are_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_blocks, "MIN_BLOCK_CHARS", 1)
    monkeypatch.setattr(shared_blocks, "PREFIX_CHARS", 1)


def trees(text: str, known: Repeats | None) -> list[object]:
    return [(outline(each.root), each.fault, [(a.start, b.start) for a, b in each.duplicates]) for each in parse(Source("", text), known)]


def schema(*fields: str) -> str:
    """A schema with these fields."""
    return "properties:\n" + "".join(f"  f{number}:\n{indent(each, '    ')}" for number, each in enumerate(fields))


@pytest.mark.parametrize("written", ["default: 1", '"default": 1', "'default': 1", "default:", "default:\n- 1", "default: |-\n  default"])
@pytest.mark.parametrize(("first", "last"), [("", "type: object\n"), ("type: object\n", "")])
def test_whether_a_passage_has_a_key_is_known_before_it_is_read(first: str, last: str, written: str) -> None:
    below = f"description: |-\n{indent(written, '  ')}\ntype: object\n"
    for field, has in ((f"{first}{written}\n{last}", True), (below, False)):
        known = Repeats()
        root = read(schema(field, field), 7, known).root  # type: ignore[union-attr]
        second = root["properties"]["f1"]
        assert second.held.value is None
        assert second.passage.has("default") is has
        assert ("default" in second) is has


def spared(text: str) -> int:
    """How much of a text is not read, whose tree is right."""
    known = Repeats()
    plain = trees(text, None)
    parse(Source("", text), known)
    assert trees(text, Repeats()) == plain
    assert trees(text, known) == plain
    once = Repeats()
    parse(Source("", text), once)
    return once.spared


def test_a_repeated_block_is_not_parsed_again() -> None:
    known = Repeats()
    root = read(schema(FIELD, FIELD), 7, known).root  # type: ignore[union-attr]
    first, second = root["properties"]
    assert first.passage is second.passage is not None
    assert known.spared == len(indent(FIELD, "    "))
    assert second.is_map
    assert second
    assert not second.is_list
    assert second.text == ""
    assert second.boolean is None
    assert second.integer is None
    assert second.passage.mentions("paragraphs")
    assert not second.passage.mentions("default")
    assert second.passage.has("type")
    assert second.passage.has("required")
    assert not second.passage.has("a")
    assert not second.passage.has("of")
    assert known.spared > 0
    assert second["required"][1].text == "b"
    assert known.spared == len("      a:\n        type: string\n") - len("      a:\n")
    assert second["required"].path == "properties.f1.required"
    assert "type" in second
    assert len(second) == 4
    assert [each.name for each in second] == [key for key, _ in second.entries]


def test_shared_values_are_one() -> None:
    root = read(schema(FIELD, FIELD), 0, Repeats()).root  # type: ignore[union-attr]
    assert root.shared() == root.plain()
    assert root["properties"]["f0"].shared() is root["properties"]["f1"].shared()
    assert root["properties"]["f0"].plain() is not root["properties"]["f1"].plain()


@pytest.mark.parametrize(
    "text",
    [
        schema(FIELD, FIELD) + "type: object\n",
        schema(FIELD, FIELD) + "---\n" + schema(FIELD),
        schema(FIELD, FIELD[:-1]),
        schema("a: x\n", "a: x\n"),
        schema("a: x  # why\n", "a: x  # why\n") + "b: 1\n",
        schema("a: >\n  x\n\n  y\n", "a: >\n  x\n\n  y\n"),
        "items:\n- " + indent(schema(FIELD, FIELD), "  ").strip() + "\n- a: 1\n",
        schema(schema(FIELD, FIELD), schema(FIELD, FIELD)),
        "properties:\n  a:\n    x: |+\n      y\n\n# c\n  b:\n    x: |+\n      y\n\n# c\n  c: 1\n",
    ],
)
def test_repeated(text: str) -> None:
    assert spared(text) > 0


@pytest.mark.parametrize(
    "text",
    [
        # What follows may belong to its last scalar.
        "properties:\n  a:\n    x: y\n  b:\n    x: y\n      z\n",
        "properties:\n  a:\n    x: y\n  b:\n    x: y\n\n  c: d\n",
        "properties:\n  a:\n    x: |+\n      y\n  b:\n    x: |+\n      y\n\n\n",
        "properties:\n  a:\n    x: |\n      y\n  b:\n    x: |\n      y\n      # z\n",
        "properties:\n  a:\n    x: y\n  b:\n    x: y\n    w: z\n",
        # Another indentation, another key than properties, doubled keys.
        "properties:\n  a:\n    x: y\n  b:\n     x: y\n",
        "values:\n  a:\n    x: y\n  b:\n    x: y\n",
        "properties:\n  a:\n    x: y\n    x: z\n  b:\n    x: y\n    x: z\n",
        # What libyaml reads.
        schema(FIELD, FIELD).replace("\n", "\r\n"),
        schema("a: &b x\n", "a: &b x\n"),
        # Parts that are never read.
        "properties:\n  a:\n    x: y\n  b:\n    x: y\n   c: d\n",
        schema(FIELD, FIELD) + "- no\n",
    ],
)
def test_not_repeated(text: str) -> None:
    assert spared(text) == 0


def test_the_last_line_may_lack_its_end() -> None:
    known = Repeats()
    for text in (schema("a: x\n").rstrip("\n"), schema("a: xy\n"), schema("a: x\n"), schema("a: x\n").rstrip("\n")):
        assert trees(text, known) == trees(text, None)


def test_levels_add_up() -> None:
    deep = "".join(f"{' ' * level}a:\n" for level in range(90)) + " " * 90 + "b\n"
    text = "properties:\n  x:\n" + indent(deep, "    ")
    assert spared(text + text.removeprefix("properties:\n").replace("x", "y")) > 0
    for level in (20, 60, 120):
        far = "".join(f"{' ' * each}a:\n" for each in range(level))
        spared("a:\n" + indent(far + indent(text, " " * level), " "))


SCALARS = st.sampled_from(
    ["x", "1", "'q'", '"q # r"', "one\n  two", "|\n  x\n\n   y", ">-\n  x\n  y", "|+\n  x\n", "{}", "[a, b]", "", "# no", "x # c", "*a"]
)
ENDS = st.sampled_from(["\n", "\n", "\n", "\n\n", "\n# c\n", "\n  # c\n", "\n      # c\n", "\n        # c\n"])
LEAVES = st.builds(lambda value, end: f" {value}{end}" if value else end, SCALARS, ENDS)


def _map(entries: list[tuple[str, str]]) -> str:
    return "".join(f"{key}:{value}" for key, value in entries)


def _blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    maps = st.lists(st.tuples(st.sampled_from(["a", "b", "properties", "items", "'d'"]), inner), min_size=1, max_size=3).map(_map)
    margins = st.sampled_from(["  ", "  ", " ", "    "])
    lists = st.lists(maps, min_size=1, max_size=2).map(lambda all_: "".join("- " + indent(each, "  ")[2:] for each in all_))
    return st.builds(lambda text, margin: "\n" + indent(text, margin), maps, margins) | st.builds(lambda text: "\n" + text, lists)


BLOCKS = st.recursive(LEAVES, _blocks, max_leaves=8)


@pytest.mark.slow
@examples(600)
@given(st.lists(BLOCKS, min_size=1, max_size=3), st.lists(st.tuples(st.integers(0, 2), ENDS), min_size=2, max_size=6), st.booleans())
def test_random_documents(blocks: list[str], order: list[tuple[int, str]], returns: bool) -> None:
    text = "properties:\n"
    for number, (which, end) in enumerate(order):
        text += f"  k{number}:{indent(blocks[which % len(blocks)], '    ').lstrip(' ')}{end[1:]}"
    text = text.replace("\n", "\r\n") if returns else text
    spared(text)
    spared("spec:\n" + indent(text, "  ") + "---\n" + text)


def test_room_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_blocks, "MAX_HELD_CHARS", 3000)
    known = Repeats()
    for number in range(50):
        text = schema(FIELD.replace("some", f"{number}"), FIELD)
        assert trees(text, known) == trees(text, None)
        assert known.size <= 3000

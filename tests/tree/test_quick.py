"""The quick reader gives what libyaml's events give, or leaves the text to them."""

from __future__ import annotations

import _ruamel_yaml as libyaml
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml.error import YAMLError

from kcheck.yaml.fast import line
from kcheck.yaml.fast.reader import read
from kcheck.yaml.libyaml.builder import YamlFault, build
from tests.conftest import examples
from tests.tree.outline import outline

READ = [
    "a: 1\nb: text\n",
    "---\n# about\na:\n  b: on\n  c: 0400\n  on: ~\n",
    "a:\n- 1\n- b: 2\n  c:\n  - d\n-\n- - x\n  - - y\n",
    "a: one\n  two\n\n  three  # and a half\nb: 1\n",
    "- a\n  - b\n- c\n",
    "a: 'it''s'\nb: \"x\\ty\\u00e9\"\nc: 'one\n  two\n\n\n  three'\nd: \"one \\\n  two\\n\\\n\n  three\"\n",
    "a: |\n  x\n   y\n\n  z\nb: |-\n  x\n\nc: |+\n  x\n\n\nd: >\n  x\n  y\n\n  z\n   w\n  v\n",
    "a: >-\n\n  x\n  \ty\n  z\n",
    "a: |\nb: >\n# nothing\nc: | # what\n  text",
    "a: {}\nb: []  # none\nc: [a, 'b', \"c\", 1, no]\nd: [ x ]\n",
    '"a b": 1\n\'c\': 2\n"": 3\n',
    "a: 1\na: 2\n",
    "a: -1\nb: --flag\nc: a:b\nd: a#b\ne: http://x/y?z=1&w\nf: .5\n",
    "a:\n  text on its own line\n  goes on\nb: 1\n",
    "x: \u201cé\u201d\U0001f600\n",
    "a:\n  b:\n    c: 1\n\n\n# end\n",
    "a: |\n    x\n  \n    y\n",
    "a: :path\nb: ::1\nc: :8080 # d\nd: -e\n",
    "a: [sh, -c, --all, sleep 10  5, -1]\n",
    "- pause: {duration: 10}\n- {a: b, 'c': \"d e\", on: 0400, 1.5: no}  # f\n- {a: {b: [{c: d}, []]}, e: {}}\n",
    "a: [\n  b,  # c\n  # d\n\n  e\n]\nf: {\ng: h,\n    i: j }\nk: [l,]\n",
]
LEFT = [
    "", "# nothing\n", "text\n", "a: b: c\n", "a: &x 1\nb: *x\n", "a: !!str 1\n", "{a: 1}\n", "? a\n: b\n", "a:\tb\n",
    "a: 1\n  b: 2\n", "a: 1\n b\n c: 2\n", "a: 1\r\n", "a: 'x\n", "a: @x\n", "%YAML 1.2\n---\na: 1\n", "a: .inf\n",
    "null: 1\n", "a: |3\n   x\n",
    "a: - b\n", "- a\nb: 1\n", "a: 1\n- b\n", "a : 1\n", "<<: {}\n", "a: \"\\x41\"\n", "a: 1\n...\n", "a: \x85\n", "--- a: 1\n",
    "a: x\n# no\n  y\n",
    "a: [b: c]\n", "a: {b}\n", "a: {b: }\n", "a: {b:c}\n", "a: {b: c, b: d}\n", "a: [b,, c]\n", "a: [b\n  c]\n", "a: [b]]\n",
    "a: [b\n", "a: [\n...\n]\n", "a: [b\tc]\n", "a: [b] c\n", "a: {null: b}\n", "a: {<<: b}\n", "a: [.inf]\n", "a: [b#c]\n",
    "a: [b,#c\n]\n", "a: ::\n",
]  # fmt: skip


def check(text: str) -> bool:
    """Whether a text is read quickly; it is read right then."""
    quick = read(text, 7)
    if quick is None:
        return False
    slow = build(libyaml.CParser(text), text, 7)
    assert slow is not None
    assert outline(quick.root) == outline(slow.root)
    assert [(a.start, b.start) for a, b in quick.duplicates] == [(a.start, b.start) for a, b in slow.duplicates]
    assert quick.trailing == slow.trailing
    return True


@pytest.mark.parametrize("text", READ)
def test_simple_texts_are_read(text: str) -> None:
    assert check(text)


@pytest.mark.parametrize("text", LEFT)
def test_other_texts_are_left_to_libyaml(text: str) -> None:
    assert not check(text)


def test_deep_texts_are_left_to_libyaml() -> None:
    assert check(f"a: {'[' * 10}{']' * 10}\n")
    assert not check(f"a: {'[' * 11}{']' * 11}\n")
    assert not check("".join(f"{' ' * i}a:\n" for i in range(10_000)))
    assert not check("- " * 10_000 + "a\n")


def test_lines_are_read_alike_wherever_they_stand() -> None:
    piece = "{0}- 'a': x  # y\n{0}  on: 0400\n{0}  c: # z\n{0}    - - 1\n"
    assert check("".join(f"k{n}:\n" + piece.format(" " * n) for n in (0, 1, 2, 1, 0)))
    # The same line goes on with a scalar, and is a mistake elsewhere.
    assert check("a: b\n  null:c\n")
    assert check("d:\n  e\n  x\n")
    assert not check("a: 1\nnull: c\n")
    assert not check("a: 1\nnull: c\n")


def test_few_lines_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "_MAX_CACHE_ENTRIES", 10)
    assert check("".join(f"a{n}: {n}\n" for n in range(100)) + f"b: {'x' * 1000}\n")
    assert len(line.LINES) <= 10
    assert max(map(len, line.LINES)) < 1000


LINES = st.tuples(
    st.integers(0, 5),
    st.sampled_from(["", "", "- ", "-", "- - ", "-  "]),
    st.sampled_from(["", "", "a:", "b: ", "c:  ", '"d": ', "'e':", "on: ", "1.5: ", "a/b.c: "]),
    st.sampled_from(
        ["", "x", "1", "yes", "~", "x y", "x # c", "# c", "'q'", "'q", "q'", '"q"', '"q\\n"', '"\\', '"', "|", ">", "|-", ">+", "|2", "{}",
         "[]", "[a, b]", "[", "]", "&a", "*a", "!t x", "x:", "x: y", ":x", "-x", "- x", "? x", "x ",
         "\tx", "x\ty", "é", "...", "---", "%", "@", "null", "0x1f", ".inf"]
    ),
)  # fmt: skip


@examples(1500)
@given(st.lists(LINES, max_size=9), st.sampled_from(["\n", ""]))
@example([(0, "", "a:", ""), (2, "", "", "|"), (1, "", "", "x")], "\n")
def test_texts_made_of_pieces(lines: list[tuple[int, str, str, str]], last: str) -> None:
    text = "\n".join(" " * indent + dashes + key + value for indent, dashes, key, value in lines) + last
    try:
        check(text)
    except (YAMLError, YamlFault) as error:
        raise AssertionError(f"libyaml refuses what was read: {error}") from error


@examples(1500)
@given(st.text(st.sampled_from("ab1:-#|>'\"\\{}[],&*!? \n\n  \té\x85\ufeff"), max_size=40))
def test_texts_made_of_characters(text: str) -> None:
    try:
        check(text)
    except (YAMLError, YamlFault) as error:
        raise AssertionError(f"libyaml refuses what was read: {error}") from error


FLOW = ["[", "]", "{", "}", ",", ", ", ": ", ":", "a", "b: ", "-c", "- ", "'d'", '"e f"', "g h", "1", " ", "\n", "\n ", "# i\n", "..."]


@examples(1500)
@given(st.lists(st.sampled_from(FLOW), max_size=12))
def test_flow_made_of_pieces(pieces: list[str]) -> None:
    written = "".join(pieces)
    for text in (f"a: [{written}]\n", f"a: {{b: [c{written}], d: {{e: {written}}}}}\n"):
        try:
            check(text)
        except (YAMLError, YamlFault) as error:
            raise AssertionError(f"libyaml refuses what was read: {error}") from error

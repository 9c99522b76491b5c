"""Go's regular expressions: the syntax, and answers in linear time that agree with Python's where the two languages do."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.regex.automaton import Automaton, TooManySteps
from kcheck.regex.leftmost import find_all
from kcheck.regex.parser import BadPattern
from tests.conftest import examples


@pytest.mark.parametrize(
    ("pattern", "found", "not_found"),
    [
        ("^a+$", ["a", "aaa"], ["", "ab", "a\n", "ba"]),
        ("b", ["abc"], ["ac"]),
        ("", ["", "x"], []),
        ("^$", [""], ["x", "\n"]),
        ("^(a|bc)*$", ["", "abca"], ["b"]),
        ("^a{2,3}$", ["aa", "aaa"], ["a", "aaaa"]),
        ("^a{2}b{0}$", ["aa"], ["aab"]),
        ("a{,3}", ["a{,3}"], ["aaa"]),
        ("^(?i)ab(?-i)c$", ["ABc"], ["ABC"]),
        ("^(?i:a)b$", ["Ab"], ["AB"]),
        ("(?i)k", ["\u212a"], ["l"]),
        ("^.$", ["x", "é"], ["\n", ""]),
        ("(?s)^.$", ["\n"], ["\r\n"]),
        ("(?m)^b$", ["a\nb\nc"], ["ab"]),
        (r"\Aa\z", ["a"], ["a\n"]),
        (r"\bcat\b", ["a cat!"], ["concat"]),
        (r"\Bcat", ["concat"], ["cat"]),
        (r"^\d\s\w$", ["1 _"], ["a b", "1 é"]),
        (r"^[\D\s]$", ["x"], ["1"]),
        (r"^\pL\p{Lu}\PN$", ["éÉx"], ["ééx", "éÉ1"]),
        (r"^\p{Greek}$", ["λ"], ["l"]),
        (r"^\p{^Greek}$", ["l"], ["λ"]),
        (r"^[[:alpha:]\d-]+$", ["a-1"], ["_"]),
        (r"^[[:^alpha:]]$", ["1"], ["a"]),
        (r"^[]a-]+$", ["]a-"], ["b"]),
        (r"^[^a\]]$", ["b", "\n"], ["a", "]"]),
        (r"^\x41\x{1F600}\101\n$", ["A😀A\n"], ["A"]),
        (r"^\Qa.b*\E+$", ["a.b***"], ["axb"]),
        (r"^\.\-\_\/$", [".-_/"], ["x"]),
        ("^(?P<n>a)(?<m>b)(?:c)$", ["abc"], ["ab"]),
        ("^a*?b+?$", ["aab"], ["aa"]),
        ("^(|a)*(b*)*$", ["", "aabb"], ["c"]),
        ("^(?i)[σß\u00b5]+$", ["ΣςẞΜ"], ["s"]),
        ("(?i)i", ["I"], ["\u0131"]),
        (r"(?i)\P{Lu}", ["1"], ["a", "A"]),
        ("(?i)[[:^lower:]]", ["1"], ["a", "A"]),
    ],
)
def test_syntax(pattern: str, found: list[str], not_found: list[str]) -> None:
    automaton = Automaton(pattern)
    for text in found:
        assert automaton.search(text), text
    for text in not_found:
        assert not automaton.search(text), text


@pytest.mark.parametrize(
    "pattern",
    ["(?=a)", "(?!a)", "(?<=a)", r"(a)\1", "a**", "a{2}{3}", "(", ")", "a)", "[b-a]", "[a", r"\y", r"\Z", "*a", "|*", "(?i", "(?x)a",
     "[[:foo:]]", r"\p{foo}", r"\p", "a{1001}", "a{99999999999}", "a{1000}" * 3400, "a{3,2}", "(a{100}){100}", "\\", r"[\q]",
     r"\x{110000}"],
)  # fmt: skip
def test_what_go_rejects(pattern: str) -> None:
    with pytest.raises(BadPattern):
        Automaton(pattern)


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^(a*)*b$", "(x+x+)+y", "^(.*)*$|b", "^([a-z0-9]+-?)+$"])
def test_time_is_linear(pattern: str) -> None:
    automaton = Automaton(pattern)
    start = time.process_time()
    for text in ("a" * 20000 + "!", "x" * 20000, "a" * 20000):
        automaton.search(text)
    assert time.process_time() - start < 5


def test_states_are_bounded() -> None:
    automaton = Automaton("[ab]*a[ab]{12}c")
    text = "".join("ab"[(i * i // 7) % 2] for i in range(20000))
    assert not automaton.search(text)
    assert len(automaton._states) <= 2001


def test_deep_nesting_is_rejected() -> None:
    # Go allows 1000 levels.
    with pytest.raises(BadPattern, match="too deeply"):
        Automaton("(" * 300 + ")" * 300)


def test_large_patterns_are_not_compiled() -> None:
    with pytest.raises(TooManySteps):
        Automaton("a{1000}" * 3000).search("a")


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("a|ab", "abab", ["a", "a"]),
        ("ab|a", "abab", ["ab", "ab"]),
        ("a*", "baac", ["", "aa", ""]),
        ("a+?", "aa", ["a", "a"]),
        ("(?U)a+", "aa", ["a", "a"]),
        ("(?U)a+?", "aa", ["aa"]),
        ("a{1,2}?b?", "aab", ["a", "ab"]),
        ("(?:a|ab)(?:c|bcd)?", "abcd", ["abcd"]),
        ("(|a)*", "aa", ["", "", ""]),
        ("(|a)+", "aa", ["", "", ""]),
        ("(a|)+", "aa", ["aa"]),
        ("^a", "aa", ["a"]),
        ("(?m)^.", "ab\ncd", ["a", "c"]),
        (r"\b\w", "ab cd", ["a", "c"]),
        ("x", "a", []),
    ],
)
def test_matches_are_leftmost_with_the_preference_of_perl(pattern: str, text: str, found: list[str]) -> None:
    assert find_all(Automaton(pattern), text) == found
    assert find_all(Automaton(pattern), text, 1) == found[:1]


@pytest.mark.parametrize("length", [3000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_matches_of_large_patterns_are_limited(length: int) -> None:
    with pytest.raises(TooManySteps):
        find_all(Automaton("(?:a?){1000}b"), "a" * length)


ATOMS = st.sampled_from(["a", "b", "c", ".", "[ab]", "[^a]", r"\d", r"[b-d]", r"\.", "-"])
ENDS = st.sampled_from(["", "*", "+", "?", "{2}", "{1,2}", "{0,1}"])


def expressions() -> st.SearchStrategy[str]:
    piece = st.builds(lambda atom, end: atom + end, ATOMS, ENDS)
    return st.recursive(
        st.lists(piece, min_size=0, max_size=4).map("".join),
        lambda inner: st.builds(
            lambda left, right, end, alternative: f"(?:{left}{'|' if alternative else ''}{right}){end}", inner, inner, ENDS, st.booleans()
        ),
        max_leaves=5,
    )


@examples(300)
@given(expressions(), st.booleans(), st.booleans(), st.lists(st.text("abcd1.-\n", max_size=8), max_size=8))
def test_answers_agree_with_pythons(expression: str, begins: bool, ends: bool, texts: list[str]) -> None:
    ours = Automaton(f"{'^' if begins else ''}(?:{expression}){'$' if ends else ''}")
    theirs = re.compile(f"{'^' if begins else ''}(?:{expression}){chr(92) + 'Z' if ends else ''}", re.ASCII)
    for text in texts:
        assert ours.search(text) == (theirs.search(text) is not None), text


@given(expressions(), st.text("abcd1.-\n", max_size=12))
def test_a_match_exists_where_one_is_found(expression: str, text: str) -> None:
    automaton = Automaton(expression)
    assert automaton.search(text) is bool(find_all(automaton, text, 1))

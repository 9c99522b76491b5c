"""The cost of a check grows with its input and not with the square of it: operations are counted, not seconds."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.cel.eval.activation import MAX_RESULT_CHARS
from kcheck.cel.eval.program import Environment, Program
from kcheck.cel.kubernetes.rule_evaluation import find_rules
from kcheck.cel.kubernetes.rule_validation import refused_rules
from kcheck.cel.values.types import DYN
from kcheck.cel.values.values import EvaluationError
from kcheck.config.pattern import Globs
from kcheck.discovery.glob import path_regex
from kcheck.kube.suggestions import MAX_EXACT_WORDS, Lexicon, distance, nearest
from kcheck.regex.automaton import Automaton, TooManySteps
from kcheck.regex.patterns import matches_whole
from kcheck.text.source import Source
from tests.relations.world import check, service, workload

FACTOR = 2.4


def calls(work: Callable[[], object]) -> int:
    """How many functions are called, built-in ones included."""
    count = 0

    def note(frame: FrameType, event: str, what: object) -> None:
        nonlocal count
        count += event == "call" or event == "c_call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def word(number: int) -> str:
    return "".join("abcdefghij"[number // 10**place % 10] for place in range(4))


def pods(n: int) -> dict[str, str]:
    """Pods whose ConfigMaps are missing, and as many ConfigMaps with similar names."""
    text = ""
    for i in range(n):
        text += f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{i}}}\nspec:\n  containers:\n"
        text += f"  - {{name: c, image: 'a:1', envFrom: [{{configMapRef: {{name: shop-{word(i * 7)}-env}}}}]}}\n"
        text += f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: shop-{word(i * 7)}-config}}\n"
    return {"a.yaml": text}


def entries(n: int) -> dict[str, str]:
    """A kustomization of files that do not exist, beside as many that do."""
    listed = "".join(f"- {word(i * 7)}-deploymnt.yaml\n" for i in range(n))
    return {"kustomization.yaml": f"resources:\n{listed}", **{f"{word(i * 7)}-service.txt": "" for i in range(n)}}


def services(n: int) -> dict[str, str]:
    """Services and Deployments of one label."""
    return {"a.yaml": "".join(service(f"s{i}", ports=f"port: {i + 1}") + workload(f"d{i}") for i in range(n))}


def misspelt(n: int) -> dict[str, str]:
    """Services whose selectors miss the labels of pods by a slip."""
    return {"a.yaml": "".join(service(f"s{i}", f"app: {word(i * 7)}-wbe") + workload(f"d{i}", f"app: {word(i * 7)}-web") for i in range(n))}


ROWS: dict[str, tuple[Callable[[int], dict[str, str]], tuple[str, ...], int]] = {
    "missing references": (pods, ("missing-config-map",), 150),
    "missing files": (entries, ("missing-kustomization-file",), 150),
    "Services of one label": (services, ("duplicate-service-selector",), 100),
    "Services behind unprobed pods": (services, ("service-without-readiness-probe",), 100),
    "controllers of one label": (services, ("selector-overlap",), 200),
    "Services without pods": (misspelt, ("service-without-pods",), 150),
}


@pytest.mark.parametrize("row", ROWS)
def test_twice_the_input_is_twice_the_work(row: str, tmp_path: Path) -> None:
    make, rules, n = ROWS[row]
    check(tmp_path / "warm", make(1), *rules, complete=True)
    counts = []
    for size in (n, 2 * n):
        folder = tmp_path / str(size)
        folder.mkdir()
        for name, text in make(size).items():
            (folder / name).write_text(text)
        counts.append(calls(lambda folder=folder: check(folder, {}, *rules, complete=True)))  # type: ignore[misc]
    assert counts[1] < FACTOR * counts[0], counts


def test_overrides_are_matched_together() -> None:
    def work(n: int, glob: str) -> Callable[[], object]:
        globs = Globs((i, glob.format(i)) for i in range(n))
        return lambda: [globs.matching(["base", f"team-{i}-a.yaml"]) for i in range(n)]

    for glob in ("base/team-{}-a.yaml", "**/team-{}-*.yaml", "*/*-{}-a.yaml"):
        assert work(3, glob)() == [{0}, {1}, {2}]
    for glob in ("base/team-{}-a.yaml", "**/team-{}-*.yaml", "base/*-{}-a.yaml"):
        assert calls(work(200, glob)) < FACTOR * calls(work(100, glob))


def _repeats(tree: Any, atomic: bool = False) -> list[str]:
    """The repetitions of an expression that may be tried again after they have matched, and can vary in more than one way."""
    found = []
    for name, argument in tree:
        kind = str(name)
        if kind == "ATOMIC_GROUP":
            found += _repeats(argument, True)
        elif kind in ("MAX_REPEAT", "MIN_REPEAT"):
            found += [] if atomic else [kind]
            found += _repeats(argument[2], atomic)
        elif kind == "SUBPATTERN":
            found += _repeats(argument[-1], atomic)
    return found


@pytest.mark.parametrize("glob", ["*a" * 30 + "X", "**/a/" * 30 + "X", "**/*a*b/" * 10 + "*c*d", "a/*b*c/**/*d*"])
def test_globs_do_not_backtrack(glob: str) -> None:
    regex = path_regex(glob)
    assert len(_repeats(re._parser.parse(regex.pattern))) <= 1, regex.pattern  # type: ignore[attr-defined]
    assert regex.fullmatch("/".join(["a" * 100] * 100)) is None


NAMES = st.text("ab", min_size=1, max_size=4)
PARTS = st.one_of(st.just("**"), st.text("ab*?", min_size=1, max_size=4).filter(lambda part: "**" not in part))


@given(st.lists(PARTS, min_size=1, max_size=5), st.lists(NAMES, min_size=1, max_size=5))
def test_globs_match_what_they_say(glob: list[str], path: list[str]) -> None:
    def meets(pattern: str, name: str) -> bool:
        if not pattern:
            return not name
        if pattern[0] == "*":
            return meets(pattern[1:], name) or (bool(name) and meets(pattern, name[1:]))
        return bool(name) and pattern[0] in ("?", name[0]) and meets(pattern[1:], name[1:])

    def leads(parts: list[str], names: list[str]) -> bool:
        if not parts:
            return not names
        if parts[0] == "**":
            return bool(names) if len(parts) == 1 else any(leads(parts[1:], names[at:]) for at in range(len(names) + 1))
        return bool(names) and meets(parts[0], names[0]) and leads(parts[1:], names[1:])

    assert (path_regex("/".join(glob)).fullmatch("/".join(path)) is not None) is leads(glob, path)
    above = any(leads(glob, path[:end]) for end in range(1, len(path) + 1)) or (glob[-1] == "**" and leads(glob[:-1], path[:0]))
    if glob[-1] != "**" and len(glob) > 1:
        assert bool(Globs([(0, "/".join(glob))]).matching(path)) is above


def test_a_lexicon_finds_what_all_words_would_give() -> None:
    words = [f"{word(i)}-{word(i * 37)}" for i in range(5 * MAX_EXACT_WORDS)]
    lexicon = Lexicon(words)
    for each in words[:: len(words) // 40]:
        for wrong in (each[:-1], each[1:], each[:3] + "x" + each[4:], each.upper(), each.replace("-", "_"), each[1] + each[0] + each[2:]):
            assert nearest(wrong, lexicon) == nearest(wrong, words)
    assert len(lexicon.around("shop-config")) <= MAX_EXACT_WORDS


@given(st.text("abc", max_size=8), st.text("abc", max_size=8), st.integers(0, 4))
def test_distances_are_counted_near_the_diagonal(first: str, second: str, most: int) -> None:
    def slow(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        best = min(slow(i - 1, j) + 1, slow(i, j - 1) + 1, slow(i - 1, j - 1) + (first[i - 1] != second[j - 1]))
        if i > 1 and j > 1 and first[i - 1] == second[j - 2] and first[i - 2] == second[j - 1]:
            best = min(best, slow(i - 2, j - 2) + 1)
        return best

    if len(first) + len(second) <= 9:
        assert distance(first, second, most=most) == min(slow(len(first), len(second)), most + 1)


def test_lines_are_cut_where_they_are_read() -> None:
    for text in ("a" * 1000 + "\nbc\n", "a\n" * 9 + "b" * 1000):
        for looked_up in (False, True):
            source = Source("a", text)
            if looked_up:
                assert source.line_starts
            for number in range(1, text.count("\n") + 2):
                source.range(source.offset(source.position(0)), 0)
                assert source.line(number, 5) == source.line(number)[:5]


def test_patterns_of_options_do_not_backtrack() -> None:
    assert not matches_whole("(a+)+$", "a" * 5000 + "!")
    assert matches_whole("a|ab", "ab")


def test_large_patterns_on_long_texts_are_given_up() -> None:
    n = 3000
    automaton = Automaton("^" + "(a|b|c|.*x)" * n + "$")
    with pytest.raises(TooManySteps):
        automaton.search("ab" * n)
    assert Automaton("(a|b)*a(a|b){12}c").search("ab" * 40_000) is False


SOURCES = {
    "replace": "self.s.split('').map(c, self.s.replace(c, self.s)).join().size() > 0",
    "format": "[self.s]" + ".map(x, '%s%s%s%s'.format([x, x, x, x]))" * 14 + ".size() > 0",
    "list": "self.l.map(i, self.l + self.l).size() > 0",
    "flatten": "[self.l]" + ".map(x, [x, x, x, x])" * 12 + ".flatten(20).size() > 0",
    "join": "[self.l.map(i, self.s)].map(x, x.join(self.s)).size() > 0",
    "encode": "self.l.map(i, self.s.replace('b', 'c')).size() > 0",
}


@pytest.mark.parametrize("source", SOURCES)
def test_memory_of_expressions_is_bounded(source: str) -> None:
    import tracemalloc

    program = Environment({"self": DYN}).compile(SOURCES[source])
    assert isinstance(program, Program), program
    tracemalloc.start()
    try:
        with pytest.raises(EvaluationError, match="operation cancelled"):
            program.evaluate({"self": {"s": "a" * 20_000, "l": list(range(20_000))}})
        assert tracemalloc.get_traced_memory()[1] < 4 * MAX_RESULT_CHARS
    finally:
        tracemalloc.stop()


def test_rules_that_the_server_refuses_are_not_evaluated() -> None:
    dear = {"rule": SOURCES["replace"]}
    cheap = {"rule": "size(self.s) > 5000"}
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"s": {"type": "string"}}, "x-kubernetes-validations": [dear, cheap]},
        },
    }
    refused = refused_rules(schema)
    assert refused == {id(dear)}
    rules = find_rules(schema, refused=refused)
    assert rules is not None
    assert [each.rule for each in rules.evaluate({"spec": {"s": "a" * 2000}})] == [cheap["rule"]]

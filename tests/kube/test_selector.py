"""Selectors: matching, overlap, near misses, and the grammar of kubectl -l."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.kube.selector import (
    EVERYTHING,
    UNLIKE,
    BadSelector,
    Requirement,
    Selector,
    can_overlap,
    contradictory,
    distance,
    nearest,
    of_fields,
    of_map,
    parse,
)


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("", {}, True),
        ("", {"a": "b"}, True),
        ("a=b", {"a": "b"}, True),
        ("a=b", {"a": "c"}, False),
        ("a=b", {}, False),
        ("a!=b", {}, True),
        ("a!=b", {"a": ""}, True),
        ("a!=b", {"a": "b"}, False),
        ("a notin (b,c)", {"a": "d"}, True),
        ("a notin (b,c)", {"a": "c"}, False),
        ("a", {"a": ""}, True),
        ("a", {}, False),
        ("!a", {}, True),
        ("!a", {"a": ""}, False),
        ("a=", {"a": ""}, True),
        ("a=", {}, False),
        ("a in ()", {"a": ""}, True),
        ("a in (,b)", {"a": ""}, True),
        ("a>5", {"a": "6"}, True),
        ("a>5", {"a": "5"}, False),
        ("a>5", {"a": "x"}, False),
        ("a<5", {}, False),
        ("a<5", {"a": "04"}, True),
        ("a=b,c=d", {"a": "b", "c": "d", "e": "f"}, True),
        ("a=b,c=d", {"a": "b"}, False),
    ],
)
def test_matches(text: str, labels: dict[str, str], expected: bool) -> None:
    assert parse(text).matches(labels) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x in (foo,,baz),y,z notin ()", "x in (,baz,foo),y,z!="),
        ("a == b", "a=b"),
        (" a\t=\nb ", "a=b"),
        ("in in (in)", "in=in"),
        ("a in (b,b,a)", "a in (a,b)"),
        ("example.com/a", "example.com/a"),
    ],
)
def test_written_back(text: str, expected: str) -> None:
    assert str(parse(text)) == expected
    assert parse(expected) == parse(text)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("a,", 3),
        (",a", 1),
        ("a=b,,c", 5),
        ("a b", 3),
        ("a in", 5),
        ("a in b", 6),
        ("a in (b", 8),
        ("a in (b c)", 9),
        ("a in (b))", 9),
        ("a=b c", 5),
        ("a=(", 3),
        ("!a=b", 3),
        ("!", 2),
        ("!!a", 2),
        ("a!b", 2),
        ("a/b/c=d", 1),
        ("a=-b", 3),
        ("a>x", 3),
        ("a<", 3),
        ("(", 1),
        ("a=b\u00a0", 3),
    ],
)
def test_errors_have_a_column(text: str, column: int) -> None:
    with pytest.raises(BadSelector) as caught:
        parse(text)
    assert caught.value.column == column
    assert "\n" not in caught.value.message


@given(st.text(alphabet="ab in(),=!<>-\n/", max_size=25))
def test_any_text_is_a_selector_or_a_bad_one(text: str) -> None:
    try:
        selector, column = parse(text), 1
    except BadSelector as error:
        selector, column = EVERYTHING, error.column
    assert parse(str(selector)) == selector
    assert 1 <= column <= len(text) + 1


def test_absent_and_empty_are_different() -> None:
    assert of_map(None) is None
    assert of_map({}) == EVERYTHING
    assert of_fields(None) is None
    assert of_fields({}) == EVERYTHING


def test_of_fields() -> None:
    expressions = [{"key": "b", "operator": "In", "values": ["x", "y"]}, {"key": "c", "operator": "DoesNotExist"}]
    selector = of_fields({"matchLabels": {"a": "1"}, "matchExpressions": expressions})
    assert str(selector) == "a=1,b in (x,y),!c"
    assert of_fields({"matchLabels": None, "matchExpressions": [None, {"key": "a", "operator": "Is"}, {"operator": "In"}]}) == EVERYTHING
    assert of_fields({"matchExpressions": [{"key": "a", "operator": "In", "values": 5}]}) == EVERYTHING


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("", "", True),
        ("a=b", "c=d", True),
        ("a=b", "a=c", False),
        ("a in (b,c)", "a in (c,d)", True),
        ("a in (b,c)", "a notin (b,c)", False),
        ("a", "!a", False),
        ("!a", "a!=b", True),
        ("a=b", "!a", False),
        ("a>5", "a<7", True),
        ("a>5", "a<6", False),
        ("a>5", "a<7,a!=6", True),
        ("a<0", "a", False),
        ("a>5", "a in (5,6)", True),
        ("a>5", "a in (4,5)", False),
        ("a>5", "!a", False),
    ],
)
def test_overlap(first: str, second: str, expected: bool) -> None:
    assert can_overlap(parse(first), parse(second)) is expected
    assert can_overlap(parse(second), parse(first)) is expected
    assert contradictory(parse(",".join(filter(None, (first, second))))) is not expected


KEYS, VALUES = ("a", "b"), ("0", "1", "2")
REQUIREMENTS = st.one_of(
    st.builds(
        Requirement,
        st.sampled_from(KEYS),
        st.sampled_from(["In", "NotIn"]),
        st.lists(st.sampled_from(VALUES), min_size=1, max_size=3).map(tuple),
    ),
    st.builds(Requirement, st.sampled_from(KEYS), st.sampled_from(["Exists", "DoesNotExist"])),
    st.builds(Requirement, st.sampled_from(KEYS), st.sampled_from(["Gt", "Lt"]), st.sampled_from(VALUES).map(lambda value: (value,))),
)
SELECTORS = st.lists(REQUIREMENTS, max_size=4).map(lambda found: Selector(tuple(found)))
# All values that the requirements tell apart: those they name, other spellings of these numbers, a large one and a word.
SETS = [
    {key: value for key, value in zip(KEYS, chosen, strict=True) if value is not None}
    for chosen in itertools.product([None, *VALUES, "00", "01", "02", "9", "x"], repeat=2)
]


@pytest.mark.slow
@given(SELECTORS, SELECTORS)
def test_overlap_agrees_with_trying_all_labels(first: Selector, second: Selector) -> None:
    assert can_overlap(first, second) is any(first.matches(labels) and second.matches(labels) for labels in SETS)


def test_distance_counts_typing_errors() -> None:
    assert distance(parse("app=web"), {"app": "web"}) == 0
    assert distance(parse("app=web"), {"app": "webb"}) == 1
    assert distance(parse("app=web"), {"ap": "web"}) == 1
    assert distance(parse("app=web"), {"app": "db"}) == UNLIKE
    assert distance(parse("app=web,!old"), {"app": "wbe", "old": ""}) == 1 + UNLIKE


def test_nearest_says_what_fails() -> None:
    pods = [("api", {"app": "api", "tier": "back"}), ("web", {"app": "webb", "tier": "front"})]
    assert nearest(parse("app=web"), pods) == ("web", Requirement("app", "In", ("web",)))
    assert nearest(parse("app=web,tier=back"), pods) == ("api", Requirement("app", "In", ("web",)))
    assert nearest(parse("app=queue"), pods) is None
    assert nearest(parse("app=api"), [("api", {"app": "api"})]) is None
    assert nearest(parse("app=web"), []) is None

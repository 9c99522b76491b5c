"""Values go to plain data and come back the same; data makes nothing but values of the type that is asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_type_hints

import pytest

from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.run.discover import discover
from kcheck.run.encoding import Misfit, codec, decode, encode
from kcheck.run.outcome import Outcome
from kcheck.run.run import Staffing, check_files
from kcheck.run.session import Session
from kcheck.schema.definitions import load
from kcheck.schema.store import Store

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


class Point(NamedTuple):
    x: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Plane:
    points: tuple[Point, ...]
    labels: Mapping[str, str]
    kind: Literal["flat", "round"] = "flat"
    port: int | str | None = None
    marks: frozenset[str] = frozenset()
    shape: Point | Empty | None = None


@dataclass(frozen=True, slots=True)
class Empty:
    pass


PLANES = [
    Plane((), {}),
    Plane((Point(1, "a"), Point(2, "a")), {"a": "b", "c": "a"}, "round", "http", frozenset({"b", "a"}), Empty()),
    Plane((Point(-1, "\udc80 é"),), {}, port=80, shape=Point(3)),
]


@pytest.mark.parametrize("plane", PLANES)
def test_values_come_back(plane: Plane) -> None:
    assert decode(json.loads(json.dumps(encode(plane, Plane))), Plane) == plane


def test_a_text_is_written_once_and_defaults_not_at_all() -> None:
    assert encode(PLANES[1], Plane)[:2] == [[[1, "a"], [2, 0]], [0, "b", "c", 0]]
    assert encode(PLANES[0], Plane) == [[], []]


@pytest.mark.parametrize(
    "data",
    [
        None, 7, "x", {}, [], [[], {}], [[], ["a"]], [[["1", "a"]], []], [[[True, "a"]], []], [[[1, 5]], []], [[[1, -1]], []],
        [[], [], "square"], [[], [], "flat", 1.5], [[], [], "flat", None, "ab"], [[], [], "flat", None, [], [2, []]],
        [[], [], "flat", None, [], [7]],
        [[], [], "flat", None, [], None, 1], [[[1, "a", "b"]], []], [[], [["a"], "b"]],
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(data: Any) -> None:
    with pytest.raises(Misfit):
        decode(data, Plane)


def test_a_type_without_a_form_is_a_mistake() -> None:
    for kind in (object, Any, dict, Path):
        with pytest.raises((TypeError, Misfit)):
            codec(kind)


def test_all_that_an_outcome_may_hold_has_a_form() -> None:
    seen: set[Any] = set()
    stack: list[Any] = [Outcome]
    while stack:
        kind = stack.pop()
        if kind in seen or kind in (..., type(None)):
            continue
        seen.add(kind)
        if is_dataclass(kind) or hasattr(kind, "_fields"):
            codec(kind)
            hints = get_type_hints(kind)
            names = [f.name for f in fields(kind) if f.init] if is_dataclass(kind) else kind._fields  # type: ignore[attr-defined]
            for name in names:
                codec(hints[name])
                stack.append(hints[name])
        elif not isinstance(kind, str):
            stack += [each for each in get_args(kind) if not isinstance(each, str)]
    assert len(seen) > 20


def test_outcomes_come_back() -> None:
    registry = Registry.load()
    session = Session(registry, choose(registry, ["all"]), [Store(load())])
    checked = check_files(discover([str(EXAMPLES)]), session, Staffing(session, 1, None))
    assert sum(len(each.outcome.findings) for each in checked) > 100
    for each in checked:
        assert decode(json.loads(json.dumps(encode(each.outcome, Outcome))), Outcome) == each.outcome

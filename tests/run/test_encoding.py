"""Values go to plain data and come back the same; data makes nothing but values of the type that is asked for."""

from __future__ import annotations

import json
import random
import sys
import time
import tomllib
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import pytest

from kcheck.cache.results import _CachedOutcome, _CachedRelations
from kcheck.cache.store import _PackIndex
from kcheck.check.file import Checked, Outcome
from kcheck.check.session import Session
from kcheck.codec.encoding import DecodeError, decode, encode, packed, unpacked
from kcheck.codec.type_codec import reader, writer
from kcheck.discovery.discover import discover
from kcheck.facts.facts import Facts
from kcheck.finding.finding import Finding
from kcheck.kube.location import Location
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.run.run import WorkerFactory, check_all_files
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store
from kcheck.shards.files import Head

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"


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
    assert unpacked(packed(plane, Plane), Plane) == plane


def test_a_text_is_written_once_and_defaults_not_at_all() -> None:
    assert encode(PLANES[0], Plane) == ([], [0, 0, 0])
    texts, numbers = encode(PLANES[1], Plane)
    assert texts == ["a", "b", "c", "http"]
    assert numbers == [15, 2, 1, 1, 0, 1, 2, 0, 2, 0, 1, 2, 0, 1, 2, 3, 2, 0, 1, 2, 0]


TEXTS, NUMBERS = encode(PLANES[1], Plane)


@pytest.mark.parametrize(
    "data",
    [
        None, 7, "x", {}, [], [[]], [[], [], []], [{}, []], ["", []], [[], {}], [[1], NUMBERS], [[None], NUMBERS], [[["a"]], NUMBERS],
        [TEXTS, [*NUMBERS, 0]], [TEXTS, NUMBERS[:-1]], [TEXTS[:-1], NUMBERS], [[], NUMBERS], [TEXTS, []],
        *([TEXTS, [*NUMBERS[:at], wrong, *NUMBERS[at + 1:]]] for at in range(len(NUMBERS)) for wrong in (None, "1", 1.0, True, 10**30)),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(data: Any) -> None:
    with pytest.raises(DecodeError):
        decode(data, Plane)


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a type, and all in it."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return value in inner
    if origin in (Union, UnionType):
        return any(fits(value, each) for each in inner)
    if origin is tuple and inner[-1] is not ...:
        return type(value) is tuple and len(value) == len(inner) and all(map(fits, value, inner))
    if origin in (tuple, list, frozenset, Sequence):
        wanted = list if origin is Sequence else origin
        return type(value) is wanted and all(fits(each, inner[0]) for each in value)
    if origin is not None and issubclass(origin, Mapping):
        return type(value) is dict and all(fits(k, inner[0]) and fits(v, inner[1]) for k, v in value.items())
    if type(value) is not kind:
        return False
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        names = [f.name for f in fields(kind) if f.init] if is_dataclass(kind) else kind._fields
        hints = get_type_hints(kind)
        return all(fits(getattr(value, name), hints[name]) for name in names)
    return True


@pytest.mark.slow
def test_whatever_the_data_every_value_has_its_type() -> None:
    """Random changes of true outcomes: they are refused, or make other values of the same types."""
    chance = random.Random(7)
    outcomes = [each.outcome for each in checked_examples()[:60]]
    made = 0
    for outcome in outcomes:
        texts, numbers = encode(outcome, Outcome)
        assert fits(outcome, Outcome)
        for _ in range(40):
            changed = list(numbers)
            for _ in range(chance.choice([1, 1, 2, 5])):
                changed[chance.randrange(len(changed))] = chance.choice([-1, 0, 1, 2, 3, 7, 2**31 - 1, -(2**63), 2**63 - 1, *numbers[:9]])
            try:
                value = decode([texts, changed], Outcome)
            except DecodeError:
                continue
            made += 1
            assert fits(value, Outcome)
    assert made > 100


@pytest.mark.parametrize("seed", range(200))
def test_random_bytes_are_refused_at_once(seed: int) -> None:
    chance = random.Random(seed)
    size = chance.choice([0, 3, 4, 40, 4000])
    for head in (b"", (4 * (size // 8)).to_bytes(4, sys.byteorder), b"\xff\xff\xff\xff"):
        start = time.process_time()
        with pytest.raises(DecodeError):
            unpacked(head + chance.randbytes(size), list[Facts])
        assert time.process_time() - start < 1


@pytest.mark.parametrize("number", [2**31 - 1, -1])
def test_numbers_larger_than_the_data_take_no_room(number: int) -> None:
    data = (8).to_bytes(4, sys.byteorder) + array("i", [number, number]).tobytes()
    for kind in (list[Facts], tuple[str, ...], Mapping[str, str], frozenset[int], list[Outcome]):
        with pytest.raises(DecodeError):
            unpacked(data, kind)


def test_what_has_no_form_is_refused() -> None:
    for value in (Plane((), {1: "a"}), Plane((), {}, "square"), Plane((), {}, port=10**30), Plane((), {}, port=1.5), None, Point(1)):  # type: ignore[dict-item, arg-type]
        with pytest.raises(DecodeError):
            encode(value, Plane)
    with pytest.raises(DecodeError):
        packed(Plane((), {"a": "\0"}), Plane)


def test_a_type_without_a_form_is_a_mistake() -> None:
    for kind in (object, Any, dict, Path):
        with pytest.raises((TypeError, DecodeError)):
            reader(kind), writer(kind)


def test_all_that_an_outcome_may_hold_has_a_form() -> None:
    seen: set[Any] = set()
    stack: list[Any] = [Outcome]
    while stack:
        kind = stack.pop()
        if kind in seen or kind in (..., type(None)):
            continue
        seen.add(kind)
        if is_dataclass(kind) or hasattr(kind, "_fields"):
            reader(kind), writer(kind)
            hints = get_type_hints(kind)
            names = [f.name for f in fields(kind) if f.init] if is_dataclass(kind) else kind._fields  # type: ignore[attr-defined]
            for name in names:
                reader(hints[name]), writer(hints[name])
                stack.append(hints[name])
        elif not isinstance(kind, str):
            stack += [each for each in get_args(kind) if not isinstance(each, str)]
    assert len(seen) > 20


@cache
def checked_examples() -> list[Checked]:
    registry = Registry.load()
    session = Session(registry, choose(registry, ["all"]), [Store(load())])
    return check_all_files(discover([str(EXAMPLES)]), session, WorkerFactory(session, 1, None))


def test_outcomes_come_back() -> None:
    checked = checked_examples()
    assert sum(len(each.outcome.findings) for each in checked) > 100
    for each in checked:
        assert unpacked(packed(each.outcome, Outcome), Outcome) == each.outcome
        assert decode(json.loads(json.dumps(encode(each.outcome, Outcome))), Outcome) == each.outcome


def types_within(kind: Any, found: set[type]) -> set[type]:
    """Return the data classes, named tuples and enums that a value of a type consists of."""
    for argument in get_args(kind):
        types_within(argument, found)
    if isinstance(kind, type) and kind.__module__.startswith("kcheck.") and kind not in found:
        found.add(kind)
        for hint in get_type_hints(kind).values():
            types_within(hint, found)
    return found


def test_no_encoded_type_is_compiled() -> None:
    """A named tuple of a compiled module has no type hints, so it could not be written to the cache or to a shard."""
    hook = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]
    compiled = {name.removesuffix(".py").replace("/", ".") for name in hook["custom"]["modules"] + hook["custom"]["release-modules"]}
    found: set[type] = set()
    for root in (Outcome, Facts, Head, _CachedOutcome, _CachedRelations, _PackIndex):
        types_within(root, found)
    assert {Facts, Location, Finding} <= found
    assert not {f"{kind.__module__}.{kind.__name__}" for kind in found if kind.__module__ in compiled}

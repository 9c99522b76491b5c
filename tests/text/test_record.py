"""Our named tuples are like those of the standard library."""

from __future__ import annotations

import copy
import pickle
from typing import NamedTuple as Usual
from typing import get_type_hints

import pytest

from kcheck.text.record import NamedTuple


class Ours(NamedTuple):
    """Three fields."""

    name: str
    size: int = 1
    parts: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.name} of {self.size}"

    def __str__(self) -> str:
        return self.title


class Theirs(Usual):
    name: str
    size: int = 1
    parts: tuple[str, ...] = ()


class Late(NamedTuple):
    """Made for the first time where it is unpickled."""

    name: str


class Heir(Ours):
    """A class of its own."""


VALUES = [Ours("a"), Ours("a", 2), Ours(name="b", parts=("x",)), Ours("c", size=0)]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_it_is_a_tuple_with_names(value: Ours) -> None:
    other = Theirs(*value)
    assert (value.name, value.size, value.parts) == tuple(value) == other
    assert hash(value) == hash(other)
    assert repr(value) == repr(other).replace("Theirs", "Ours")
    assert value._asdict() == other._asdict()
    assert tuple(value._replace(size=7)) == other._replace(size=7)
    assert Ours._make(other) == value
    assert isinstance(value._replace(size=7), Ours)
    assert value.title == str(value)


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_it_goes_from_process_to_process(value: Ours) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        back = pickle.loads(pickle.dumps(value, protocol))
        assert back == value
        assert type(back) is Ours
    assert copy.deepcopy(value) == value


def test_a_pickle_may_make_the_first_one() -> None:
    written = pickle.dumps(tuple.__new__(Late, ("x",)))
    assert pickle.loads(written) == Late("x")


def test_of_a_class() -> None:
    assert Ours._fields == Theirs._fields
    assert Ours._field_defaults == Theirs._field_defaults
    assert get_type_hints(Ours) == get_type_hints(Theirs)
    assert Ours.__match_args__ == Theirs.__match_args__
    assert Heir("a").title == "a of 1"
    assert type(Heir("a")) is Heir


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(TypeError):
        Ours()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Ours("a", 1, (), 2)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Ours("a", weight=2)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="weight"):
        Ours("a")._replace(weight=2)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        Ours("a").name = "b"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        Ours("a").weight = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="without a default"):
        exec("class Wrong(NamedTuple):\n    a: int = 1\n    b: str", {"NamedTuple": NamedTuple, "__name__": "wrong"})

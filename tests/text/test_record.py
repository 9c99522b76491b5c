"""Named tuples of kcheck behave like those of the standard library."""

from __future__ import annotations

import copy
import pickle
import typing
from typing import get_type_hints

import pytest

from kcheck.text.record import NamedTuple


class Record(NamedTuple):
    """Three fields."""

    name: str
    size: int = 1
    parts: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.name} of {self.size}"

    def __str__(self) -> str:
        return self.title


class Standard(typing.NamedTuple):
    name: str
    size: int = 1
    parts: tuple[str, ...] = ()


class Unused(NamedTuple):
    """A class whose first instance is created by pickle."""

    name: str


class Derived(Record):
    """A subclass."""


RECORDS = [Record("a"), Record("a", 2), Record(name="b", parts=("x",)), Record("c", size=0)]


@pytest.mark.parametrize("record", RECORDS, ids=str)
def test_records_equal_standard_named_tuples(record: Record) -> None:
    standard = Standard(*record)
    assert (record.name, record.size, record.parts) == tuple(record) == standard
    assert hash(record) == hash(standard)
    assert repr(record) == repr(standard).replace("Standard", "Record")
    assert record._asdict() == standard._asdict()
    assert tuple(record._replace(size=7)) == standard._replace(size=7)
    assert Record._make(standard) == record
    assert isinstance(record._replace(size=7), Record)
    assert record.title == str(record)


@pytest.mark.parametrize("record", RECORDS, ids=str)
def test_records_can_be_pickled_and_copied(record: Record) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        unpickled = pickle.loads(pickle.dumps(record, protocol))
        assert unpickled == record
        assert type(unpickled) is Record
    assert copy.deepcopy(record) == record


def test_pickle_may_create_the_first_instance() -> None:
    pickled = pickle.dumps(tuple.__new__(Unused, ("x",)))
    assert pickle.loads(pickled) == Unused("x")


def test_classes_have_the_attributes_of_standard_named_tuples() -> None:
    assert Record._fields == Standard._fields
    assert Record._field_defaults == Standard._field_defaults
    assert get_type_hints(Record) == get_type_hints(Standard)
    assert Record.__match_args__ == Standard.__match_args__
    assert Record.__doc__ == "Three fields."
    assert Derived("a").title == "a of 1"
    assert type(Derived("a")) is Derived


def test_wrong_fields_are_errors() -> None:
    with pytest.raises(TypeError):
        Record()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Record("a", 1, (), 2)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Record("a", weight=2)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="weight"):
        Record("a")._replace(weight=2)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        Record("a").name = "b"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        Record("a").weight = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="without a default"):
        exec("class Wrong(NamedTuple):\n    a: int = 1\n    b: str", {"NamedTuple": NamedTuple, "__name__": "wrong"})

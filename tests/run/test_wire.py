"""Values are unchanged by a pipe; repeated values are held in memory once."""

from __future__ import annotations

from typing import Any

import pytest

from kcheck.text.span import Range
from kcheck.workers import transport
from kcheck.workers.transport import Receiver, Sender

VALUES: list[Any] = [
    {"a": ["spec.selector", "spec.selector"], "b": (1, None, "")},
    ["spec.selector", "é\udc80", "x" * 500, frozenset(), frozenset({"a"})],
    Range(1, 2, 1, 2),
]


@pytest.fixture
def much(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first byte on there is much."""
    monkeypatch.setattr(transport, "_PLAIN_BYTES", 0)


def test_a_little_comes_out_the_same() -> None:
    sender, receiver = Sender(), Receiver()
    assert [receiver.unpack(sender.pack(value)) for value in VALUES] == VALUES


def test_from_a_little_to_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_PLAIN_BYTES", 150)
    sender, receiver = Sender(), Receiver()
    assert [receiver.unpack(sender.pack(value)) for value in VALUES * 5] == VALUES * 5


@pytest.mark.usefixtures("much")
def test_much_comes_out_the_same() -> None:
    sender, receiver = Sender(), Receiver()
    received = [receiver.unpack(sender.pack(value)) for value in VALUES * 2]
    assert received == VALUES * 2
    assert received[0]["a"][0] is received[4][0]
    assert type(received[2]) is Range


@pytest.mark.usefixtures("much")
def test_a_text_goes_once() -> None:
    sender = Sender()
    first, second = (sender.pack(["spec.template.metadata.labels"] * 10) for _ in range(2))
    assert len(second) < len(first) - 20


@pytest.mark.usefixtures("much")
def test_what_does_not_pickle_leaves_no_gap() -> None:
    sender, receiver = Sender(), Receiver()
    receiver.unpack(sender.pack("a"))
    with pytest.raises(Exception, match="pickle"):
        sender.pack(["b", "c", lambda: None])
    assert receiver.unpack(sender.pack(["c", "a", "b"])) == ["c", "a", "b"]


@pytest.mark.usefixtures("much")
def test_only_so_many_texts_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_MAX_SHARED_STRINGS", 2)
    sender, receiver = Sender(), Receiver()
    for value in (["a", "b", "c", "d"], ["d", "c", "b", "a"]):
        assert receiver.unpack(sender.pack(value)) == value

"""Ports by number and by name."""

import pytest

from kcheck.kube import ports
from kcheck.kube.ports import HostPort, Port
from kcheck.text.complaint import concise


@pytest.mark.parametrize(("value", "fine"), [(0, False), (1, True), (65535, True), (65536, False), (-1, False)])
def test_number(value: int, fine: bool) -> None:
    assert (ports.number(value) == "") is fine


@pytest.mark.parametrize(
    ("value", "fine"), [(80, True), ("http", True), ("80", False), ("", False), (0, False), ("http-alt-port-long", False)]
)
def test_reference(value: int | str, fine: bool) -> None:
    assert (ports.reference(value) == "") is fine


def test_a_number_in_quotes_is_named() -> None:
    assert concise(ports.reference("80")) == '"80" is a string, so it is used as a port name; use 80 without quotes'


def test_resolve() -> None:
    declared = [Port(53, "dns", "UDP"), Port(5353, "dns", "TCP")]
    assert ports.resolve("dns", declared) == 5353
    assert ports.resolve("dns", declared, "UDP") == 53
    assert ports.resolve("http", declared) is None
    assert ports.resolve(80, declared) == 80


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (HostPort(80), HostPort(80), True),
        (HostPort(80), HostPort(81), False),
        (HostPort(80), HostPort(80, "UDP"), False),
        (HostPort(80, address="10.0.0.1"), HostPort(80, address="10.0.0.2"), False),
        (HostPort(80, address="10.0.0.1"), HostPort(80), True),
        (HostPort(80, address=""), HostPort(80), True),
    ],
)
def test_collide(first: HostPort, second: HostPort, expected: bool) -> None:
    assert ports.collide(first, second) is ports.collide(second, first) is expected

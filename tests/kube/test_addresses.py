"""Addresses and networks; the answers are those of a kube-apiserver 1.36."""

import pytest

from kcheck.kube import addresses
from kcheck.text.complaint import concise


@pytest.mark.parametrize("text", ["10.9.8.0/24", "0.0.0.0/0", "10.1.2.3/32", "::/0", "fd00:10:244:1::/64", "2001:DB8::/32"])
def test_networks(text: str) -> None:
    assert addresses.network(text) == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("10.0.0.1/8", "use 10.0.0.0/8"),
        ("2001:db8::1/64", "use 2001:db8::/64"),
        ("10.0.0.0/08", "use 10.0.0.0/8"),
        ("010.0.0.0/8", "use 10.0.0.0/8"),
        ("::ffff:10.0.0.0/104", "use IPv4 notation"),
        ("10.0.0.0", "such as 10.0.0.0/24"),
        ("10.0.0.7", "such as 10.0.0.7/32"),
        ("fd00::", "such as fd00::/64"),
        ("10.0.0.0/33", "is not a valid network"),
        ("::/129", "is not a valid network"),
        ("10.0.0.0/-1", "is not a valid network"),
        ("10.0.0.0/", "is not a valid network"),
        ("10.0.0.0/8 ", "is not a valid network"),
        ("10.0.0/8", "is not a valid network"),
        ("/8", "is not a valid network"),
        ("", '"" is not a valid network'),
    ],
)
def test_no_networks(text: str, words: str) -> None:
    assert words in concise(addresses.network(text))


def test_the_usual_spelling() -> None:
    assert addresses.usual_network("2001:DB8::/32") == "2001:db8::/32"
    assert addresses.usual_network("2001:db8::/32") == ""
    assert addresses.usual_network("10.0.0.0/8") == ""


@pytest.mark.parametrize("text", ["10.9.8.7", "0.0.0.0", "::", "2001:DB8::1", "2001:0db8:0::1", "::1.2.3.4"])
def test_addresses(text: str) -> None:
    assert addresses.ip(text) == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("010.96.1.1", "use 10.96.1.1"),
        ("::ffff:10.0.0.1", "use 10.0.0.1"),
        ("00001::1", "use 1::1"),
        ("::ffff:010.0.0.1", "leading zeros"),
        ("10.0.0.0/8", "such as 10.0.0.0"),
        ("256.1.1.1", "is not a valid IP address"),
        ("1.2.3", "is not a valid IP address"),
        ("[::1]", "is not a valid IP address"),
        ("fe80::1%eth0", "is not a valid IP address"),
        ("localhost", "is not a valid IP address"),
        ("", '"" is not a valid IP address'),
    ],
)
def test_no_addresses(text: str, words: str) -> None:
    assert words in concise(addresses.ip(text))


@pytest.mark.parametrize("text", ["010.96.1.1", "::ffff:10.0.0.1", "00001::1"])
def test_what_was_an_address_before(text: str) -> None:
    assert addresses.ip(text, strict=False) == ""
    assert addresses.ip(addresses.usual(text)) == ""


@pytest.mark.parametrize("text", ["010.0.0.0/8", "10.0.0.1/8", "10.0.0.0/08"])
def test_what_was_a_network_before(text: str) -> None:
    assert addresses.network(text, strict=False) == ""
    assert addresses.usual_network(text) == "10.0.0.0/8"


def test_families() -> None:
    texts = ("10.0.0.1", "::ffff:10.0.0.1", "10.0.0.0/8", "::1", "2001:db8::/32", "None", "")
    assert [addresses.family(text) for text in texts] == [4, 4, 4, 6, 6, 0, 0]


def test_addresses_of_no_other_host() -> None:
    special = ("0.0.0.0", "::", "127.1.2.3", "::1", "169.254.1.1", "fe80::1", "febf::1", "224.0.0.9", "ff02::1", "::ffff:127.0.0.1")
    assert all(map(addresses.special, special))
    assert not any(map(addresses.special, ("10.0.0.1", "224.0.1.1", "fec0::1", "2001:db8::1", "::2", "no address")))


@pytest.mark.parametrize(
    ("outer", "inner", "inside"),
    [
        ("10.0.0.0/8", "10.1.0.0/16", True),
        ("10.0.0.0/8", "10.0.0.0/8", False),
        ("10.0.0.0/8", "0.0.0.0/0", False),
        ("10.0.0.0/8", "11.0.0.0/16", False),
        ("0.0.0.0/0", "2001:db8::/32", False),
        ("2001:db8::/32", "2001:db8:1::/48", True),
    ],
)
def test_networks_in_networks(outer: str, inner: str, inside: bool) -> None:
    whole, part = addresses.parse_network(outer), addresses.parse_network(inner)
    assert whole is not None
    assert part is not None
    assert whole.contains(part) is inside

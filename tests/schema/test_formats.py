"""The formats of strings, by texts that the API server was asked about or that its source decides."""

from __future__ import annotations

import time

import pytest

from kcheck.schema.crd.formats import find_format

CASES = {
    "date-time": (["2024-01-02T03:04:05Z", "2024-01-02t03:04:05z", "2024-01-02T03:04:05.5+01:00"],
                  ["2024-01-02 03:04:05Z", "2024-01-02T03:04:05", "2024-02-30T00:00:00Z", "2024-01-02T24:00:00Z", "", "t"]),
    "date": (["2024-01-02", "2024-02-29", "0000-02-29"], ["2024-13-02", "24-01-02", "2023-02-29", "2024-1-2", ""]),
    "byte": (["YQ=="], ["YQ", "Y Q==", "", "_-8=", "YQ==\n"]),
    "duration": (["1h", "1h30m", "1.5h", "1 day", "1d", "3 weeks", "-1s", "1us", "1µs"], ["x", ""]),
    "uri": (["https://a", "/a", "x:y", "*", "http://u:p@[::1]:80/x%20y?q=%zz", "/a b", "mailto:a b", "http://a.b:"],
            ["a", "", "a b", "http://[::1", "#f", "http://a b", "http://a:x/", "http://a/%zz", "://a", "http://a\t"]),
    "ipv4": (["1.2.3.4", "01.2.3.4", "::ffff:1.2.3.4"], ["1.2.3", "::1", "1.2.3.256", "1.2.3.4.5", "0x7f.1", ""]),
    "ipv6": (["::1", "::ffff:1.2.3.4", "2001:DB8::1"], ["1.2.3.4", "fe80::1%e", ":::", ""]),
    "cidr": (["10.0.0.0/8", "10.0.0.1/8", "::/0", "010.0.0.0/8", "::1/128"],
             ["10.0.0.0/33", "10.0.0.0", "::/129", "10.0.0.0/", "10.0.0.0/-1"]),
    "email": (["a@b.c", "Joe <a@b.c>", "a@b", '"a b"@c', "<a@b>", "a@[1.2.3.4]", "é@b.c"],
              ["a", "", "a@", "@b", "a@b c", "a..b@c", "a@b>", "a b@c"]),
    "hostname": (["abc", "a-b", "www.example.com", "a-b.example.com", "1.example.com"],
                 ["a.b", "A.b", "a_b", "-a", "", "1.2.3.4", "a.b.", "my-host", "a..com", "a" * 64, "a-.com", "x.c0m"]),
    "mac": (["00:11:22:33:44:55", "00-11-22-33-44-55", "0011.2233.4455", "00:11:22:33:44:55:66:77"],
            ["x", "00:11-22:33:44:55", "00:11:22", ""]),
    "uuid": (["8d2f7c1e-3a4b-4c5d-8e6f-7a8b9c0d1e2f", "8D2F7C1E3A4B4C5D8E6F7A8B9C0D1E2F"], ["x", ""]),
    "uuid3": (["8d2f7c1e-3a4b-3c5d-8e6f-7a8b9c0d1e2f"], ["8d2f7c1e-3a4b-4c5d-8e6f-7a8b9c0d1e2f"]),
    "uuid4": (["8d2f7c1e-3a4b-4c5d-8e6f-7a8b9c0d1e2f"], ["8d2f7c1e-3a4b-4c5d-ce6f-7a8b9c0d1e2f"]),
    "uuid5": (["8d2f7c1e-3a4b-5c5d-8e6f-7a8b9c0d1e2f"], ["8d2f7c1e-3a4b-4c5d-8e6f-7a8b9c0d1e2f"]),
    "isbn": (["0321751043", "978-0321751041"], ["123", "978-0321751042"]),
    "isbn10": (["0321751043", "0-8044-2957-X"], ["0321751044", "978-0321751041"]),
    "isbn13": (["978-0321751041"], ["978-0321751042", "0321751043"]),
    "creditcard": (["4111111111111111", "4111 1111 1111 1111"], ["123", "4111111111111112", ""]),
    "ssn": (["123-45-6789", "123 45 6789"], ["123456789", "1"]),
    "hexcolor": (["#fff", "fff", "#00FF00"], ["#ggg", "#ffff", ""]),
    "rgbcolor": (["rgb(1,2,3)", "rgb( 1 , 2 , 255 )"], ["rgb(256,1,1)", "rgb(1%,2%,3%)", ""]),
    "password": (["", "x"], []),
    "bsonobjectid": (["507f1f77bcf86cd799439011"], ["x", ""]),
    "quantity": (["1Gi", "500m"], ["1GiB", ""]),
    "k8s-short-name": (["abc"], ["A_b", "a.b", ""]),
    "k8s-long-name": (["a.b"], ["A..b", ""]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_format(name: str) -> None:
    good, bad = CASES[name]
    format = find_format(name)
    assert format is not None
    for text in good:
        assert format.fits(text), text
    for text in bad:
        assert not format.fits(text), text


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("piece", ["a", "a.", '"', " ", "1", "a@", "1 d", "%41", "-", "0:", "\\", "(", "<"])
def test_no_text_takes_long(name: str, piece: str) -> None:
    format = find_format(name)
    assert format is not None
    start = time.process_time()
    format.fits(piece * 5000)
    format.fits(piece * 5000 + "!")
    assert time.process_time() - start < 2


@pytest.mark.parametrize("name", ["int32", "made-up", "ip", "time", ""])
def test_other_formats_are_ignored(name: str) -> None:
    assert find_format(name) is None


@pytest.mark.parametrize("name", CASES)
def test_the_example_of_a_format_has_it(name: str) -> None:
    format = find_format(name)
    assert format is not None
    assert format.fits(format.example.removesuffix(" (base64)").partition(" or ")[0])

"""Decoding of PEM and DER, the formats of certificates, keys and certificate requests."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import base64, pattern

SEQUENCE, INTEGER, BITS, OCTETS = 0x30, 0x02, 0x03, 0x04

_BLOCK = pattern(rb"-----BEGIN ([^\n]*?)-----[ \t\r]*\n(?:[^\n]*: [^\n]*\n)*([A-Za-z0-9+/=\s]*)-----END \1-----")


class BadDer(ValueError):
    """Bytes that are not valid DER or not of the expected type."""


def blocks(text: bytes) -> Iterator[tuple[str, bytes]]:
    """The label and bytes of each PEM block in a text."""
    for match in _BLOCK.finditer(text):
        try:
            yield match[1].decode("latin-1"), base64.decode("".join(match[2].decode("ascii").split()))
        except base64.BadBase64:
            continue


def only(data: bytes, tag: int) -> bytes:
    """The content of the first value. Raises BadDer where it does not have this tag."""
    found = parts(data)
    if not found or found[0][0] != tag:
        raise BadDer
    return found[0][1]


def parts(data: bytes) -> list[tuple[int, bytes]]:
    """The tag and content of each DER value in a sequence. Raises BadDer for invalid lengths."""
    found: list[tuple[int, bytes]] = []
    at = 0
    while at < len(data):
        if at + 2 > len(data):
            raise BadDer
        tag, size, at = data[at], data[at + 1], at + 2
        if size & 0x80:
            count = size & 0x7F
            size, at = int.from_bytes(data[at : at + count], "big"), at + count
        if at + size > len(data):
            raise BadDer
        found.append((tag, data[at : at + size]))
        at += size
    return found

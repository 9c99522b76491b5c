"""Digests of bytes, for cache keys and checksums."""

from __future__ import annotations

from hashlib import sha256

DIGEST_SIZE = 16
"""Bytes of a digest."""


def digest_of(data: bytes | memoryview) -> bytes:
    """The digest of some bytes."""
    # Processors have instructions for SHA-256.
    return sha256(data).digest()[:DIGEST_SIZE]


def digest_of_parts(*parts: bytes | memoryview) -> bytes:
    """The digest of several pieces. Their lengths count: different lists of parts have different digests."""
    return digest_of(b"".join(each for part in parts for each in (len(part).to_bytes(8, "little"), part)))

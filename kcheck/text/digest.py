"""Digests of bytes, for cache keys and checksums."""

from __future__ import annotations

from hashlib import sha256
from struct import pack

DIGEST_SIZE = 16
"""Size of a digest in bytes."""


def digest_of(data: bytes | memoryview) -> bytes:
    """Return the first 16 bytes of the SHA-256 digest of `data`."""
    # SHA-256 is the fastest choice: CPUs have instructions for it.
    return sha256(data).digest()[:DIGEST_SIZE]


def digest_of_parts(*parts: bytes | memoryview) -> bytes:
    """Return the digest of several parts. Number and lengths are included, so different lists of parts have different digests."""
    sizes = pack(f"<{len(parts) + 1}Q", len(parts), *map(len, parts))
    return digest_of(b"".join((sizes, *parts)))

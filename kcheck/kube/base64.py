"""Base64 as the API server reads a field of bytes (Secret data, caBundle): the rules of Go's encoding/base64, StdEncoding.

The standard alphabet with padding. Carriage returns and line feeds are skipped everywhere, other whitespace is not. Surplus
bits of the last character are ignored. The decoders of Python are laxer in some cases and stricter in others.
"""

from __future__ import annotations

import binascii

from kcheck.text.complaint import Complaint, concise
from kcheck.text.pattern import pattern

_DIGITS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_BREAKS = b"\r\n"
_INVALID = pattern(rb"[^A-Za-z0-9+/\r\n]")
# What people write instead of the rest of a long value: three dots, or the one character for them.
_ELISION = pattern(rb"\s*(?:\.\.\.|\xe2\x80\xa6)\s*")
_ONLY_BREAKS = pattern(rb"[\r\n]*")


class BadBase64(ValueError):
    """Text that is not valid base64; `offset` is the character at which the server stops reading."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(concise(message))
        self.message = message
        self.offset = offset


_PLAIN_OR_ENCODED = "move plain text to stringData of a Secret, or encode the value: printf %s VALUE | base64 -w0"


def decode(text: str) -> bytes:
    """The bytes of a base64 text. Raises BadBase64 with the offset that the server reports."""
    data = text.encode("utf-8", "surrogatepass")
    packed = data.translate(None, _BREAKS)
    digits = packed.rstrip(b"=")
    # Fast path in C: complete groups of four digits, with at most two '=' at the end.
    if len(packed) % 4 == 0 and len(packed) - len(digits) <= 2 and not digits.translate(None, _DIGITS):
        return binascii.a2b_base64(packed)
    raise _diagnose(data)


def _diagnose(data: bytes) -> BadBase64:
    """Why the text is rejected and where. All bytes before that place are ASCII, so the offset counts characters, too."""
    invalid = _INVALID.search(data)
    end = invalid.start() if invalid else len(data)
    used = (end - data.count(b"\r", 0, end) - data.count(b"\n", 0, end)) % 4
    if invalid is None:
        missing = "its length is not a multiple of 4" if used == 1 else f'the "{"=" * (4 - used)}" padding is missing'
        return BadBase64(Complaint(f"invalid base64: {missing}", _PLAIN_OR_ENCODED), end - used)
    if _ELISION.fullmatch(data, end):
        return BadBase64(
            Complaint("invalid base64: the value is abbreviated with dots", "replace the dots with the rest of the value"), end
        )
    found = data[end : end + 4].decode("utf-8", "replace")[0]
    if found != "=":
        return BadBase64(_explain_character(found), end)
    if used < 2:
        return BadBase64(Complaint('invalid base64: "=" is not allowed at this position', "encode the value again with base64 -w0"), end)
    place = end + 1
    if used == 2:
        place = _skip(data, place)
        if place == len(data):
            return BadBase64(Complaint('invalid base64: one "=" of the padding is missing', 'add another "=" at the end'), place)
        if data[place] != ord("="):
            return BadBase64(
                Complaint('invalid base64: "=" is only allowed at the end', "encode the value again with base64 -w0"), place - 1
            )
        place += 1
    message = Complaint('invalid base64: more text follows the "=" padding', "encode the whole value at once with base64 -w0")
    return BadBase64(message, _skip(data, place))


def _explain_character(found: str) -> str:
    if found in "-_":
        help = f'use "{"+" if found == "-" else "/"}" instead'
        return Complaint(f'invalid base64: "{found}" belongs to the URL-safe alphabet', help)
    if found in " \t":
        return Complaint("invalid base64: whitespace other than line breaks is not allowed", "remove the whitespace")
    shown = f'"{found}"' if found.isprintable() else repr(found)
    return Complaint(f"invalid base64: {shown} is not a base64 character", _PLAIN_OR_ENCODED)


def _skip(data: bytes, place: int) -> int:
    match = _ONLY_BREAKS.match(data, place)
    return match.end() if match else place

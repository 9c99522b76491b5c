"""Encoding of values as plain data, and decoding by type hints: the data does not decide which types are created.

kcheck reads its own values from disk (cache, shard files) only in this format, because the files may come from an untrusted source.
Decoding takes time and memory proportional to the data, runs no code that the data names, and returns a value of the requested type
or raises `DecodeError`.

A value is encoded as a list of distinct strings and a list of integers of at most 65 bits:

    str                     its index in the list of strings
    int                     the integer
    bool, Literal, IntEnum  its index among the possible values
    X | Y | None            the index of the alternative, then its value
    tuple, list, frozenset  the number of items, then each item (sets are sorted; a tuple of fixed length has no length)
    Mapping                 the number of items, then keys and values in turn
    NamedTuple, dataclass   its fields; if some have defaults, preceded by an integer with a bit for each of those that is present
    Location, ObjectId      its index among the values of its class; for a new value, its fields follow
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable
from itertools import chain
from typing import Any

from kcheck.codec.type_codec import REPEATED, reader, writer
from kcheck.text.record import NamedTuple

_BITS = 64
_END = "\0"
_SIZE = 4


class DecodeError(ValueError):
    """The data is not a value of the type, or the value cannot be encoded."""


class Plain(NamedTuple):
    """A value as plain data: its strings and its integers."""

    texts: list[str]
    numbers: Iterable[int]


def encode(value: object, kind: Any) -> Plain:
    """Encode a value of a type. Raises DecodeError for a value of another type."""
    texts: dict[str, int] = {}
    numbers: list[int] = []
    try:
        writer(kind)(value, numbers.append, texts, [{} for _ in REPEATED])
        plain = Plain(list(map(str.__str__, texts)), numbers)
        _check(plain)
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
        raise _misfit(kind, error) from None
    return plain


def decode(data: Any, kind: Any) -> Any:
    """Decode plain data, as read by `json`, into a value of a type. Raises DecodeError."""
    try:
        plain = Plain(*data)
        _check(plain)
    except (TypeError, ValueError) as error:
        raise _misfit(kind, error) from None
    return _made(*plain, kind)


def packed(value: object, kind: Any) -> bytes:
    """Encode a value of a type as bytes in the byte order of this machine. Raises DecodeError for another type or too large integers."""
    texts, numbers = encode(value, kind)
    if any(_END in text for text in texts):
        raise DecodeError("a text holds a NUL character")
    try:
        some = array("i", numbers).tobytes()
    except OverflowError as error:
        raise _misfit(kind, error) from None
    text = "".join(chain.from_iterable((text, _END) for text in texts))
    return len(some).to_bytes(_SIZE, sys.byteorder) + some + text.encode("utf-8", "surrogatepass")


def unpacked(data: bytes | memoryview, kind: Any) -> Any:
    """Decode bytes from `packed`. Raises DecodeError."""
    try:
        end = _SIZE + int.from_bytes(data[:_SIZE], sys.byteorder)
        numbers = array("i", bytes(data[_SIZE:end]))
        texts = str(data[end:], "utf-8", "surrogatepass").split(_END)
        if texts.pop() or len(data) < end:
            raise ValueError("the data ends too early")
    except ValueError as error:
        raise _misfit(kind, error) from None
    return _made(texts, numbers, kind)


def _check(plain: Plain) -> None:
    """Raises TypeError or ValueError unless the data is a list of strings and a list of integers."""
    texts, numbers = plain
    if not (isinstance(texts, list) and isinstance(numbers, list) and set(map(type, texts)) <= {str} and set(map(type, numbers)) <= {int}):
        raise TypeError("not a list of texts and a list of numbers")
    # Python does not convert integers of more than 4,300 digits by default; the API has at most 64 bits.
    if numbers and (min(numbers) < -(1 << _BITS) or max(numbers) > 1 << _BITS):
        raise ValueError("a number is too large")


def _made(texts: list[str], numbers: Iterable[int], kind: Any) -> Any:
    following = iter(numbers)
    try:
        value = reader(kind)(following.__next__, texts, ([], []))
    except StopIteration:
        raise DecodeError(f"{_name(kind)}: the data ends too early") from None
    except (TypeError, ValueError, LookupError, OverflowError, RecursionError) as error:
        raise _misfit(kind, error) from None
    if next(following, None) is not None:
        raise DecodeError(f"{_name(kind)}: there is more data than the value needs")
    return value


def _misfit(kind: Any, error: Exception) -> DecodeError:
    return DecodeError(f"{_name(kind)}: {type(error).__name__}: {error}")


def _name(kind: Any) -> str:
    return getattr(kind, "__name__", str(kind))

"""Values of our own classes as plain data and back, by their type hints: the data has no say in what is made of it.

This is the only format in which kcheck reads its own values from disk, the cache and shard files, which may come from somebody else.
Reading takes time and memory in proportion to the data, runs no code that the data names, and gives a value of the type that was
asked for or raises `DecodeError`.

A value is a list of texts, each of them once, and a list of numbers that fit into 65 bits:

    str                     its number in the list of texts
    int                     itself
    bool, Literal, IntEnum  its number among the possible values
    X | Y | None            the number of the alternative, then its value
    tuple, list, frozenset  how many items, then each of them (sets sorted; a tuple of fixed length without its length)
    Mapping                 how many items, then key and value in turn
    NamedTuple, dataclass   its fields; before them, where some have defaults, a number with a bit for each of those that is given
    Place, ObjectId         its number among those of the same class; where it is a new one, its fields follow
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
    """Data that is not a value of its type, or a value that has no form as data."""


class Plain(NamedTuple):
    """A value as plain data."""

    texts: list[str]
    numbers: Iterable[int]


def encode(value: object, kind: Any) -> Plain:
    """A value of a type as plain data. Raises Misfit for a value that is not of this type."""
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
    """The value of a type that plain data stands for, as `json` reads it. Raises Misfit."""
    try:
        plain = Plain(*data)
        _check(plain)
    except (TypeError, ValueError) as error:
        raise _misfit(kind, error) from None
    return _made(*plain, kind)


def packed(value: object, kind: Any) -> bytes:
    """A value of a type as bytes for this machine. Raises Misfit for a value that is not of this type, and for large numbers."""
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
    """The value that was packed. Raises Misfit."""
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
    """Raises TypeError or ValueError for what is not a list of texts and one of numbers."""
    texts, numbers = plain
    if not (isinstance(texts, list) and isinstance(numbers, list) and set(map(type, texts)) <= {str} and set(map(type, numbers)) <= {int}):
        raise TypeError("not a list of texts and a list of numbers")
    # Python writes numbers of more than 4,300 digits only with difficulty; the API has none of more than 64 bits.
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

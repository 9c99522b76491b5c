"""How outcomes go from one process to another: a text that went before is a number, and stands in the memory of the other side once.

Without that a run of many files holds the same words and paths of fields as often as there are objects. It takes three times as long as
pickling alone, so a little goes without.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Mapping
from typing import Any

from kcheck.check.input_kinds import InputKind
from kcheck.text.source import Source

_LONG = 120
"""Characters of texts that are hardly ever met again."""

_MOST = 100_000
"""Texts that are remembered."""

_LITTLE = 4_000_000
"""Bytes of which it does not matter how often they say the same."""

_EMPTY = frozenset[Any]()


class Inherited:
    """What goes to a process that was a copy of this one: files that it had then are numbers, and so are the texts of kinds in them."""

    def __init__(self, sources: Mapping[int, Source]) -> None:
        self._sources = sources
        self._numbers = {id(source): number for number, source in sources.items()}

    def pack(self, value: object) -> bytes:
        """Raises whatever pickling raises."""
        buffer = io.BytesIO()
        _Referring(buffer, self._sources, self._numbers).dump(value)
        return buffer.getvalue()

    def unpack(self, data: bytes | memoryview) -> Any:
        """What was packed, in the other process."""
        return _Dereferring(io.BytesIO(data), self._sources).load()


class _Referring(pickle.Pickler):
    def __init__(self, file: io.BytesIO, sources: Mapping[int, Source], numbers: Mapping[int, int]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._sources = sources
        self._numbers = numbers

    def persistent_id(self, value: Any) -> Any:
        if value.__class__ is Source:
            return self._numbers.get(id(value))
        if value.__class__ is InputKind and value.text.__class__ is str and value.file in self._sources:
            return (*value._replace(text=""), value.start + len(value.text))
        return None


class _Dereferring(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, sources: Mapping[int, Source]) -> None:
        super().__init__(file)
        self._sources = sources
        # Kinds that share a text still do.
        self._texts: dict[tuple[int, int], str] = {}

    def persistent_load(self, sent: Any) -> Source | InputKind:
        if sent.__class__ is int:
            return self._sources[sent]
        *parts, end = sent
        kind = InputKind(*parts)
        if (kind.file, kind.start) not in self._texts:
            self._texts[kind.file, kind.start] = self._sources[kind.file].text[kind.start : end]
        return kind._replace(text=self._texts[kind.file, kind.start])


class Sender:
    """One end of a pipe: values to bytes."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._sent = 0

    def pack(self, value: object) -> bytes:
        """Raises whatever pickling raises; the value is as good as never sent then."""
        if self._sent < _LITTLE:
            data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
            self._sent += len(data)
            return data
        buffer, known = io.BytesIO(), len(self._numbers)
        try:
            _Pickler(buffer, self._numbers).dump(value)
        except BaseException:
            for text in list(self._numbers)[known:]:
                del self._numbers[text]
            raise
        return buffer.getvalue()


class Receiver:
    """The other end: the bytes of all that was sent, in its order, to values."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def unpack(self, data: bytes) -> Any:
        return _Unpickler(io.BytesIO(data), self._texts).load()


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, numbers: dict[str, int]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._numbers = numbers

    def persistent_id(self, value: Any) -> str | int | None:
        """A text when it goes first, its number from then on; None for what goes as it is."""
        if value.__class__ is str:
            number = self._numbers.get(value)
            if number is not None:
                return number
            if len(value) <= _LONG and len(self._numbers) < _MOST:
                self._numbers[value] = len(self._numbers)
                return value
        elif value.__class__ is frozenset and not value:
            return -1
        return None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, texts: list[str]) -> None:
        super().__init__(file)
        self._texts = texts

    def persistent_load(self, sent: str | int) -> str | frozenset[Any]:
        if sent.__class__ is int:
            return self._texts[sent] if sent >= 0 else _EMPTY
        text = sys.intern(str(sent))
        self._texts.append(text)
        return text

"""Serializes values sent between processes: a repeated string is sent as a number and exists once in the receiving process.

Otherwise, a run of many files holds the same strings and field paths once per object. It takes three times as long as pickling
alone, so the first data is pickled without it.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Mapping
from typing import Any

from kcheck.check.input_kinds import InputKind
from kcheck.text.source import Source

_MAX_NUMBERED_CHARS = 120
"""Maximum characters of strings that are numbered; longer ones rarely repeat."""

_MAX_SHARED_STRINGS = 100_000
"""Maximum number of numbered strings."""

_PLAIN_BYTES = 4_000_000
"""Bytes that are pickled without numbering strings."""

_EMPTY = frozenset[Any]()


class Inherited:
    """Serializes values for forked processes: files that existed before the fork, and definitions in them, are sent as numbers."""

    def __init__(self, sources: Mapping[int, Source]) -> None:
        self._sources = sources
        self._numbers = {id(source): number for number, source in sources.items()}

    def pack(self, value: object) -> bytes:
        """Serialize a value. Raises the same errors as pickling."""
        buffer = io.BytesIO()
        _FilePickler(buffer, self._sources, self._numbers).dump(value)
        return buffer.getvalue()

    def unpack(self, data: bytes | memoryview) -> Any:
        """Deserialize a value in the other process."""
        return _FileUnpickler(io.BytesIO(data), self._sources).load()


class _FilePickler(pickle.Pickler):
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


class _FileUnpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, sources: Mapping[int, Source]) -> None:
        super().__init__(file)
        self._sources = sources
        # Kinds with the same text keep sharing it.
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
    """The sending end of a pipe: values to bytes."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._sent = 0

    def pack(self, value: object) -> bytes:
        """Serialize a value. Raises the same errors as pickling; the value counts as not sent then."""
        if self._sent < _PLAIN_BYTES:
            data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
            self._sent += len(data)
            return data
        buffer, known = io.BytesIO(), len(self._numbers)
        try:
            _StringPickler(buffer, self._numbers).dump(value)
        except BaseException:
            for text in list(self._numbers)[known:]:
                del self._numbers[text]
            raise
        return buffer.getvalue()


class Receiver:
    """The receiving end of a pipe: bytes to values, in the order they were sent."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def unpack(self, data: bytes) -> Any:
        return _StringUnpickler(io.BytesIO(data), self._texts).load()


class _StringPickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, numbers: dict[str, int]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._numbers = numbers

    def persistent_id(self, value: Any) -> str | int | None:
        """Return a string the first time and its number afterwards; None for values that are pickled as usual."""
        if value.__class__ is str:
            number = self._numbers.get(value)
            if number is not None:
                return number
            if len(value) <= _MAX_NUMBERED_CHARS and len(self._numbers) < _MAX_SHARED_STRINGS:
                self._numbers[value] = len(self._numbers)
                return value
        elif value.__class__ is frozenset and not value:
            return -1
        return None


class _StringUnpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, texts: list[str]) -> None:
        super().__init__(file)
        self._texts = texts

    def persistent_load(self, sent: str | int) -> str | frozenset[Any]:
        if sent.__class__ is int:
            return self._texts[sent] if sent >= 0 else _EMPTY
        text = sys.intern(str(sent))
        self._texts.append(text)
        return text

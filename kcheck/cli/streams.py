"""Handling of standard output and standard error that are closed, full or no longer read."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, TextIO, cast


class Unwritable(OSError):
    """Standard output cannot be written."""


class ReaderGone(BrokenPipeError):
    """The reader of standard output has closed it. Has no errno, because click exits with 1 for EPIPE, which means findings in kcheck."""


def guard_streams() -> None:
    """Makes errors of standard output raise Unwritable or ReaderGone. Errors of standard error are ignored: they cannot be reported
    anywhere, and must not affect the exit status.
    """
    _occupy_descriptors()
    sys.stdout = cast(TextIO, _Output(sys.stdout))
    sys.stderr = cast(TextIO, _Messages(sys.stderr or open(os.devnull, "w", encoding="utf-8")))  # noqa: SIM115


def _occupy_descriptors() -> None:
    """Opens closed standard descriptors on the null device. Otherwise the next opened file would get their number and the output."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # open() returns the lowest free number, which is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


class _Output:
    """Standard output, for text or bytes. The wrapped stream is None if it was closed when the program started."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.encoding = getattr(stream, "encoding", "utf-8")
        self.errors = getattr(stream, "errors", "strict")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @property
    def buffer(self) -> Any:
        """The wrapper for bytes."""
        return _Output(getattr(self._stream, "buffer", None))

    @property
    def closed(self) -> bool:
        """Whether there is nothing left to flush at exit."""
        return self._stream is None or bool(self._stream.closed)

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._stream is not None and bool(self._stream.isatty())

    def write(self, data: Any) -> int:
        """Raises Unwritable or ReaderGone."""
        if self._stream is None:
            raise Unwritable(errno.EBADF, "standard output is closed")
        try:
            written: int = self._stream.write(data)
        except OSError as error:
            raise _output_error(error) from None
        return written

    def writelines(self, lines: Iterable[Any]) -> None:
        """Raises Unwritable or ReaderGone."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Raises Unwritable or ReaderGone."""
        try:
            if self._stream is not None:
                self._stream.flush()
        except OSError as error:
            raise _output_error(error) from None


def _output_error(error: OSError) -> OSError:
    return ReaderGone() if isinstance(error, BrokenPipeError) else Unwritable(error.errno, error.strerror or str(error))


class _Messages:
    """Standard error."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, if possible."""
        try:
            return self._stream.write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        """Flush, if possible."""
        with suppress(OSError):
            self._stream.flush()

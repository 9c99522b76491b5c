"""Where a report goes: standard output, or a file that is there whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO


def is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def wants_colour(choice: str, stream: TextIO) -> bool:
    """Whether to paint: as told by `auto`, `always` or `never`, the environment (no-color.org, force-color.org), the terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_terminal(stream) and os.environ.get("TERM") != "dumb"


def close_quietly() -> None:
    """After the reader of our output has gone: what is left in buffers must not complain at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def written(path: str) -> Iterator[TextIO]:
    """A text file to write, which takes the place of `path` when all is written; its permissions stay. Raises OSError.

    What is no regular file (a device, a pipe) is written as it is, and a link stays one.
    """
    real = os.path.realpath(path)
    mode = _mode(real)
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "w", encoding="utf-8", newline="\n") as out:
            yield out
        return
    folder, name = os.path.split(real)
    draft = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    try:
        with open(draft, "x", encoding="utf-8", newline="\n") as out:
            if mode is not None:
                os.chmod(draft, stat.S_IMODE(mode))
            yield out
        os.replace(draft, real)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None

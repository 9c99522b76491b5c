"""Where a report goes: standard output, or a file that is there whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import TextIO

import click

from kcheck.cli.draft import Draft, mode_of
from kcheck.cli.settings import Failure
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.text.pattern import pattern

_LINE = pattern(r"[^\n]*\n|[^\n]+")


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a standard stream is a terminal; it is None where the process was started without it."""
    try:
        return stream is not None and stream.isatty()
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


def publish(path: str | None, colour: str, write: Callable[[TextIO, bool], None]) -> None:
    """Write a report to a file, or to standard output without a path. Raises Failure where that cannot be.

    `colour`: auto, always or never; `write` is told whether to paint.
    """
    try:
        if path:
            with written(path) as file:
                write(file, colour == "always")
            return
        write(sys.stdout, wants_colour(colour, sys.stdout))
        sys.stdout.flush()
    except BrokenPipeError:
        # Who reads has seen enough.
        close_quietly()
    except OSError as error:
        raise Failure(f"the report cannot be written: {error.strerror or error}") from None


def print_text(text: str) -> None:
    """Print as it is, for whom it is piped to; a terminal must not obey what a file holds."""
    if is_terminal(sys.stdout):
        glyphs = Glyphs.of(sys.stdout)
        text = "".join([glyphs.visible(line.rstrip("\r\n")) + "\n" for line in _LINE.findall(text)])
    # Bytes: a file's characters are its own, whatever the locale can write.
    click.echo(text.encode("utf-8", "surrogateescape"), nl=False)


def diff(path: str, old: str, new: str) -> str:
    """What changes of a text, for people and for `patch`."""
    import difflib

    name = Glyphs().visible(path)
    lines = difflib.unified_diff(_LINE.findall(old), _LINE.findall(new), f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def close_quietly() -> None:
    """After the reader of our output has gone: what is left in buffers must not complain at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def written(path: str) -> Iterator[TextIO]:
    """A text file to write, which replaces `path` when all is written; its permissions stay. Raises OSError.

    Devices and pipes are written directly, and links stay links.
    """
    mode = mode_of(path)
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "w", encoding="utf-8", newline="\n") as out:
            yield out
        return
    draft = Draft(path)
    try:
        with TextIOWrapper(draft.file, encoding="utf-8", newline="\n") as out:
            yield out
        draft.commit()
    finally:
        draft.discard()

"""Output to standard output, or to a file that is written completely or not at all."""

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
    """Whether a standard stream is a terminal. The stream is None if the process was started without it."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def echo_visibly(text: str) -> None:
    """Prints lines with names and texts of manifests: characters that control terminals are shown, not sent."""
    click.echo("\n".join(map(Glyphs.of(sys.stdout).visible, text.split("\n"))))


def wants_colour(choice: str, stream: TextIO) -> bool:
    """Whether to use colours, by `choice` (auto, always or never), the environment (no-color.org, force-color.org) and the terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_terminal(stream) and os.environ.get("TERM") != "dumb"


def publish(path: str | None, colour: str, write: Callable[[TextIO, bool], None]) -> None:
    """Writes a report to a file, or to standard output without a path. Raises Failure if it cannot be written.

    `colour`: auto, always or never. `write` is called with the stream and whether to use colours.
    """
    try:
        if path:
            with written(path) as file:
                write(file, colour == "always")
            return
        write(sys.stdout, wants_colour(colour, sys.stdout))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, for example `head`, has closed the pipe.
        close_quietly()
    except OSError as error:
        raise Failure(f"the report cannot be written: {error.strerror or error}") from None


def print_text(text: str) -> None:
    """Prints a text unchanged to a pipe or file. On a terminal, control characters are made visible, as the text may be untrusted."""
    if is_terminal(sys.stdout):
        glyphs = Glyphs.of(sys.stdout)
        text = "".join([glyphs.visible(line.rstrip("\r\n")) + "\n" for line in _LINE.findall(text)])
    # Written as bytes, so that it does not depend on the encoding of the locale.
    click.echo(text.encode("utf-8", "surrogateescape"), nl=False)


def diff(path: str, old: str, new: str) -> str:
    """Returns the changes of a text as a unified diff."""
    import difflib

    name = Glyphs().visible(path)
    lines = difflib.unified_diff(_LINE.findall(old), _LINE.findall(new), f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def close_quietly() -> None:
    """Redirects standard output to the null device after its reader has closed it, so that flushing at exit does not fail."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def written(path: str) -> Iterator[TextIO]:
    """Provides a text file that replaces `path` when the block completes. Permissions are kept. Raises OSError.

    Devices and pipes are written directly. Symbolic links are followed.
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

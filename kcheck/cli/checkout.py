"""Which files a command may write: a link in an untrusted checkout must not lead it to files elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import click

from kcheck.config.search import repository


def leads_out(path: str, named: Iterable[str] = ()) -> str:
    """The file that a path inside the checkout leads to by a link, where that file is outside; otherwise the empty text.

    The checkout is the repository around the current folder, or else the current folder; folders that the user `named` belong to it.
    """
    here = os.path.realpath(".")
    roots = {str(repository(Path(here)) or here), *(os.path.realpath(each) for each in named if os.path.isdir(each))}
    real = os.path.realpath(path)
    if any(_is_in(real, root) for root in roots):
        return ""
    folder = os.path.dirname(os.path.abspath(path))
    while True:
        if any(_is_in(os.path.realpath(folder), root) for root in roots):
            return real
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above


def _is_in(path: str, root: str) -> bool:
    return path == root or path.startswith(os.path.join(root, ""))


def require_output(path: str | None) -> None:
    """Raises UsageError for an --output that cannot or must not be written, before any work is done."""
    if not path:
        return
    if not os.path.isdir(os.path.dirname(os.path.realpath(path))):
        raise click.UsageError(f"--output: no such folder: {os.path.dirname(path)}")
    if real := leads_out(path):
        raise click.UsageError(f"--output: {path} is a link to {real}, outside the repository or current folder: use --output {real}")

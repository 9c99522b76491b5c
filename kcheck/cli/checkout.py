"""Protection of files outside the checkout: a symbolic link in an untrusted repository must not make a command write elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import click

from kcheck.config.search import repository


def leads_out(path: str, named: Iterable[str] = ()) -> str:
    """Returns the target of a path that is inside the checkout but links to a file outside of it; "" for other paths.

    The checkout is the repository that contains the current folder, otherwise the current folder, and the folders that the user `named`.
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


def require_output(path: str | None, option: str = "--output") -> None:
    """Raises UsageError if `path`, from a value of `option`, cannot or must not be written. Called before any work is done."""
    if not path:
        return
    if not os.path.isdir(os.path.dirname(os.path.realpath(path))):
        raise click.UsageError(f'{option}: folder "{os.path.dirname(path)}" does not exist')
    if real := leads_out(path):
        raise click.UsageError(
            f"{option}: {path} is a symbolic link to {real}, outside the repository or current folder; name that file instead"
        )

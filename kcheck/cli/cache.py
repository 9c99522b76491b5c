"""`kcheck cache info` and `kcheck cache clear`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from kcheck.cache.location import cache_folder
from kcheck.cache.store import clear as clear_folder
from kcheck.cache.store import contents
from kcheck.cli.settings import Failure


@click.group(short_help="Show or clear the cache.")
def cache() -> None:
    """Show or clear the cache of earlier checks.

    The cache folder is $KCHECK_CACHE_DIR, or $XDG_CACHE_HOME/kcheck, or ~/.cache/kcheck. KCHECK_NO_CACHE=1 disables the cache.
    """


@cache.command()
def info() -> None:
    """Show the location and size of the cache."""
    folder = _folder()
    if folder is None:
        return
    packs, size = contents(folder)
    click.echo(f"{folder}: {packs} files, {size / 1024 / 1024:.1f} MiB")


@cache.command()
def clear() -> None:
    """Delete all cached results."""
    folder = _folder()
    if folder is None:
        return
    try:
        packs, size = clear_folder(folder)
    except OSError as error:
        raise Failure(f"the cache cannot be cleared: {error.strerror or error}: {error.filename}") from None
    click.echo(f"{folder}: {packs} files removed, {size / 1024 / 1024:.1f} MiB")


def _folder() -> Path | None:
    """Returns the cache folder; None, after printing a message, without a home folder. Raises Failure if it cannot be read."""
    folder = cache_folder()
    if folder is None:
        click.echo("no cache: home folder not found")
        return None
    try:
        os.listdir(folder)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise Failure(f"kcheck: the cache {folder} cannot be read, so nothing is cached: {error.strerror or error}") from None
    return folder

"""Where the baseline of a run is."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from kcheck.baseline.baseline import Baseline
from kcheck.cli.settings import Failure
from kcheck.config.config import Config
from kcheck.config.search import find_file, repository

NAME = ".kcheck-baseline.json"
"""The name of a baseline that is found without an option or a key of the config."""


def load_baseline(option: str | None, disabled: bool, isolated: bool, config: Config) -> Baseline | None:
    """Returns the baseline of a run, None if there is none. Raises ClickException for one that cannot be read.

    Args:
        option: The value of `--baseline`.
        disabled: Whether `--no-baseline` is given.
        isolated: Whether `--isolated` is given: no file is used that is not named.
        config: The config.
    """
    if option and disabled:
        raise click.UsageError("--baseline and --no-baseline cannot be combined")
    if disabled or (isolated and not option):
        return None
    path = option or (os.path.relpath(config.baseline) if config.baseline else _find(config))
    if path is None:
        return None
    # Imported late: most runs have no baseline.
    from kcheck.baseline.file import BadBaseline, read_baseline

    try:
        return read_baseline(path)
    except BadBaseline as error:
        raise Failure(f"kcheck: baseline: {error}") from None


def path_of_baseline(option: str | None, isolated: bool, config: Config) -> str:
    """Returns the path of the baseline of a project, which need not exist: that of the option or the config; an existing file; otherwise
    next to the config, or in the root of the repository, or in the current folder.
    """
    if option:
        return option
    if config.baseline is not None:
        return os.path.relpath(config.baseline)
    existing = None if isolated else _find(config)
    if existing is not None:
        return existing
    here = Path(os.path.realpath("."))
    folder = here if isolated else config.folder if config.file else repository(here) or here
    return os.path.relpath(folder / NAME)


def _find(config: Config) -> str | None:
    """Returns the baseline next to the config, or the nearest one in the current folder and its parents."""
    if config.file is not None and os.path.isfile(config.folder / NAME):
        return os.path.relpath(config.folder / NAME)
    found = find_file(Path("."), NAME, _report_foreign)
    return os.path.relpath(found) if found else None


def _report_foreign(file: Path) -> None:
    from kcheck.reporters.terminal_safe import Glyphs

    shown = Glyphs.of(sys.stderr).visible(str(file))
    click.echo(f"kcheck: ignored {shown}: it belongs to another user; use --baseline to apply it", err=True)

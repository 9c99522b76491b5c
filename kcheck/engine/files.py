"""The files of a run."""

from __future__ import annotations

import os
from collections.abc import Sequence

from kcheck.check.time_limit import RESERVE, Budget, OutOfBudget
from kcheck.config.config import Config
from kcheck.discovery.discover import STDIN, Discovery, NoSuchPath, discover
from kcheck.discovery.glob import Excludes
from kcheck.engine.error import Error, InvalidOption
from kcheck.engine.options import CheckOptions
from kcheck.finding.report import SkippedFile


def find_files(
    paths: Sequence[str], options: CheckOptions, config: Config, budget: Budget, stdin_filename: str = "", as_found: bool = False
) -> Discovery:
    """Returns the files to check. Raises InvalidOption for paths that do not exist, Error if the search takes too long.

    `as_found`: skip paths that are not manifests, as in a folder search.
    """
    exclude, root = exclude_globs(options, config)
    try:
        with budget.limited(0, most=RESERVE):
            found = discover(paths, exclude=exclude, root=root, stdin_name=stdin_filename or STDIN)
    except NoSuchPath as error:
        raise InvalidOption("\n".join(error.messages)) from None
    except OutOfBudget as error:
        raise Error(f"file search stopped, nothing was checked: {error}") from None
    return _without_named(found, Excludes(exclude, root)) if as_found else found


def exclude_globs(options: CheckOptions, config: Config) -> tuple[tuple[str, ...], str]:
    """Return the globs of files to skip, and the folder that they are relative to."""
    return (options.exclude, ".") if options.exclude else (config.exclude, str(config.folder))


def _start_of_folders(path: str) -> int:
    """Returns the offset of the part of a path below the current folder, or of the file name if the file is elsewhere."""
    here = os.path.join(os.getcwd(), "")
    if path.startswith(here):
        return len(here)
    return path.rfind("/") + 1 if path.startswith(("/", "../")) else 0


def _without_named(found: Discovery, excludes: Excludes) -> Discovery:
    """Returns the files, none of them marked as named by the user: a hook gets every YAML file of a commit, also those that are not
    manifests.
    """
    targets, skipped = [], list(found.passed)
    for target in found.targets:
        if target.stdin:
            targets.append(target)
        elif pattern := excludes.match_with_folders(os.path.realpath(target.path)):
            skipped.append(SkippedFile(target.path, f"excluded by the config: {pattern}"))
        else:
            targets.append(target._replace(named=False, start=_start_of_folders(target.path)) if target.named else target)
    return found._replace(targets=targets, passed=skipped)

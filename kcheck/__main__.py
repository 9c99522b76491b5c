"""`python -m kcheck`. Does not load modules and plug-ins from the current folder.

`python -m` puts the current folder first on the import path. This module removes it before importing anything else, but cannot prevent
earlier imports: a package `kcheck` in the current folder runs instead of this one, and a `types.py` runs with any `python -m`. In an
untrusted folder, run `kcheck` or `python -P -m kcheck`.
"""

import os
import sys


def _remove_current_folder_from_path() -> None:
    try:
        here = os.getcwd()
    except OSError:
        here = ""
    if not sys.flags.safe_path and sys.path and sys.path[0] in ("", here):
        del sys.path[0]


_remove_current_folder_from_path()

from kcheck.cli.main import program  # noqa: E402

program()

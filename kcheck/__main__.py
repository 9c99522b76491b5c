"""`python -m kcheck`. Modules and plug-ins of the current folder are not loaded.

`python -m` puts the current folder first on the path; this module removes it before it imports anything else. It cannot prevent what Python
imports earlier: in a folder with a package `kcheck` that package runs, and a `types.py` runs with any `python -m`. Where the current
folder is not trusted, run `kcheck` or `python -P -m kcheck`.
"""

import os
import sys


def _leave_current_folder() -> None:
    try:
        here = os.getcwd()
    except OSError:
        here = ""
    if not sys.flags.safe_path and sys.path and sys.path[0] in ("", here):
        del sys.path[0]


_leave_current_folder()

from kcheck.cli.main import program  # noqa: E402

program()

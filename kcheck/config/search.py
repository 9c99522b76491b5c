"""Where the config file is. Apart from what reads it, for most runs have none."""

from __future__ import annotations

import os
from pathlib import Path

NAME = ".kcheck.yaml"


def find(start: Path) -> Path | None:
    """The config file nearest to a folder, in it or above, not above its repository; None where there is none."""
    folder = Path(os.path.abspath(start))
    for each in (folder, *folder.parents):
        if os.path.isfile(each / NAME):
            return each / NAME
        # A file of this name is what worktrees and submodules have instead of the folder.
        if os.path.exists(each / ".git"):
            return None
    return None

"""The location of the cache, and whether it is disabled."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path | None:
    """Return the default folder of the cache: KCHECK_CACHE_DIR or the folder of the XDG specification; None without a home folder."""
    if chosen := os.environ.get("KCHECK_CACHE_DIR"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The specification requires to ignore relative paths.
    if os.path.isabs(base):
        return Path(base) / "kcheck"
    home = os.path.expanduser("~")
    return Path(home) / ".cache" / "kcheck" if os.path.isabs(home) else None


def cache_is_off() -> bool:
    """Whether the environment disables the cache."""
    return os.environ.get("KCHECK_NO_CACHE", "") not in ("", "0")

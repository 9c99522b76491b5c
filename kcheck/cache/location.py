"""Where the cache is, and whether there shall be one."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path | None:
    """Where the cache is by default, None where there is no home: KCHECK_CACHE_DIR, else as the XDG specification says."""
    if chosen := os.environ.get("KCHECK_CACHE_DIR"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The specification has relative paths ignored.
    if os.path.isabs(base):
        return Path(base) / "kcheck"
    home = os.path.expanduser("~")
    return Path(home) / ".cache" / "kcheck" if os.path.isabs(home) else None


def cache_is_off() -> bool:
    """Whether the environment says that there shall be no cache."""
    return os.environ.get("KCHECK_NO_CACHE", "") not in ("", "0")

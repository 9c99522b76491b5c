"""Notation for kinds of objects in rules.

"apps Deployment"      the kind of an API group, in any version; "core" is the core group
"apps/v1 Deployment"   the kind of an apiVersion
"Deployment"           the kind in any group
"""

from __future__ import annotations

from functools import lru_cache

CORE = "core"
"""Name of the core group, whose objects have an apiVersion without a group."""


@lru_cache(maxsize=1000)
def kind_names(api_version: str, kind: str) -> frozenset[str]:
    """Return all notations that match the kind of an object."""
    return frozenset((kind, f"{api_version.rpartition('/')[0] or CORE} {kind}", f"{api_version} {kind}"))

"""Versions of an API that have a better successor."""

from __future__ import annotations

from functools import cache

from kcheck.schema.builtin.definitions import Definitions
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

_STABLE = pattern(r"(?:.*/)?v\d+")


class Succession(NamedTuple):
    """The apiVersion to use instead, and the first Kubernetes version without the old one, or "" if it has not been removed."""

    successor: str
    removed: str


@cache
def succession(api_version: str, kind: str, targets: tuple[Definitions, ...]) -> Succession | None:
    """Return the successor of an apiVersion that all target versions serve, or None if it is the best one that they have in common.

    A stable version succeeds a beta or alpha version, and any version that remains succeeds one that a later target has removed.
    """
    mine = [each for each in targets[0].versions_of(kind) if _same_group(each, api_version)]
    common = [each for each in mine if all(target.kind(each, kind) for target in targets)] if targets else []
    if api_version not in common or common[0] == api_version:
        return None
    successor, removed = common[0], targets[-1].removal(api_version, kind)
    if removed or (_STABLE.fullmatch(successor) and not _STABLE.fullmatch(api_version)):
        return Succession(successor, removed)
    return None


def _same_group(one: str, other: str) -> bool:
    return one.rpartition("/")[0] == other.rpartition("/")[0]

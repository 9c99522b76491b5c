"""Versions of an API that a better one has followed."""

from __future__ import annotations

from functools import cache

from kcheck.schema.builtin.definitions import Definitions
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

_STABLE = pattern(r"(?:.*/)?v\d+")


class Succession(NamedTuple):
    """The apiVersion that serves a kind instead, and the Kubernetes version that first lacks the old one, "" where none does yet."""

    successor: str
    removed: str


@cache
def succession(api_version: str, kind: str, targets: tuple[Definitions, ...]) -> Succession | None:
    """What follows an apiVersion that all of these versions of Kubernetes serve; None where it is the best that they have in common.

    A stable version follows a beta or alpha one, and whatever stays follows what a later Kubernetes has removed.
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

"""Entries of a kustomization that kustomize downloads."""

from __future__ import annotations

from kcheck.text.pattern import pattern

_REMOTE = pattern(r".*(?:://|//|\?|@).*|(?:[\w-]+\.)+[a-z]{2,}[/:].*")


def is_remote(text: str) -> bool:
    """Whether an entry is a URL, an address of git, or a host name followed by a path. It need not be a valid URL."""
    return _REMOTE.fullmatch(text) is not None

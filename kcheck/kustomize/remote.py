"""Entries of a kustomization that kustomize downloads."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.text.pattern import pattern
from kcheck.yaml.node import Node

_REMOTE = pattern(r".*(?:://|//|\?|@).*|(?:[\w-]+\.)+[a-z]{2,}[/:].*")
_FOLDERS = frozenset({"resources", "bases", "components"})


def is_remote(text: str) -> bool:
    """Whether an entry is a URL, an address of git, or a host name followed by a path. It need not be a valid URL."""
    return _REMOTE.fullmatch(text) is not None


def downloads(root: Node) -> Iterator[Node]:
    """Yield all entries of a kustomization that kustomize might download, also those of plug-ins."""
    todo = [root]
    while todo:
        node = todo.pop()
        text = node.text
        owner = node.parent
        if text and "\n" not in text and ("://" in text or (owner is not None and owner.name in _FOLDERS and is_remote(text))):
            yield node
        todo += node

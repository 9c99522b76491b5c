"""What a build could not do, with the place that says so."""

from __future__ import annotations

from typing import Literal, NamedTuple

from kcheck.yaml.node import Node

Kind = Literal["remote", "missing", "outside", "unsupported", "error", "limit"]
"""remote: named by a URL, never fetched. missing: a file or folder that is not there. outside: a file above the kustomization, which
kustomize refuses by default. unsupported: something that is not modelled. error: kustomize refuses it. limit: it was too much."""


class BuildProblem(NamedTuple):
    """`start`, `end`: offsets in the space of the library."""

    kind: Kind
    message: str
    start: int
    end: int


class BadInput(Exception):
    """Something in an object or a setting that kustomize refuses. `node`: where, None for the setting at hand."""

    def __init__(self, message: str, node: Node | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.node = node

    def place(self, otherwise: Node) -> Node:
        """The node that the problem is about."""
        return otherwise if self.node is None else self.node

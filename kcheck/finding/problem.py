"""What a rule yields: a node, a sentence, and what mends it."""

from __future__ import annotations

from typing import Literal

from kcheck.kube.place import Place
from kcheck.text.edit import Edit
from kcheck.text.record import NamedTuple
from kcheck.text.span import Span
from kcheck.tree.node import Node

# The API server's causes (k8s.io/apimachinery field.ErrorType), and the two of its strict decoder.
At = Literal["value", "key"]
Reason = Literal[
    "Required", "Invalid", "NotSupported", "Duplicate", "NotFound", "TooLong", "TooMany", "Forbidden", "TypeInvalid", "Internal",
    "UnknownField", "DuplicateKey", "",
]  # fmt: skip


class Fix(NamedTuple):
    """Edits of the file that remove the problem. `safe`: the object means the same or what the writer plainly meant."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool = True


class Related(NamedTuple):
    """Another place that the reader should see, and what it has to do with the problem."""

    place: Place
    message: str


class Problem:
    """One thing wrong.

    `node`: what is wrong, a node of the document at hand (a missing one is shown at its nearest present key), bare characters of it,
    or the Place of a fact.
    `at`: which characters are meant: the value, or the key it stands under.
    `field`: path as the API server writes it, where it is not simply the node's own; a node stands for its path.
    """

    __slots__ = ("at", "field", "fix", "message", "node", "reason", "related")

    def __init__(
        self,
        node: Node | Span | Place,
        message: str,
        reason: Reason = "",
        at: At = "value",
        field: str | Node | None = None,
        related: tuple[Related, ...] = (),
        fix: Fix | None = None,
    ) -> None:
        self.node = node
        # A message is one line, whatever it quotes.
        self.message = message.replace("\n", "\\n")
        self.reason = reason
        self.at = at
        self.field = field
        self.related = related
        self.fix = fix


def missing(node: Node) -> Problem:
    """The problem of a value that must be there and is absent, or that Go cannot tell from an absent one."""
    if node:
        value = node.value
        shown = "empty" if isinstance(value, (dict, list)) else '""' if value == "" else str(value)
        return Problem(node, f"{node.name or 'the value'} is {shown}, which counts as missing: give it a value", "Required")
    return Problem(node, f"{node.name or 'a value'} is required: add it", "Required")

"""What a rule yields: a node, what is wrong with it, what to do, and a fix."""

from __future__ import annotations

from typing import Any, Literal

from kcheck.kube.location import Location
from kcheck.text.complaint import help_of
from kcheck.text.edit import Edit
from kcheck.text.record import NamedTuple
from kcheck.text.span import Span
from kcheck.yaml.node import Node

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

    place: Location
    message: str


class Problem:
    """One thing wrong.

    `node`: what is wrong: a node of the document (a missing one is shown at its nearest present key), characters of the document,
    or the Place of a fact.
    `message`: what is wrong, in one clause. `help`: what to do, an instruction that begins with a verb; where it is not given, it is
    taken from a `Complaint`. Both are one line.
    `at`: which characters are meant: the value or its key.
    `field`: the path as the API server writes it, where it differs from the path of the node; a node stands for its path.
    """

    __slots__ = ("at", "field", "fix", "help", "message", "node", "reason", "related")

    def __init__(
        self,
        node: Node | Span | Location,
        message: str,
        *,
        help: str = "",
        reason: Reason = "",
        at: At = "value",
        field: str | Node | None = None,
        related: tuple[Related, ...] = (),
        fix: Fix | None = None,
    ) -> None:
        self.node = node
        # Both are one line, whatever they quote.
        self.message = message.replace("\n", "\\n")
        self.help = (help or help_of(message)).replace("\n", "\\n")
        self.reason = reason
        self.at = at
        self.field = field
        self.related = related
        self.fix = fix

    def replace(self, **changes: Any) -> Problem:
        """The same problem with some attributes changed."""
        return Problem(**{name: getattr(self, name) for name in Problem.__slots__} | changes)


def missing(node: Node) -> Problem:
    """The problem of a value that must be there and is absent, or that Go cannot tell from an absent one."""
    if node:
        value = node.value
        shown = "empty" if isinstance(value, (dict, list)) else '""' if value == "" else str(value)
        message = f'required field "{node.name}" is {shown}' if node.name else f"required value is {shown}"
        return Problem(node, f"{message}, which counts as missing", help="set a value", reason="Required")
    if not node.name:
        return Problem(node, "required value is missing", help="add a value", reason="Required")
    return Problem(node, f'missing required field "{node.name}"', help=f"add {node.name}", reason="Required")

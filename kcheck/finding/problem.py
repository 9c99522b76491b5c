"""Problems that rules yield: location, message, help and fix."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from kcheck.kube.location import Location
from kcheck.text.complaint import help_of
from kcheck.text.edit import Edit
from kcheck.text.span import Span
from kcheck.yaml.node import Node

# The error types of the API server (field.ErrorType in k8s.io/apimachinery), and two of its strict decoder.
At = Literal["value", "key"]
Reason = Literal[
    "Required", "Invalid", "NotSupported", "Duplicate", "NotFound", "TooLong", "TooMany", "Forbidden", "TypeInvalid", "Internal",
    "UnknownField", "DuplicateKey", "",
]  # fmt: skip


class Fix(NamedTuple):
    """Edits of the file that remove the problem.

    Attributes:
        title: description of the edits.
        edits: replaced ranges of the file's text.
        safe: whether the object keeps its meaning or gets the obviously intended one.
    """

    title: str
    edits: tuple[Edit, ...]
    safe: bool = True


class Related(NamedTuple):
    """Another location that is relevant to a problem, and its relation to the problem."""

    place: Location
    message: str


class Problem:
    """A problem at one location.

    Attributes:
        node: a Node of the document (an absent one is shown at its nearest present key), a Span of the document, or the Location of a fact.
        message: what is wrong, one clause on one line.
        help: what to do, one line that begins with a verb. If it is not given, the help of a `Complaint` message is used.
        reason: reason of the API server for the same problem, "" if there is none.
        at: whether the value or its key is reported.
        field: path as the API server writes it, if it differs from the path of `node`; a Node means the path of this node.
        related: further locations.
        fix: edits that remove the problem.
        echo: whether the API server reports the cause of another problem of the object again, under this field; usually omitted.
    """

    __slots__ = ("at", "echo", "field", "fix", "help", "message", "node", "reason", "related")

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
        echo: bool = False,
    ) -> None:
        self.node = node
        # Quoted values may contain line breaks.
        self.message = message.replace("\n", "\\n")
        self.help = (help or help_of(message)).replace("\n", "\\n")
        self.reason = reason
        self.at = at
        self.field = field
        self.related = related
        self.fix = fix
        self.echo = echo

    def replace(self, **changes: Any) -> Problem:
        """Return a copy with the given attributes changed."""
        return Problem(**{name: getattr(self, name) for name in Problem.__slots__} | changes)


def missing(node: Node) -> Problem:
    """Return the Problem of a required value that is absent, or that Go cannot distinguish from an absent one."""
    if node:
        value = node.value
        shown = "empty" if isinstance(value, (dict, list)) else '""' if value == "" else str(value)
        message = f'required field "{node.name}" is {shown}' if node.name else f"required value is {shown}"
        return Problem(node, f"{message}, which counts as missing", help="set a value", reason="Required")
    if not node.name:
        return Problem(node, "required value is missing", help="add a value", reason="Required")
    return Problem(node, f'missing required field "{node.name}"', help=f"add {node.name}", reason="Required")

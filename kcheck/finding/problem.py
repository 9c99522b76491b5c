"""Problems that rules yield: location, message, help and fix."""

from __future__ import annotations

from typing import Any, Literal

from kcheck.finding.fix import Correction, Fix
from kcheck.kube.location import Location
from kcheck.text.complaint import Removal, Suggestion, help_of
from kcheck.text.record import NamedTuple
from kcheck.text.span import Span
from kcheck.yaml.node import Node

# The error types of the API server (field.ErrorType in k8s.io/apimachinery), and two of its strict decoder.
At = Literal["value", "key"]
Reason = Literal[
    "Required", "Invalid", "NotSupported", "Duplicate", "NotFound", "TooLong", "TooMany", "Forbidden", "TypeInvalid", "Internal",
    "UnknownField", "DuplicateKey", "",
]  # fmt: skip


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
        fix: edits that remove the problem, or the change that they follow from. If it is not given, it follows from a help that is a
            `Suggestion` or a `Removal`.
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
        fix: Fix | Correction | None = None,
        echo: bool = False,
    ) -> None:
        self.node = node
        # Quoted values may contain line breaks.
        self.message = message.replace("\n", "\\n")
        help = help or help_of(message)
        self.help = help.replace("\n", "\\n")
        self.reason = reason
        self.at = at
        self.field = field
        self.related = related
        if fix is None and isinstance(node, Node) and node.exists:
            fix = _change_of(help, node, at)
        self.fix = fix
        self.echo = echo

    def replace(self, **changes: Any) -> Problem:
        """Return a copy with the given attributes changed."""
        return Problem(**{name: getattr(self, name) for name in Problem.__slots__} | changes)


def _change_of(help: str, node: Node, at: At) -> Correction | None:
    """The change that a help asks for."""
    if isinstance(help, Suggestion):
        if at == "key":
            return Correction.rename(node, help.text, safe=help.safe)
        is_number = type(node.value) is int and help.text.isdecimal()
        return Correction.replace(node, int(help.text) if is_number else help.text, safe=help.safe)
    return Correction.remove(node, safe=help.safe) if isinstance(help, Removal) else None


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

"""A message together with its help."""

from __future__ import annotations


class Complaint(str):
    """A message that carries its help. Functions that return the text of a problem return it.

    Where a str is expected, it is the message; `Problem` reads the help from it. Formatting it into another string drops the help:
    use `Complaint(f"prefix: {wrong}", help_of(wrong))`.

    Attributes:
        help: what to do, "" if not known.
    """

    __slots__ = ("help",)

    help: str

    def __new__(cls, message: str, help: str = "") -> Complaint:
        made = super().__new__(cls, message)
        made.help = help
        return made


def help_of(message: str) -> str:
    """Return the help of a message, "" for a plain str."""
    return message.help if isinstance(message, Complaint) else ""


def concise(message: str, help: str = "") -> str:
    """Return message and help on one line. Without `help`, the help of the message is used."""
    help = help or help_of(message)
    return f"{message}; {help}" if help else str(message)


class Suggestion(str):
    """A help that suggests what to write in place of the reported value or key.

    Attributes:
        text: the text to write.
        safe: whether this is certainly what is meant.
    """

    __slots__ = ("safe", "text")

    text: str
    safe: bool

    def __new__(cls, help: str, text: str = "", safe: bool = False) -> Suggestion:
        made = super().__new__(cls, help)
        made.text = text
        made.safe = safe
        return made


def use(text: str, more: str = "", *, safe: bool = True) -> Suggestion:
    """Return the help for a value or key with one correction. `more`: text after it. `safe`: whether it is certainly what is meant."""
    return Suggestion(f"use {text}{more}", text, safe)


class Removal(str):
    """A help that says to remove the reported value with its key.

    Attributes:
        safe: whether the object keeps its meaning, or cannot be used with the value.
    """

    __slots__ = ("safe",)

    safe: bool

    def __new__(cls, help: str, safe: bool = True) -> Removal:
        made = super().__new__(cls, help)
        made.safe = safe
        return made


def remove(what: str = "it", *, safe: bool = True) -> Removal:
    """Return the help for a value that must be removed. `what`: its name."""
    return Removal(f"remove {what}", safe)

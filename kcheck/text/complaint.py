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

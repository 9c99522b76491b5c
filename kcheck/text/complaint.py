"""What is wrong, with what to do about it."""

from __future__ import annotations


class Complaint(str):
    """A message that carries its help, for functions that return the text of a problem.

    It is the message wherever a str is expected; `Problem` takes the help from it. Formatting it into another text drops the help:
    write `Complaint(f"the prefix: {wrong}", help_of(wrong))`.
    """

    __slots__ = ("help",)

    help: str

    def __new__(cls, message: str, help: str = "") -> Complaint:
        made = super().__new__(cls, message)
        made.help = help
        return made


def help_of(message: str) -> str:
    """The help that a message carries; empty for a plain text."""
    return message.help if isinstance(message, Complaint) else ""


def concise(message: str, help: str = "") -> str:
    """Complaint and help on one line; the help that the message carries where none is given."""
    help = help or help_of(message)
    return f"{message}; {help}" if help else str(message)

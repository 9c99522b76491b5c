"""How bad a finding is. Each level has a hard meaning."""

from __future__ import annotations

from enum import IntEnum


class Severity(IntEnum):
    """`error`: the API server refuses it, or it cannot do what it says. `warning`: it works and is a risk. `info`: taste."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    @property
    def word(self) -> str:
        return self.name.lower()

    @classmethod
    def parse(cls, word: str) -> Severity:
        """The level of a word as it stands in config and flags. Raises ValueError for any other word."""
        try:
            return cls[word.upper()]
        except KeyError:
            raise ValueError(f"{word!r} is no severity: write info, warning or error") from None


INFO, WARNING, ERROR = Severity.INFO, Severity.WARNING, Severity.ERROR

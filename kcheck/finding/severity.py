"""Severity levels of findings."""

from __future__ import annotations

from enum import IntEnum


class Severity(IntEnum):
    """Severity of a finding.

    `error`: the API server rejects the object, or the object cannot work as written. `warning`: it works, but is a risk. `info`: style.
    """

    INFO = 1
    WARNING = 2
    ERROR = 3

    @property
    def word(self) -> str:
        return self.name.lower()

    @classmethod
    def parse(cls, word: str) -> Severity:
        """Return the level of a name as used in the config and in flags. Raises ValueError for any other text."""
        try:
            return cls[word.upper()]
        except KeyError:
            raise ValueError(f'"{word}" is not a valid severity; use info, warning or error') from None


INFO, WARNING, ERROR = Severity.INFO, Severity.WARNING, Severity.ERROR

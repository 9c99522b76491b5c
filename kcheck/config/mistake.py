"""The error of an invalid config file."""

from __future__ import annotations

from kcheck.text.mistake import InvalidFile


class BadConfig(InvalidFile):
    """The config file is invalid."""

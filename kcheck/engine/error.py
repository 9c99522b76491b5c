"""Errors of a run that are not findings."""

from __future__ import annotations


class Error(Exception):
    """Nothing was checked, because an option, a path, the config or a file that it names is invalid. The message explains why."""


class InvalidOption(Error):
    """An option or a path is invalid."""


class InvalidConfig(Error):
    """The config is invalid. The message contains one line per error, with its position."""

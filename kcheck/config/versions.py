"""Parsing of Kubernetes versions in the config and on the command line: a version or a range."""

from __future__ import annotations

from kcheck.schema.builtin.definitions import UnknownVersion, available
from kcheck.text.pattern import pattern

_MINOR = r"v?(1\.\d+)(?:\.\d+)?"
_RANGE = pattern(rf"{_MINOR}\s*-\s*{_MINOR}")
_SINGLE = pattern(rf"{_MINOR}(?:[-+].*)?")


def parse_versions(text: str) -> tuple[str, ...]:
    """Returns the minor versions of "1.36", "v1.36.2" or "1.30-1.37", oldest first. Raises UnknownVersion, a ValueError."""
    text = text.strip()
    if match := _RANGE.fullmatch(text):
        first, last = (_index(each, text) for each in match.groups())
        if first > last:
            raise UnknownVersion(f'range "{text}" begins with the newer version; use "{match[2]}-{match[1]}"')
        return available()[first : last + 1]
    match = _SINGLE.fullmatch(text)
    return (available()[_index(match[1] if match else "", text)],)


def _index(minor: str, text: str) -> int:
    known = available()
    if minor not in known:
        version = f'"{minor}" in "{text}"' if minor and minor != text else f'"{text}"'
        raise UnknownVersion(f"unknown Kubernetes version {version}; use {known[0]} to {known[-1]}, or a range")
    return known.index(minor)

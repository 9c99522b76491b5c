"""Semantic versions.

Source: the semver library of Kubernetes (k8s.io/apiserver/pkg/cel/library). Parsing is strict unless normalization is requested, which
removes a leading v and leading zeros and adds missing parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kcheck.cel.values.values import EvaluationError, Opaque, Value

_NUMBER = "(0|[1-9][0-9]*)"
_IDENTIFIER = "[0-9A-Za-z-]+"
_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_IDENTIFIER}(?:\.{_IDENTIFIER})*))?(?:\+({_IDENTIFIER}(?:\.{_IDENTIFIER})*))?"
)

Key = tuple[tuple[int, int, int], bool, tuple[tuple[bool, int, str], ...]]


class Semver(Opaque):
    """A version. Versions are equal if they have the same precedence."""

    __slots__ = ("key",)

    cel_type = "kubernetes.Semver"

    def __init__(self, key: Key) -> None:
        self.key = key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Semver) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)


def _semver(text: str, normalize: bool = False) -> Semver:
    found = _VERSION.fullmatch(_normalized(text) if normalize else text)
    if found is None:
        raise EvaluationError(f'"{text}" is not a semantic version')
    numbers = tuple(int(each) for each in found.groups()[:3])
    identifiers = found[4].split(".") if found[4] else []
    if max(numbers) >= 1 << 64 or any(len(each) > 1 and each[0] == "0" and each.isdigit() for each in identifiers):
        raise EvaluationError(f'"{text}" is not a semantic version')
    # A release follows its prereleases; numeric identifiers precede alphanumeric ones.
    order = tuple((not each.isdigit(), int(each) if each.isdigit() else 0, each) for each in identifiers)
    if any(number >= 1 << 64 for _, number, _ in order):
        raise EvaluationError(f'"{text}" is not a semantic version')
    return Semver(((numbers[0], numbers[1], numbers[2]), not identifiers, order))


def _normalized(text: str) -> str:
    """Return the version with all three numbers, without a leading v and leading zeros."""
    parts = text.removeprefix("v").split(".", 2)
    if len(parts) < 3:
        # Prerelease and build metadata of a short version must not be separated from it by added parts.
        if "-" in parts[-1] or "+" in parts[-1]:
            return text
        parts += ["0"] * (3 - len(parts))
    return ".".join(_without_leading_zeros(each) for each in parts)


def _without_leading_zeros(part: str) -> str:
    match = re.match("0+(?=[0-9])", part)
    return part[match.end() :] if match else part


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        _semver(text, normalize)
    except EvaluationError:
        return False
    return True


def _compare(one: Semver, other: Semver) -> int:
    return (one.key > other.key) - (one.key < other.key)


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "string_to_semver": _semver,
    "string_bool_to_semver": _semver,
    "is_semver_string": _is_semver,
    "is_semver_string_bool": _is_semver,
    "semver_major": lambda version: version.key[0][0],
    "semver_minor": lambda version: version.key[0][1],
    "semver_patch": lambda version: version.key[0][2],
    "semver_compare_to": _compare,
    "semver_is_greater_than": lambda one, other: one.key > other.key,
    "semver_is_less_than": lambda one, other: one.key < other.key,
}

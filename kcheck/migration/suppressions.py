"""The annotations of other tools that suppress findings of an object."""

from __future__ import annotations

import re
from typing import NamedTuple

from kcheck.migration.tools import KUBE_SCORE_IMPLIED, POLARIS_FORMER

# A text without any of these has no such annotation.
MARKS = ("kube-linter.io/", "kube-score/", "polaris.fairwinds.com/", "checkov.io/", "bridgecrew.io/")

_LINTER = "ignore-check.kube-linter.io/"
_POLARIS = re.compile(r"polaris\.fairwinds\.com/(?:(?P<check>.+)-)?exempt")
_MEANINGLESS_REASONS = frozenset({"", "true", "yes", "ignore", "ignored", "skip", "no comment provided"})


class AskedSuppression(NamedTuple):
    """A suppression that an annotation requests.

    Attributes:
        tool: The tool that the annotation belongs to.
        checks: The checks to suppress; None for all.
        reason: The reason in the annotation.
        enables: Whether the annotation enables the checks instead.
        idle: Why the annotation has no effect; "" if it has an effect.
    """

    tool: str
    checks: tuple[str, ...] | None
    reason: str = ""
    enables: bool = False
    idle: str = ""


def asked_by(key: str, value: object) -> AskedSuppression | None:
    """Returns the suppression that an annotation requests; None if it does not belong to another tool."""
    text = value.strip() if isinstance(value, str) else ""
    if key.startswith(_LINTER):
        return AskedSuppression("kube-linter", (key.removeprefix(_LINTER),), _reason(text))
    if key == "kube-linter.io/ignore-all":
        return AskedSuppression("kube-linter", None, _reason(text))
    if key in ("kube-score/ignore", "kube-score/enable"):
        named = [part.strip() for part in text.split(",") if part.strip()]
        if key.endswith("enable"):
            return AskedSuppression("kube-score", tuple(named), enables=True)
        implied = [other for name in named for other in KUBE_SCORE_IMPLIED.get(name, ())]
        return AskedSuppression("kube-score", tuple(dict.fromkeys((*named, *implied))))
    if match := _POLARIS.fullmatch(key):
        check = match["check"]
        # Polaris only accepts strings; an unquoted true is rejected by the API server.
        idle = "" if text.lower() == "true" or value is True else f'its value is {value!r}, not "true"'
        return AskedSuppression("polaris", None if check is None else (POLARIS_FORMER.get(check, check),), idle=idle)
    if "checkov.io/skip" in key or "bridgecrew.io/skip" in key:
        check, _, reason = text.partition("=")
        return AskedSuppression("checkov", (check.strip(),), _reason(reason.strip()))
    return None


def _reason(text: str) -> str:
    """Returns the reason, "" for a value without meaning such as "true"."""
    return "" if text.lower() in _MEANINGLESS_REASONS else " ".join(text.split())

"""The annotations by which other tools pass over an object: what each of them asks for."""

from __future__ import annotations

import re

from kcheck.migration.tools import KUBE_SCORE_IMPLIED, POLARIS_FORMER
from kcheck.text.record import NamedTuple

# Text without one of these has none of them.
MARKS = ("kube-linter.io/", "kube-score/", "polaris.fairwinds.com/", "checkov.io/", "bridgecrew.io/")

_LINTER = "ignore-check.kube-linter.io/"
_POLARIS = re.compile(r"polaris\.fairwinds\.com/(?:(?P<check>.+)-)?exempt")
_NO_REASONS = frozenset({"", "true", "yes", "ignore", "ignored", "skip", "no comment provided"})


class AskedSuppression(NamedTuple):
    """`checks`: what is passed over, None for all; `enables`: switched on instead; `idle`: why nothing happens, "" where it does."""

    tool: str
    checks: tuple[str, ...] | None
    reason: str = ""
    enables: bool = False
    idle: str = ""


def asked_by(key: str, value: object) -> AskedSuppression | None:
    """What an annotation asks for, None where it is none of theirs."""
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
        # polaris reads text alone; a plain true the API server refuses.
        idle = "" if text.lower() == "true" or value is True else f'its value is {value!r}, not "true"'
        return AskedSuppression("polaris", None if check is None else (POLARIS_FORMER.get(check, check),), idle=idle)
    if "checkov.io/skip" in key or "bridgecrew.io/skip" in key:
        check, _, reason = text.partition("=")
        return AskedSuppression("checkov", (check.strip(),), _reason(reason.strip()))
    return None


def _reason(text: str) -> str:
    """A reason that says something."""
    return "" if text.lower() in _NO_REASONS else " ".join(text.split())

"""What the Go libraries answer, and where kcheck answers something else on purpose."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

_BAD_SEPARATOR = "invalid Yaml document separator"
_OUR_BAD_SEPARATOR = "only whitespace or a comment may follow ---"
_NEVER_READ = "text after --- is ignored"
_HALF = re.compile("[\ud800-\udfff]")
_EXPECTED = 'expected "---"'
_MARK = "byte order mark (U+FEFF) inside"
_IGNORED = "content after an empty document is ignored"
_DETAIL = re.compile(r"line \d+: |`[^`]*`|'[^']*'|\"[^\"]*\"|\d+")

INTENDED = {
    _EXPECTED: "the decoder ignores what follows the first document of a part; kcheck reports it",
    _IGNORED: "the decoder ignores what follows the first document of a part; kcheck reports it",
    _NEVER_READ: "the decoder drops the whole line, up to the next LF; kcheck reports what would be lost",
    "text on the line of a separator": "the API server reads it and kubectl refuses it; the rule content-after-separator says so",
    "a directive": "the API server reads directives and kubectl refuses them; the rule content-after-separator says so",
    _MARK: "go-yaml takes it as text, or skips the first character of lines; kcheck refuses it",
    "CR CR LF": "the decoder takes it as one line break; the rule unusual-line-break reports it",
    "JSON and YAML in a row": "the decoder changes from JSON to YAML within a part; kcheck wants '---' between the two",
    '":" without a space inside {} or []': "such colons beside a !!timestamp with a time of day, or in what the decoder does not read",
    "unknown escape sequence": "an escaped apostrophe beside its replacement, backslash and e",
    "control character": "the decoder does not read behind the first document of a part; kcheck refuses such characters there, too",
    "key is null": "in the value of a repeated key, of which the decoder has the last one alone; kcheck reports both",
    "is too large for an integer": "in the value of a repeated key, as for a null key",
    "has no JSON form": "the value of a repeated key, of which the decoder has the last one alone; kcheck reports both",
    "JSON that is not YAML": "kcheck reads JSON as YAML, which wants the colon on the line of the key",
    "a map or list is not allowed as a key": "an empty map or list as a key replaces the whole document; never intended",
    "an infinite number in JSON": "the decoder hands the text on, which no field accepts",
}  # fmt: skip
"""Differences that are wanted: a part of our message or a name, and the reason."""


def difference(text: str, ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> str:
    """The class of the first difference between two readings of a text, nothing where there is none."""
    if _hides(ours, theirs):
        return "a hidden document"
    errors = [each.get("error", "") for each in ours]
    found = _difference(iter([each for each in ours if _NEVER_READ not in each.get("error", "")]), theirs)
    if not found:
        return _NEVER_READ if any(_NEVER_READ in error for error in errors) else ""
    named = _named(text, found)
    # Where the decoder sees nothing but an empty document, what follows does not line up.
    if reason(named):
        return named
    return next((error for error in errors if any(each in error for each in (_IGNORED, _EXPECTED, _MARK))), named)


def reason(name: str) -> str:
    """Why a class of differences is wanted, nothing where it is a mistake."""
    return next((why for part, why in INTENDED.items() if part in name), "")


def _difference(ours: Iterator[dict[str, Any]], theirs: list[dict[str, Any]]) -> str:
    for other in theirs:
        mine = next(ours, None)
        if _BAD_SEPARATOR in other.get("error", ""):
            # The decoder drops the text before such a line, which kcheck reads.
            while mine is not None and _OUR_BAD_SEPARATOR not in mine.get("error", ""):
                mine = next(ours, None)
            if mine is None:
                return "kcheck accepts a separator"
        elif mine is None:
            return f"kcheck does not see: {other}"
        elif "error" in mine and "error" not in other:
            return str(mine["error"])
        elif "error" in other and "error" not in mine:
            return f"kcheck accepts: {_DETAIL.sub('_', other['error'])}"
        elif "error" not in mine and not same(mine["json"], other["json"]):
            return "an infinite number in JSON" if _is_infinite(other["json"]) else "another value"
    mine = next(ours, None)
    return "" if mine is None else str(mine.get("error", "kcheck sees one document more"))


def _hides(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> bool:
    """Whether there is an object that kcheck does not see although nothing is wrong to it."""
    if any("error" in mine for mine in ours):
        return False
    return len(ours) < sum(isinstance(other.get("json"), dict) for other in theirs)


def _named(text: str, found: str) -> str:
    """The class of a difference, by what the text has that explains it."""
    if reason(found):
        return found
    if "\r\r\n" in text:
        return "CR CR LF"
    if text.lstrip().startswith("{") and _is_json(text):
        return "JSON that is not YAML"
    if text.lstrip().startswith("{"):
        return "JSON and YAML in a row"
    if re.search("(?:^|[\r\x85\u2028\u2029])%", text, re.MULTILINE):
        return "a directive"
    if re.search(r"^---[ \t][^\S\n]*(?:[^#\s]|(?<=[\x1c-\x1f]))", text, re.MULTILINE):
        return "text on the line of a separator"
    return found


def same(ours: object, theirs: object) -> bool:
    """Equality of JSON values: 1 and true differ, numbers are compared as Go's float64 would be."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(v, theirs[k]) for k, v in ours.items())
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return ours is theirs
    if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
        return ours == theirs or float(ours) == float(theirs)
    return ours == (_HALF.sub("\ufffd", theirs) if isinstance(theirs, str) else theirs)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _is_infinite(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_is_infinite, value.values()))
    if isinstance(value, list):
        return any(map(_is_infinite, value))
    return isinstance(value, float) and math.isinf(value)

"""Regular expressions that are compiled on first use.

There are more than a hundred patterns and most runs use few of them. Compiling them all takes longer than checking a small file.

A possessive quantifier of a group needs an empty alternative, (?:ab|)*+ instead of (?:ab)*+: if an iteration fails, Python before 3.11.5
continues after the characters that the failed iteration has read. Debian 12 has Python 3.11.2.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = ("match", "fullmatch", "search", "finditer", "findall", "split", "sub", "subn")


class _LazyPattern:
    """Proxy of a compiled pattern. On first use it compiles the pattern and copies the methods to itself."""

    def __init__(self, text: Any, flags: int) -> None:
        self._source = (text, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(*self._source)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Like `re.compile`, but compiles on first use. tests/text/test_pattern.py compiles all patterns to detect invalid ones."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(text, flags))

"""Regular expressions that are compiled on first use.

There are more than a hundred patterns and most runs use few of them. Compiling them all takes longer than checking a small file.

A possessive quantifier of a group needs an empty alternative, (?:ab|)*+ instead of (?:ab)*+: if an iteration fails, Python before 3.11.5
continues after the characters that the failed iteration has read. Debian 12 has Python 3.11.2.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, AnyStr, cast

_MAX_REMEMBERED = 10_000
_METHODS = ("match", "fullmatch", "search", "finditer", "findall", "split", "sub", "subn")


class _LazyPattern:
    """Proxy of a compiled pattern. On first use it compiles the pattern and copies the methods to itself."""

    def __init__(self, text: Any, flags: int, remembers: bool = False) -> None:
        self._source = (text, flags)
        self._remembers = remembers

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(*self._source)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        if self._remembers:
            self.fullmatch = lru_cache(_MAX_REMEMBERED)(compiled.fullmatch)
        return getattr(compiled, name)


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Like `re.compile`, but compiles on first use. tests/text/test_pattern.py compiles all patterns to detect invalid ones."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(text, flags))


def name_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Like `pattern`, for names of files and folders: results of `fullmatch` are remembered, because the same names recur."""
    return cast("re.Pattern[str]", _LazyPattern(text, flags, remembers=True))

"""Regular expressions that are compiled when they are first used: there are more than a hundred, most runs use few of them, and
compiling them all takes longer than checking a small file.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = ("match", "fullmatch", "search", "finditer", "findall", "split", "sub", "subn")


class _LazyPattern:
    """Stands in for a compiled pattern, and hands its methods out as its own from the first use on."""

    def __init__(self, text: Any, flags: int) -> None:
        self._made_of = (text, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(*self._made_of)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, later. A mistake in the expression shows at its first use: tests/text/test_pattern.py looks at all."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(text, flags))

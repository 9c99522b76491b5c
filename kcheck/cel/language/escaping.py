"""Escaping of property names in expressions: `self.my__dash__name`.

Source: the documentation of x-kubernetes-validations and k8s.io/apiserver/pkg/cel.
"""

from __future__ import annotations

import re
from functools import lru_cache

RESERVED = frozenset((
    "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop",
    "package", "namespace", "return", "var", "void", "while",
))  # fmt: skip
"""Keywords, which cannot be used as names in expressions."""

_NAME = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*")
_SPECIAL = re.compile(r"__|[-./]")
_SPELLINGS = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}


@lru_cache(maxsize=8192)
def escape(name: str) -> str:
    """Return the name of a property as used in expressions, or "" if expressions cannot refer to it."""
    if name in RESERVED:
        return f"__{name}__"
    if not _NAME.fullmatch(name):
        return ""
    return _SPECIAL.sub(lambda match: _SPELLINGS[match[0]], name)

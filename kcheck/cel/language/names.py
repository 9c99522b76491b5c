"""The names available in an expression: variables, types, functions and messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from kcheck.cel.language.declarations import Overload, overloads
from kcheck.cel.values import types
from kcheck.cel.values.types import DYN, SIMPLE, Type, list_of, map_of, optional_of, type_of

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


_TYPES: dict[str, Type] = {
    **{name: type_of(SIMPLE[name]) for name in ("bool", "bytes", "double", "int", "string", "uint", "type")},
    "google.protobuf.Duration": type_of(types.DURATION),
    "google.protobuf.Timestamp": type_of(types.TIMESTAMP),
    "null_type": type_of(types.NULL),
    "list": type_of(list_of(DYN)),
    "map": type_of(map_of(DYN, DYN)),
    "optional_type": type_of(optional_of(DYN)),
    "net.IP": type_of(Type("opaque", "net.IP")),
    "net.CIDR": type_of(Type("opaque", "net.CIDR")),
}
_SINCE = {"optional_type": 28, "net.IP": 30, "net.CIDR": 30}


class Names:
    """The names available in an expression.

    Attributes:
        variables: names, possibly qualified, with their types.
        minor: expressions may use the functions of Kubernetes 1.N.
        libraries: additional libraries.
        functions: overloads of functions that the environment adds, by name. Their first argument, of which expressions know nothing, is
            the variable `context`.
        context: the variable that added functions receive.
    """

    def __init__(
        self, variables: Mapping[str, Type], minor: int, messages: Callable[[str], Type | None] | None = None,
        libraries: frozenset[str] = frozenset(), functions: Mapping[str, Overload] | None = None, context: str = "",
    ) -> None:  # fmt: skip
        self.variables = variables
        self.functions = functions or {}
        self.context = context
        self.minor = minor
        self._messages = messages
        self.libraries = libraries
        self._overloads: dict[str, tuple[Overload, ...]] = {}

    def find(self, name: str) -> Type | None:
        """Return the type of a variable or of a type name."""
        found = self.variables.get(name)
        if found is not None:
            return found
        found = _TYPES.get(name)
        if found is not None and _SINCE.get(name, 0) <= self.minor:
            return found
        message = self.message(name)
        return None if message is None else type_of(message)

    def message(self, name: str) -> Type | None:
        """Return the message type of this name, or None."""
        return self._messages(name) if self._messages else None

    def overloads(self, function: str) -> tuple[Overload, ...]:
        """Return the overloads of a function; none if the function does not exist."""
        if function in self.functions:
            return (self.functions[function],)
        found = self._overloads.get(function)
        if found is None:
            found = overloads(function, self.minor)
            if any(each.library == "jsonpatch" for each in found) and "jsonpatch" not in self.libraries:
                found = ()
            self._overloads[function] = found
        return found

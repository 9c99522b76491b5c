"""Options of a rule, read from the keyword-only parameters of its function."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Annotated, Any, Union, get_args, get_origin

from kcheck.text.record import NamedTuple


class BadOption(Exception):
    """A value that does not fit an option; the message describes the expected type."""


class Pattern(str):
    """A regular expression in Go's syntax (RE2). A config with an invalid expression is rejected; match it with `matches_whole`."""

    __slots__ = ()


class Option(NamedTuple):
    """`type`: bool, int, float, str, Pattern or tuple (of str); `help`: one line."""

    name: str
    type: type
    default: Any
    help: str

    def read(self, value: Any) -> Any:
        """Return a config value converted to the type of the option. Raises BadOption."""
        if self.type is tuple:
            if isinstance(value, str):
                return (value,)
            if isinstance(value, list) and all(isinstance(v, str) for v in value):
                return tuple(value)
            raise BadOption(f"{self.name} must be a list of strings, not {value!r}")
        if self.type is Pattern and isinstance(value, str):
            return Pattern(value)
        if self.type is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if type(value) is not self.type:
            raise BadOption(f"{self.name} must be {_TYPE_DESCRIPTIONS[self.type]}, not {value!r}")
        return value

    @property
    def type_word(self) -> str:
        """The description of the type, such as "a list of strings"."""
        return _TYPE_DESCRIPTIONS[self.type]


_NO_DEFAULT = object()
_TYPE_DESCRIPTIONS = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "a string",
    tuple: "a list of strings",
    Pattern: "a regular expression",
}
TYPES = tuple(_TYPE_DESCRIPTIONS)
"""The supported option types."""


def options_of(function: Callable[..., Any]) -> dict[str, Option]:
    """Return the options that a rule function declares.

    Raises TypeError for an option without default or with an unsupported type, which is a bug in the plug-in.
    """
    code = function.__code__
    if not code.co_kwonlyargcount:
        return {}
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return {name: _option(name, _hint(function, name), (function.__kwdefaults__ or {}).get(name, _NO_DEFAULT)) for name in names}


def _hint(function: Callable[..., Any], name: str) -> Any:
    """Return the annotation of one parameter. `typing.get_type_hints` would evaluate all annotations of the function at every start."""
    annotation = function.__annotations__.get(name, str)
    return eval(annotation, function.__globals__) if isinstance(annotation, str) else annotation


def _option(name: str, hint: Any, default: Any) -> Option:
    help_text = ""
    if get_origin(hint) is Annotated:
        hint, help_text = get_args(hint)[:2]
    if get_origin(hint) in (Union, types.UnionType):
        raise TypeError(f"option {name}: a union is not supported; use a single type")
    kind = get_origin(hint) or hint
    if kind not in _TYPE_DESCRIPTIONS:
        raise TypeError(f"option {name}: unsupported type {kind!r}")
    if default is _NO_DEFAULT:
        raise TypeError(f"option {name}: a default is required")
    return Option(name, kind, default, help_text)

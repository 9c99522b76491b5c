"""Options of a rule, read from the keyword-only parameters of its function."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Annotated, Any, Union, get_args, get_origin

from kcheck.text.record import NamedTuple


class BadOption(Exception):
    """A value that does not fit an option; the message says what fits."""


class Pattern(str):
    """A regular expression in Go's syntax (RE2). The config is refused where it does not compile; match it with `matches_whole`."""

    __slots__ = ()


class Option(NamedTuple):
    """`type`: bool, int, float, str, Pattern or tuple (of str); `help`: one line."""

    name: str
    type: type
    default: Any
    help: str

    def read(self, value: Any) -> Any:
        """A value of the config as the rule wants it. Raises BadOption."""
        if self.type is tuple:
            if isinstance(value, str):
                return (value,)
            if isinstance(value, list) and all(isinstance(v, str) for v in value):
                return tuple(value)
            raise BadOption(f"{self.name} is a list of texts, not {value!r}")
        if self.type is Pattern and isinstance(value, str):
            return Pattern(value)
        if self.type is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if type(value) is not self.type:
            raise BadOption(f"{self.name} is {_WORDS[self.type]}, not {value!r}")
        return value

    @property
    def type_word(self) -> str:
        return _WORDS[self.type]


_NONE = object()
_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    tuple: "a list of texts",
    Pattern: "a regular expression",
}
TYPES = tuple(_WORDS)
"""The types that an option may have."""


def options_of(function: Callable[..., Any]) -> dict[str, Option]:
    """The options that a rule function declares. Raises TypeError for one without default or of an unknown type: a plug-in's mistake."""
    code = function.__code__
    if not code.co_kwonlyargcount:
        return {}
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return {name: _option(name, _hint(function, name), (function.__kwdefaults__ or {}).get(name, _NONE)) for name in names}


def _hint(function: Callable[..., Any], name: str) -> Any:
    """What a parameter is annotated with. typing's own way reads the annotations of all of them, at every start."""
    written = function.__annotations__.get(name, str)
    return eval(written, function.__globals__) if isinstance(written, str) else written


def _option(name: str, hint: Any, default: Any) -> Option:
    help_text = ""
    if get_origin(hint) is Annotated:
        hint, help_text = get_args(hint)[:2]
    if get_origin(hint) in (Union, types.UnionType):
        raise TypeError(f"option {name}: one type, not a union")
    kind = get_origin(hint) or hint
    if kind not in _WORDS:
        raise TypeError(f"option {name}: type {kind!r} cannot be read from a config")
    if default is _NONE:
        raise TypeError(f"option {name}: needs a default")
    return Option(name, kind, default, help_text)

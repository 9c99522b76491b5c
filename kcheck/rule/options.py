"""Options of a rule, read from the keyword-only parameters of its function."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints


class BadOption(Exception):
    """A value that does not fit an option; the message says what fits."""


@dataclass(frozen=True, slots=True)
class Option:
    """`type`: bool, int, float, str or tuple (of str); `help`: one line."""

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
        if self.type is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if type(value) is not self.type:
            raise BadOption(f"{self.name} is {_WORDS[self.type]}, not {value!r}")
        return value

    @property
    def type_word(self) -> str:
        return _WORDS[self.type]


_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", tuple: "a list of texts"}


def options_of(function: Callable[..., Any]) -> dict[str, Option]:
    """The options that a rule function declares. Raises TypeError for one without default or of an unknown type: a plug-in's mistake."""
    if not function.__code__.co_kwonlyargcount:
        return {}
    keywords = [p for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    hints = get_type_hints(function, include_extras=True)
    return {p.name: _option(p, hints.get(p.name, str)) for p in keywords}


def _option(parameter: inspect.Parameter, hint: Any) -> Option:
    help_text = ""
    if get_origin(hint) is Annotated:
        hint, help_text = get_args(hint)[:2]
    if get_origin(hint) in (Union, types.UnionType):
        raise TypeError(f"option {parameter.name}: one type, not a union")
    kind = get_origin(hint) or hint
    if kind not in _WORDS:
        raise TypeError(f"option {parameter.name}: type {kind!r} cannot be read from a config")
    if parameter.default is parameter.empty:
        raise TypeError(f"option {parameter.name}: needs a default")
    return Option(parameter.name, kind, parameter.default, help_text)

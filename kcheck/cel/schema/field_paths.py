"""The fieldPath of a rule: the path from the value that the rule validates to the reported field, such as `.spec.min` or `['a-b']`.

Source: the documentation of x-kubernetes-validations and its validation in k8s.io/apiextensions-apiserver.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_TOKEN = re.compile(r"'(?:\\.|[^'\\])*'|'.*|[.\[\]]|[^.\[\]]+", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED_CHARS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}


class BadFieldPath(ValueError):
    """A path that does not exist in the schema; the message says why."""


def normalize(path: str, schema: Mapping[str, Any]) -> str:
    """Return the path in the server's format, without a leading dot; "" for "". Raises BadFieldPath."""
    tokens = _TOKEN.findall(path)
    result = ""
    place = 0
    while place < len(tokens):
        token = tokens[place]
        if token == ".":
            name = _token(tokens, place + 1)
            place += 2
        elif token == "[":
            quoted = _token(tokens, place + 1)
            if len(quoted) < 2 or quoted[0] != "'" or quoted[-1] != "'":
                raise BadFieldPath(f"expected single quoted string but got {quoted}")
            name = _unescaped(quoted[1:-1])
            if _token(tokens, place + 2) != "]":
                raise BadFieldPath(f"expected ] but got {tokens[place + 2]}")
            place += 3
        else:
            raise BadFieldPath(f"expected [ or . but got: {token}")
        result, schema = _step(result, name, schema)
    return result


def _token(tokens: list[str], place: int) -> str:
    if place >= len(tokens):
        raise BadFieldPath("unexpected end of JSON path")
    return tokens[place]


def _step(result: str, name: str, schema: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    properties = schema.get("properties")
    additional = schema.get("additionalProperties")
    if isinstance(properties, Mapping) and properties:
        if not isinstance(properties.get(name), Mapping):
            raise BadFieldPath("does not refer to a valid field")
        return f"{result}.{name}" if result else name, properties[name]
    if additional is not None:
        return f"{result}[{name}]", additional if isinstance(additional, Mapping) else {}
    raise BadFieldPath("does not refer to a valid field")


def _unescaped(text: str) -> str:
    def letter(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPED_CHARS:
            raise BadFieldPath(f"invalid string literal: invalid escape char {match[0]}")
        return _ESCAPED_CHARS[match[1]]

    return _ESCAPE.sub(letter, text)

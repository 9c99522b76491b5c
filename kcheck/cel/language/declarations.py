"""The functions that expressions may call, as declared by the API server, and the minor version of Kubernetes that introduced them.

Source: the environment of kube-apiserver 1.36 (k8s.io/apiserver/pkg/cel/environment and the libraries listed there). Each line has the
function, the id of an overload, its parameters and its result; `T.(A)` is a member function of T. Capital letters are type parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from kcheck.cel.language.signatures import COLLECTIONS, KUBERNETES, ORDERED, STANDARD, TEXTS
from kcheck.cel.values.types import SIMPLE, Type, list_of, map_of, optional_of, type_of
from kcheck.text.record import NamedTuple


class Overload(NamedTuple):
    """One overload of a function. `member`: called on a target, the first of `args`. `since`: the first minor version of Kubernetes."""

    id: str
    function: str
    library: str
    since: int
    member: bool
    args: tuple[Type, ...]
    result: Type
    params: tuple[Type, ...]


_LINE = re.compile(r"(\S+)\s+(\S+)\s+(?:(.+?)\.)?\((.*?)\)\s+(\S.*)")
_PART = re.compile(r"([\w.]+)(?:\((.*)\))?")
_ORDER = (("_<_", "less"), ("_<=_", "less_equals"), ("_>_", "greater"), ("_>=_", "greater_equals"))
_NUMBERS = {"int64": "int", "uint64": "uint", "double": "double"}


@lru_cache(maxsize=2048)
def overloads(function: str, minor: int) -> tuple[Overload, ...]:
    """Return the overloads of a function for expressions written for Kubernetes 1.`minor`; none if the function does not exist."""
    return tuple(each for each in _overloads(function) if each.since <= minor)


def known_functions() -> tuple[str, ...]:
    """Return the names of all functions."""
    return tuple(each for each in _lines() if each[0].isalpha())


@lru_cache(maxsize=512)
def _overloads(function: str) -> tuple[Overload, ...]:
    return tuple(_overload(library, since, line) for library, since, line in _lines().get(function, ()))


@lru_cache(maxsize=1)
def _lines() -> dict[str, list[tuple[str, int, str]]]:
    found: dict[str, list[tuple[str, int, str]]] = {}
    for text in (STANDARD, TEXTS, COLLECTIONS, KUBERNETES):
        library, since = "", 0
        for line in text.strip().splitlines():
            if line.startswith("#"):
                _, library, version = line.split()
                since = int(version)
            else:
                found.setdefault(line.split(None, 1)[0], []).append((library, since, line))
    for library, since, line in (*_comparisons(), *_families()):
        found.setdefault(line.split(None, 1)[0], []).append((library, since, line))
    return found


def _comparisons() -> Iterator[tuple[str, int, str]]:
    for operator, name in _ORDER:
        for kind in ("bool", "string", "bytes", "timestamp", "duration"):
            yield "standard", 0, f"{operator} {name}_{kind} ({kind}, {kind}) bool"
        for left, one in _NUMBERS.items():
            for right, other in _NUMBERS.items():
                suffix = left if left == right else f"{left}_{right}"
                yield "standard", 0 if left == right else 28, f"{operator} {name}_{suffix} ({one}, {other}) bool"


def _families() -> Iterator[tuple[str, int, str]]:
    """Yield the list functions that exist once for every ordered type."""
    for line in ORDERED.strip().splitlines():
        library, since, kinds, rest = line.split(None, 3)
        for kind in kinds.split(","):
            yield library, int(since), rest.replace("~", kind)


def _overload(library: str, since: int, line: str) -> Overload:
    match = _LINE.fullmatch(line.strip())
    if match is None:
        raise ValueError(f"invalid declaration: {line}")
    function, name, target, rest, result = match.groups()
    # Type parameters are local to an overload.
    args = tuple(_type(each, name) for each in ([target] if target else []) + _split(rest))
    params = {each.name: each for arg in args for each in _parameters(arg)}
    answer = _type(result, name)
    params |= {each.name: each for each in _parameters(answer)}
    return Overload(name, function, library, since, bool(target), args, answer, tuple(params.values()))


def _parameters(type_: Type) -> Iterator[Type]:
    if type_.kind == "param":
        yield type_
    for each in type_.params:
        yield from _parameters(each)


def _split(text: str) -> list[str]:
    parts: list[str] = []
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1:] = [(parts[-1] if parts else "") + char]
    return [each.strip() for each in parts]


@lru_cache(maxsize=512)
def _type(text: str, owner: str) -> Type:
    match = _PART.fullmatch(text)
    if match is None:
        raise ValueError(f"invalid type: {text}")
    name, inner = match.groups()
    parts = [_type(each, owner) for each in _split(inner)] if inner else []
    if name in SIMPLE and not parts:
        return SIMPLE[name]
    if name == "list":
        return list_of(parts[0])
    if name == "map":
        return map_of(parts[0], parts[1])
    if name == "optional":
        return optional_of(parts[0])
    if name == "type":
        return type_of(parts[0])
    return Type("param", f"{owner}.{name}") if len(name) == 1 else Type("opaque", name)

"""Where the values of API types occur in objects, as expressions of a ValidatingAdmissionPolicy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kcheck.policy.resource_names import ResourceName, kind_of_resource, resource_of
from kcheck.policy.rules.cel_types import Occurrences
from kcheck.policy.rules.scopes import ResolvedScope
from kcheck.schema.shape import Shape
from kcheck.text.record import NamedTuple

_MAX_DEPTH = 20
_ITEM = "*"

Paths = tuple[tuple[str, ...], ...]
"""Paths of fields; `*` matches the items of a list."""


class UnwrittenPath(Exception):
    """Values occur at a place that cannot be written as an expression. The message names it."""


class ValuesOfKinds(NamedTuple):
    """The kinds that contain values of API types, and an expression for the list of these values."""

    kinds: tuple[ResourceName, ...]
    expression: str


def values_of_kinds(scope: ResolvedScope) -> ValuesOfKinds:
    """Return where the values of the types of a rule occur. Raises UnwrittenPath."""
    kinds: list[ResourceName] = []
    by_paths: dict[Paths, set[str]] = defaultdict(set)
    store = scope.store
    for api_version, kind in store.definitions.kinds():
        builtin = store.builtin(api_version, kind)
        name = resource_of(api_version, kind, store)
        if builtin is None or not builtin.plural or kind_of_resource(name.group, name.plural) != kind:
            continue
        if scope.scope.groups and (name.group or "core") not in scope.scope.groups:
            continue
        if scope.kinds and not any(word in ("*", kind) and version in ("", api_version) for version, word in scope.kinds):
            continue
        paths = tuple(_paths(builtin.shape, scope.occurrences, frozenset(scope.types), ()))
        if paths:
            kinds.append(name)
            by_paths[paths].add(kind)
    if len({kind for each in by_paths.values() for kind in each}) < sum(map(len, by_paths.values())):
        raise UnwrittenPath("versions of a kind differ")
    ordered = sorted(by_paths.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    if not ordered:
        raise UnwrittenPath("no kind contains them")
    expression = _list_of(ordered[0][0])
    for paths, names in reversed(ordered[1:]):
        test = " || ".join(f'object.kind == "{name}"' for name in sorted(names))
        expression = f"{test} ?\n  {_list_of(paths)} :\n{expression}"
    return ValuesOfKinds(tuple(kinds), expression)


def _paths(shape: Shape, occurrences: Occurrences, types: frozenset[str], path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the values of types below a shape. Raises UnwrittenPath."""
    if len(path) > _MAX_DEPTH:
        raise UnwrittenPath("they may contain themselves")
    if shape.kind == "object":
        if shape.name in types:
            yield path
        for name in list(shape.fields):
            inner = shape.fields[name].shape
            if occurrences.leads_to(inner):
                yield from _paths(inner, occurrences, types, (*path, name))
    elif shape.kind == "list" and (item := shape.item_shape()) is not None and occurrences.leads_to(item):
        yield from _paths(item, occurrences, types, (*path, _ITEM))
    elif shape.kind == "map" and occurrences.leads_to(shape.item_shape()):
        raise UnwrittenPath(f"they occur in the map {'.'.join(path)}")


def _list_of(paths: Paths) -> str:
    return "\n  + ".join(map(_values_at, paths))


def _values_at(path: tuple[str, ...]) -> str:
    """Return an expression for the list of values at a path, which may be absent."""
    fields, items = (path[:-1], True) if path[-1:] == (_ITEM,) else (path, False)
    if _ITEM in fields or not fields:
        raise UnwrittenPath(f"they occur in lists of lists: {'.'.join(path)}")
    whole = f"object.?{'.?'.join(fields)}"
    # The API server writes null for some absent lists.
    found = f"object.{'.'.join(fields)}"
    return f"({whole}.orValue(null) != null ? {found if items else f'[{found}]'} : [])"

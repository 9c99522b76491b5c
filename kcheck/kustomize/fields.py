"""Fields of objects that settings are about: specifications of them, and the way to them.

A path has no words for list items: it goes into every one. Source: the field specifications of kustomize's documentation
("transformer configurations") and api/filters/fieldspec.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from kcheck.kustomize.identity import Gvk
from kcheck.kustomize.nodes import made, put
from kcheck.kustomize.problem import BadInput
from kcheck.yaml.node import Node


class Spec(NamedTuple):
    """A field of the objects that `gvk` selects. `create`: whether it is made where it is missing."""

    gvk: Gvk
    path: tuple[str, ...]
    create: bool = False


class NameReference(NamedTuple):
    """`fields` hold names of objects that `target` selects."""

    target: Gvk
    fields: tuple[Spec, ...]


def spec(path: str, kind: str = "", group: str = "", version: str = "", create: bool = False) -> Spec:
    return Spec(Gvk(group, version, kind), split(path), create)


def split(path: str, separator: str = "/") -> tuple[str, ...]:
    """The parts of a path; a separator behind a backslash belongs to a part."""
    found: list[str] = []
    words = path.split(separator)
    if len(words) > 1 and not words[0]:
        del words[0]
    for word in words:
        if found and found[-1].endswith("\\"):
            found[-1] = f"{found[-1][:-1]}{separator}{word}"
        else:
            found.append(word)
    return tuple(found)


def merged(specs: tuple[Spec, ...], others: Iterable[Spec]) -> tuple[Spec, ...]:
    """Both, what says the same once. Raises BadInput where two disagree."""
    found = list(specs)
    for other in others:
        for each in found:
            if each.path == other.path and each.gvk.is_selected(other.gvk):
                if each.create != other.create:
                    raise BadInput(f"conflicting field specifications for {'/'.join(other.path)}")
                break
        else:
            found.append(other)
    return tuple(found)


def find(node: Node, path: tuple[str, ...], make: Literal["", "map", "scalar"] = "", place: Node | None = None) -> Iterator[Node]:
    """The nodes that a path leads to. `make`: what is made where nothing is; `place`: the node whose place it gets.

    Raises BadInput where the path leads through a scalar.
    """
    if not path:
        yield node
        return
    if node.held is None:
        return
    if node.is_list:
        for item in node:
            yield from find(item, path, make, place)
        return
    if not node.is_map:
        raise BadInput(f"{node.path or 'the object'} is not a map or list, so {'/'.join(path)} cannot be set", node)
    word = path[0]
    name = word.removesuffix("[]")
    in_list = name != word
    child = node[name]
    if not child.exists:
        if not make or in_list or place is None:
            return
        child = put(node, name, made({} if make == "map" or len(path) > 1 else None, place))
    elif child.held is None and make and (make == "map" or len(path) > 1) and not in_list:
        child.held = {}
    yield from find(child, path[1:], make, place)

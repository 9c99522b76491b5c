"""`vars`: $(NAME) in fields replaced by a field of an object."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.kustomize.fields import Spec, find
from kcheck.kustomize.identity import Id
from kcheck.kustomize.item import Item
from kcheck.kustomize.nodes import assign, is_scalar, text_of
from kcheck.kustomize.problem import BadInput
from kcheck.kustomize.replacements import look_up, smart_split
from kcheck.kustomize.settings import gvk_in
from kcheck.text.pattern import pattern
from kcheck.yaml.node import Node, Scalar

_INDEX = pattern(r"(.*)\[(\d+)\]")
_REFERENCE = pattern(r"\$(?:\$|\(([^)]*)\))")


def attach(items: list[Item], variable: Node) -> None:
    """Note with the object that a variable reads. Raises BadInput where several could be meant."""
    objref = variable["objref"]
    wanted = Id(gvk_in(objref), text_of(objref["name"]), text_of(objref["namespace"]))
    exact = bool(wanted.namespace) or wanted.is_cluster_scoped
    matches = [item for item in items if any(_is_meant(wanted, id, exact) for id in item.ids)]
    if len(matches) > 1:
        raise BadInput(f"several objects match var {text_of(variable['name'])!r}", variable)
    for item in matches:
        item.variables.append(text_of(variable["name"]))


def _is_meant(wanted: Id, id: Id, exact: bool) -> bool:
    return wanted.equals(id) if exact else wanted.gvk == id.gvk and wanted.name == id.name


def expand(items: list[Item], variables: dict[str, Node], specs: tuple[Spec, ...]) -> Iterator[BadInput]:
    """Put the values of variables where they are referred to; gives what is wrong."""
    values: dict[str, Node] = {}
    for name, variable in variables.items():
        value = _value_of(items, name, variable)
        if value is None:
            yield BadInput(f"var {name!r} leads to no field of the objects of the build", variable)
        elif is_scalar(value):
            values[name] = value
    if not values:
        return
    for item in items:
        gvk = item.gvk
        for spec in specs:
            if gvk.is_selected(spec.gvk):
                for node in find(item.node, spec.path):
                    for each in node if node.is_map or node.is_list else [node]:
                        _expand(item, each, values, variables)


def _value_of(items: list[Item], name: str, variable: Node) -> Node | None:
    path = text_of(variable.at("fieldref", "fieldPath")) or "metadata.name"
    for item in items:
        if name in item.variables:
            way: list[str] = []
            for part in smart_split(path):
                match = _INDEX.fullmatch(part)
                way += [part] if match is None else [word for word in match.groups() if word]
            return look_up(item.node, way)
    return None


def _expand(item: Item, node: Node, values: dict[str, Node], variables: dict[str, Node]) -> None:
    text = node.held
    if not isinstance(text, str) or "$" not in text:
        return
    whole = _REFERENCE.fullmatch(text)
    used: list[str] = []
    new: Scalar
    if whole is not None and whole[1] in values:
        new = values[whole[1]].held
        used.append(whole[1])
    else:
        parts: list[str] = []
        last = 0
        for match in _REFERENCE.finditer(text):
            name = match[1]
            if name in values:
                used.append(name)
            parts += [text[last : match.start()], text_of(values[name]) if name in values else "$" if name is None else match[0]]
            last = match.end()
        new = "".join([*parts, text[last:]])
    if new != text:
        assign(node, new)
        item.changed("vars", variables[used[0]] if used else item.origin, node)

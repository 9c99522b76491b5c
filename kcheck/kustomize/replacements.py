"""`replacements`: values copied from a field of one object into fields of others."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.kustomize.fields import split
from kcheck.kustomize.identity import Id
from kcheck.kustomize.item import Item
from kcheck.kustomize.nodes import assign, become, duplicate, is_scalar, made, put, refill, text_of
from kcheck.kustomize.problem import BadInput
from kcheck.kustomize.selecting import found_in, labelled
from kcheck.kustomize.settings import gvk_in
from kcheck.yaml.node import Node
from kcheck.yaml.scalars import BadScalar, resolve

_NAME = "metadata.name"


def replace(items: list[Item], setting: Node) -> None:
    """Apply one replacement. Raises BadInput."""
    source, targets = setting["source"], setting["targets"]
    if not source.is_map or not targets.is_list:
        raise BadInput("a replacement needs a source and at least one target", setting)
    value = _value(items, source)
    for target in targets:
        if not target["select"].is_map:
            raise BadInput("a target needs select", target)
        paths = [each for each in target["fieldPaths"] if text_of(each)] or [made(_NAME, target)]
        for item in items:
            if _is_target(item, target):
                for path in paths:
                    _write(item, value, path, target["options"], setting)


def _value(items: list[Item], source: Node) -> Node:
    """The value that is copied."""
    wanted = _id(source)
    matches = [item for item in items if any(id.is_selected(wanted) for id in item.ids)]
    if len(matches) != 1:
        raise BadInput("several objects match the source" if matches else "no object matches the source", source)
    path = text_of(source["fieldPath"]) or _NAME
    node = look_up(matches[0].node, smart_split(path))
    if node is None or (not is_scalar(node) and not len(node)) or node.held is None:
        raise BadInput(f"the source has no {path}", source["fieldPath"] if source["fieldPath"] else source)
    node = duplicate(node)
    delimiter = text_of(source.at("options", "delimiter"))
    if delimiter:
        if not is_scalar(node):
            raise BadInput("a delimiter needs a scalar", source["options"])
        parts, index = text_of(node).split(delimiter), source.at("options", "index").integer or 0
        if not 0 <= index < len(parts):
            raise BadInput(f"index {index} is out of range: {text_of(node)!r} has {len(parts)} parts", source["options"])
        node.held = _typed(parts[index], node)
    return node


def _id(node: Node) -> Id:
    return Id(gvk_in(node), text_of(node["name"]), text_of(node["namespace"]))


def _is_target(item: Item, target: Node) -> bool:
    select, ids = target["select"], item.ids
    wanted = _id(select)
    if not any(id.is_selected(wanted) for id in ids) or not labelled(item, select):
        return False
    for reject in target["reject"]:
        by_labels = bool(reject["labelSelector"].text or reject["annotationSelector"].text)
        if by_labels and labelled(item, reject):
            return False
        unwanted = _id(reject)
        if any((unwanted.name, unwanted.namespace, *unwanted.gvk)) and any(id.is_selected(unwanted) for id in ids):
            return False
    return True


def _write(item: Item, value: Node, path: Node, options: Node, setting: Node) -> None:
    create = options["create"].boolean is True
    kind = ("map" if value.is_map else "list" if value.is_list else "scalar") if create else ""
    found = list(_matching(item.node, smart_split(text_of(path)), kind, path))
    if not found:
        raise BadInput(f"field {text_of(path)!r} does not exist in {item.id}", path)
    for node in found:
        _set(node, duplicate(value), options)
        item.changed("replacements", setting, node)


def _set(node: Node, value: Node, options: Node) -> None:
    delimiter = text_of(options["delimiter"])
    text = text_of(value)
    if delimiter:
        if not is_scalar(node):
            raise BadInput("a delimiter needs a scalar", options)
        parts, index = text_of(node).split(delimiter), options["index"].integer or 0
        if index < 0:
            parts.insert(0, text)
        elif index >= len(parts):
            parts.append(text)
        else:
            parts[index] = text
        text = delimiter.join(parts)
    if is_scalar(node) and is_scalar(value):
        # The type is that of the field: a number stays one.
        typed = _typed(text, node)
        assign(node, typed, None if delimiter else value)
    else:
        become(node, value)


def _typed(text: str, like: Node) -> object:
    """A text as a value of the type that a scalar has."""
    if isinstance(like.held, str) or like.held is None:
        return text
    try:
        return resolve(text)
    except BadScalar:
        return text


def smart_split(path: str) -> list[str]:
    """The parts of a path with dots; what is in brackets is one part."""
    found: list[str] = []
    parts = iter(split(path, "."))
    for part in parts:
        if part.startswith("[") and not part.endswith("]"):
            words = [part]
            for word in parts:
                words.append(word)
                if word.endswith("]"):
                    break
            part = ".".join(words)
            found.append(part if "=" in part else part.strip("[]"))
        else:
            found.append(part)
    return found


def look_up(node: Node, path: list[str]) -> Node | None:
    """The node that a path leads to: fields, indices and [key=value]; None where there is none."""
    for part in path:
        if not part.strip():
            continue
        if node.is_list:
            if part == "-":
                node = node[len(node) - 1]
            elif part.isdigit():
                node = node[int(part)]
            else:
                key, _, value = part.strip("[]").partition("=")
                found = next((item for item in node if text_of(item[key] if key else item) == value), None)
                if found is None:
                    return None
                node = found
        else:
            node = node[part]
        if not node.exists:
            return None
    return node


def _matching(node: Node, path: list[str], kind: str, place: Node) -> Iterator[Node]:
    """The nodes that a path of a target leads to; `kind`: what is made where nothing is."""
    if not path:
        yield node
        return
    part, rest = path[0], path[1:]
    if part == "*":
        for item in _items(node, place):
            yield from _matching(item, rest, kind, place)
    elif part.isdigit():
        index = int(part)
        items = _items(node, place)
        if index == len(items) and kind:
            items.append(_new(rest, kind, place))
            refill(node, items)
        if index >= len(items):
            raise BadInput(f"index {index} is out of range: the list has {len(items)} items", place)
        yield from _matching(items[index], rest, kind, place)
    elif part.startswith("[") and part.endswith("]"):
        yield from _by_key(node, part, rest, kind, place)
    else:
        if not node.is_map:
            return
        child = node[part]
        if not child.exists:
            if not kind:
                return
            child = put(node, part, _new(rest, kind, place))
        yield from _matching(child, rest, kind, place)


def _by_key(node: Node, part: str, rest: list[str], kind: str, place: Node) -> Iterator[Node]:
    key, equals, value = part[1:-1].partition("=")
    if not equals:
        raise BadInput(f"{part} is not [key=value]", place)
    items = _items(node, place)
    found = [item for item in items if (key in item if key else is_scalar(item)) and found_in(value, _shown(item, key), place)]
    if not found and kind:
        new = made({key: value}, place) if key else made(value, place)
        items.append(new)
        refill(node, items)
        found = [new]
    for item in found:
        yield from _matching(item, rest, kind, place)


def _shown(item: Node, key: str) -> str:
    return text_of(item[key] if key else item)


def _items(node: Node, place: Node) -> list[Node]:
    if not node.is_list:
        raise BadInput(f"{text_of(place)!r} leads into {node.path or 'the object'}, which is not a list", place)
    return list(node)


def _new(rest: list[str], kind: str, place: Node) -> Node:
    """What is made for a part of a path, by the part behind it."""
    if rest:
        is_list = rest[0].isdigit() or (rest[0].startswith("[") and rest[0].endswith("]"))
        return made([] if is_list else {}, place)
    return made({"map": {}, "list": []}.get(kind, ""), place)

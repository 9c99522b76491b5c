"""ConfigMaps and Secrets that a kustomization generates.

Source: api/internal/generators, api/kv and api/hasher of kustomize.
"""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
from collections.abc import Callable, Iterator
from typing import NamedTuple

from kcheck.kustomize.item import Item
from kcheck.kustomize.library import Piece
from kcheck.kustomize.nodes import is_scalar, made, mutable, put, text_of
from kcheck.kustomize.problem import BadInput
from kcheck.yaml.node import Node

KINDS = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}
_LETTERS = str.maketrans({"0": "g", "1": "h", "3": "k", "a": "m", "e": "t"})
_LINE = 70
# As Go's encoding/json writes them.
_ESCAPED = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})
_FILE = "file"


class Pair(NamedTuple):
    """A key and its value. `place`: a node where the value is, in the kustomization or in the file."""

    key: str
    value: bytes
    place: Node
    key_place: Node


def generated(setting: Node, kind: str, options: Node, find: Callable[[Node], Piece | None]) -> Item:
    """The object that an entry of a generator makes. `options`: generatorOptions. Raises BadInput."""
    if not text_of(setting["name"]):
        raise BadInput("a generator needs a name", setting)
    root = made({"apiVersion": "v1", "kind": kind, "metadata": {}}, setting["name"])
    root.start, root.end = setting.start, setting.end
    metadata = root["metadata"]
    put(metadata, "name", _copy(setting["name"]))
    if text_of(setting["namespace"]):
        put(metadata, "namespace", _copy(setting["namespace"]))
    if kind == "Secret":
        put(root, "type", _copy(setting["type"]) if text_of(setting["type"]) else made("Opaque", setting))
    _fill(root, kind, setting, find)
    own = setting["options"]
    for field in ("labels", "annotations"):
        for each in (own[field], options[field]):
            for name, value in each.entries:
                target = metadata[field] if field in metadata else put(metadata, field, made({}, each))
                if name not in target:
                    put(target, value.key if isinstance(value.key, Node) else name, _text(value))
    for each in (own, options):
        if each["immutable"].boolean and "immutable" not in root:
            put(root, "immutable", Node(True, each["immutable"].start, each["immutable"].end))
    item = Item(root, setting)
    item.generated = True
    item.hashed = not (own["disableNameSuffixHash"].boolean or options["disableNameSuffixHash"].boolean)
    item.behavior = setting["behavior"].text
    return item


def _copy(node: Node) -> Node:
    return Node(node.held, node.start, node.end, node.style)


def _text(node: Node) -> Node:
    return Node(text_of(node), node.start, node.end, node.style)


def _fill(root: Node, kind: str, setting: Node, find: Callable[[Node], Piece | None]) -> None:
    pairs: dict[str, Pair] = {}
    for pair in _pairs(setting, find):
        if pair.key in pairs:
            raise BadInput(f"key {pair.key!r} is generated twice", pair.key_place)
        pairs[pair.key] = pair
    if kind == "Secret":
        put(root, "data", made({}, setting))
    for name in sorted(pairs):
        pair = pairs[name]
        field, value = "data", ""
        try:
            value = pair.value.decode("utf-8")
        except UnicodeDecodeError:
            field = "binaryData"
        if kind == "Secret" or field == "binaryData":
            field, value = "data" if kind == "Secret" else field, encoded(pair.value)
        owner = root[field] if field in root else put(root, field, made({}, setting))
        key = Node(name, pair.key_place.start, pair.key_place.end)
        put(owner, key, Node(value, pair.place.start, pair.place.end, "|" if "\n" in value else pair.place.style))


def encoded(value: bytes) -> str:
    """Base64 in lines, as kustomize writes it."""
    text = base64.b64encode(value).decode("ascii")
    if len(text) < _LINE:
        return text
    return "".join(f"{text[at : at + _LINE]}\n" for at in range(0, len(text), _LINE))


def _pairs(setting: Node, find: Callable[[Node], Piece | None]) -> Iterator[Pair]:
    envs = [*setting["envs"], *([setting["env"]] if text_of(setting["env"]) else [])]
    for node in envs:
        piece = find(node)
        if piece is not None:
            yield from _variables(node, piece)
    for node in setting["literals"]:
        name, equals, value = text_of(node).partition("=")
        if not equals or not name:
            raise BadInput(f"literal {text_of(node)!r} is not key=value", node)
        place, key_place = _halves(node, name)
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        yield Pair(name, value.encode("utf-8", "surrogatepass"), place, key_place)
    for node in setting["files"]:
        name, equals, path = text_of(node).partition("=")
        if not equals:
            name, path = posixpath.basename(name), name
        if not name or not path or "=" in path:
            raise BadInput(f"file {text_of(node)!r} is not a path or key=path", node)
        piece = find(Node(path, node.start, node.end, node.style, node.key, node.parent))
        if piece is not None:
            yield Pair(name, content(piece), Node("", piece.base, piece.base + len(piece.source.text), _FILE), node)


def _halves(node: Node, name: str) -> tuple[Node, Node]:
    """The positions of the value and the key of a literal; both are the whole literal if it is quoted."""
    if node.end - node.start != len(text_of(node)):
        return node, node
    middle = node.start + len(name)
    return Node("", min(middle + 1, node.end), node.end), Node("", node.start, middle)


def content(piece: Piece) -> bytes:
    """The bytes of a file."""
    return piece.source.encode(piece.source.text)


def _variables(node: Node, piece: Piece) -> Iterator[Pair]:
    """The lines of a file of variables."""
    text, at = piece.source.text, piece.base
    for line in text.split("\n"):
        stripped = line.removesuffix("\r").lstrip()
        if stripped and stripped[0] != "#":
            name, _, value = stripped.partition("=")
            start = at + len(line) - len(line.lstrip())
            place = Node("", start + len(name) + 1 if _ else start, start + len(stripped))
            yield Pair(name, value.encode("utf-8", "surrogatepass"), place, Node("", start, start + len(name)))
        at += len(line) + 1


def hash_of(item: Item) -> str:
    """What kustomize adds to the name of a generated object."""
    root = item.node
    if item.kind in ("ConfigMap", "Secret"):
        fields: dict[str, object] = {"kind": item.kind, "name": "", "data": root["data"].plain() if root["data"] else ""}
        further = "binaryData" if item.kind == "ConfigMap" else "stringData"
        if item.kind == "Secret":
            fields["type"] = text_of(root["type"])
        if root[further].is_map:
            fields[further] = root[further].plain()
    else:
        fields = root.plain()
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False).translate(_ESCAPED)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10].translate(_LETTERS)


def absorb(items: list[Item], new: Item) -> None:
    """Add a generated object to others: as one more, or merged into or in the place of the one with its name. Raises BadInput."""
    id = new.id
    matches = [at for at, each in enumerate(items) if any(other.equals(id) for other in each.ids)]
    merges = new.behavior in ("merge", "replace")
    if not matches:
        if merges:
            raise BadInput(f"behavior: {new.behavior}, but {id} does not exist", new.origin)
        items.append(new)
        return
    if len(matches) > 1 or not merges:
        raise BadInput(f"{id} exists already" if len(matches) == 1 else f"several objects match {id}", new.origin)
    old, merged = items[matches[0]], new.behavior == "merge"
    _inherit(new, old)
    if merged:
        for field in ("data", "binaryData"):
            _merge_data(new.node, old.node, field)
    items[matches[0]] = new


def _merge_data(new: Node, old: Node, field: str) -> None:
    if not old[field].is_map:
        return
    if field not in new:
        put(new, field, old[field])
        return
    target = new[field]
    entries = dict(mutable(target))
    target.held = {}
    for name, value in [*old[field].entries, *entries.items()]:
        put(target, value.key if isinstance(value.key, Node) else name, value if is_scalar(value) else made("", value))


def _inherit(new: Item, old: Item) -> None:
    """Give an object the name, the labels and the history of the one that it takes the place of."""
    for field in ("labels", "annotations"):
        theirs = old.node.at("metadata", field)
        for name, value in theirs.entries:
            metadata = new.metadata()
            target = metadata[field] if field in metadata else put(metadata, field, made({}, theirs))
            if name not in target:
                put(target, value.key if isinstance(value.key, Node) else name, _text(value))
    new.rename(old.name, old.node.at("metadata", "name"))
    namespace = old.node.at("metadata", "namespace")
    if text_of(namespace):
        put(new.metadata(), "namespace", _copy(namespace))
    new.previous = list(old.previous)
    new.prefixes, new.suffixes = list(old.prefixes), list(old.suffixes)
    new.variables = list(old.variables)
    new.changes = [*old.changes, *new.changes]
    # The annotations of the build are those of the old object.
    new.hashed = new.hashed and old.hashed
    new.behavior = old.behavior

"""Strategic merge patches as kustomize applies them.

Source: kyaml/yaml/walk and kyaml/yaml/merge2. Both trees are used up: the outcome is made of their nodes, so each value has the place of
the file that says it.
"""

from __future__ import annotations

from collections.abc import Callable

from kcheck.kustomize.mergekeys import Merge
from kcheck.kustomize.nodes import drop, is_scalar, put, refill, text_of
from kcheck.kustomize.problem import BadInput
from kcheck.yaml.node import Node

_DIRECTIVE = "$patch"
_QUOTED = ("'", '"', "|", ">")
Values = tuple[str, ...]


class Merger:
    """`spend` counts the nodes visited."""

    def __init__(self, spend: Callable[[int], None]) -> None:
        self._spend = spend

    def merge(self, node: Node | None, patch: Node | None, schema: Merge | None) -> Node | None:
        """What comes of a value and what a patch says of it, None where nothing is left. Raises BadInput."""
        self._spend(1)
        first = next((each for each in (node, patch) if each is not None and each.held is not None), None)
        if first is None or first.is_map:
            _expect(first, node, patch, "map")
            return self._map(node, patch, schema)
        if first.is_list:
            _expect(first, node, patch, "list")
            if schema is not None and schema.keys is not None:
                return self._associative(node, patch, schema)
        else:
            _expect(first, node, patch, "scalar")
        return node if patch is None else patch

    def _map(self, node: Node | None, patch: Node | None, schema: Merge | None) -> Node | None:
        if node is None or node.held is None:
            if patch is not None and patch.is_map and _directive(patch) == "delete":
                return None
            if patch is None and node is not None and node.end > node.start:
                # A null that is written stays.
                return node
            node = patch
        elif patch is not None and patch.held is None:
            return None
        elif patch is not None:
            directive = _directive(patch)
            if directive == "delete":
                return None
            if directive == "replace":
                node = patch
        if node is None or not node.is_map:
            return None
        names = [name for name, _ in node.entries]
        if patch is not None and patch is not node:
            names += [name for name, _ in patch.entries if name not in node]
        for name in sorted(names):
            self._field(node, patch, name, None if schema is None else schema.fields.get(name))
        return node

    def _field(self, node: Node, patch: Node | None, name: str, schema: Merge | None) -> None:
        ours = _present(node, name)
        theirs = None if patch is None else _present(patch, name)
        if theirs is None and ours is not None and ours.held is not None and is_scalar(ours):
            return
        value = self.merge(ours, theirs, schema)
        if value is None or (value.held is None and not (value is ours and theirs is None and value.end > value.start)):
            drop(node, name)
        elif value is not ours:
            if ours is not None and ours.style in _QUOTED and is_scalar(value) and not isinstance(value.held, str):
                # The value keeps the quotes of the one that it replaces.
                value.held = text_of(value)
            assert theirs is None or isinstance(value.key, (Node, str, int))
            put(node, value.key if isinstance(value.key, Node) else name, value)

    def _associative(self, node: Node | None, patch: Node | None, schema: Merge) -> Node | None:
        assert schema.keys is not None
        if node is None or node.held is None:
            node = patch
        elif patch is not None:
            if patch.held is None:
                return None
            directive = _list_directive(patch)
            if directive == "delete":
                return None
            if directive == "replace":
                node = patch
        if node is None:
            return None
        sources = [each for each in (patch, node) if each is not None and each.is_list]
        if schema.keys:
            refill(node, self._merged_items(node, patch, schema, _key_values(sources, schema.keys)))
        else:
            found: dict[str, Node] = {}
            for source in sources:
                for item in source:
                    found.setdefault(text_of(item), item)
            refill(node, list(found.values()))
        return node

    def _merged_items(self, node: Node, patch: Node | None, schema: Merge, values: list[Values]) -> list[Node]:
        keys = schema.keys or ()
        ours: list[Node] = list(node)
        theirs = list(patch) if patch is not None and patch.is_list else None
        if len(keys) > 1:
            values = _filled(values)
        below = Merge(None, schema.fields)
        found: list[Node] = []
        used = tuple(key for at, key in enumerate(keys) if any(each[at] for each in values)) or keys
        for each in values:
            wanted = tuple(value for key, value in zip(keys, each, strict=True) if key in used)
            item = self.merge(_matching(ours, used, wanted), _matching(theirs or [], used, wanted), below)
            if item is None or item.held is None or (item.is_map and not len(item)):
                _replace(ours, None, used, wanted)
                continue
            for key, value in zip(used, wanted, strict=True):
                if value and item.is_map and key not in item:
                    put(item, key, Node(int(value) if value.isdigit() else value, item.start, item.end))
            _replace(found, item, used, wanted)
        for item in list(ours):
            present = tuple(text_of(item[key]) for key in used if item[key].exists)
            found += [item] * (len(used) - len(present))
            if len(used) > 1:
                _replace(found, None, used, present)
            _replace(found, item, used, present)
        return found


def _present(node: Node, name: str) -> Node | None:
    child = node[name]
    return child if child.exists else None


def _expect(first: Node | None, node: Node | None, patch: Node | None, wanted: str) -> None:
    if first is None or node is None or patch is None or node.held is None or patch.held is None:
        return
    if (node.is_map, node.is_list) != (patch.is_map, patch.is_list):
        raise BadInput(f"{patch.path} is not a {wanted}, as it is in the object that it patches", patch)


def _directive(patch: Node) -> str:
    """What `$patch` in a map says to do with it; the entry is removed."""
    if _DIRECTIVE not in patch:
        return "merge"
    node = patch[_DIRECTIVE]
    if node.text not in ("delete", "replace", "merge"):
        raise BadInput(f"unknown $patch directive {text_of(node)!r}", node)
    drop(patch, _DIRECTIVE)
    return node.text


def _list_directive(patch: Node) -> str:
    """What an item with nothing but `$patch` says to do with its list; the item is removed."""
    found = next((item for item in patch if item.is_map and _DIRECTIVE in item), None)
    if found is None or len(found) > 1:
        return "merge"
    word = found[_DIRECTIVE].text
    if word not in ("delete", "replace", "merge"):
        raise BadInput(f"unknown $patch directive {word!r}", found)
    refill(patch, [item for item in patch if item is not found])
    return word


def _key_values(sources: list[Node], keys: tuple[str, ...]) -> list[Values]:
    """The keys of the items of both lists, each once, those of the patch first."""
    found: dict[Values, None] = {}
    for source in sources:
        for item in source:
            found.setdefault(tuple(text_of(item[key]) for key in keys), None)
    return list(found)


def _filled(values: list[Values]) -> list[Values]:
    """The same, where items that say only some of the keys are taken for those that say the rest, too."""
    found = list(values)
    for i in range(len(found)):
        one = found[i]
        for j, other in enumerate(found):
            both = _both(one, other)
            if both is not None:
                found[i] = found[j] = both
    return found


def _both(one: Values, other: Values) -> Values | None:
    pairs = list(zip(one, other, strict=True))
    if any(a != b and a and b for a, b in pairs) or all(a != b for a, b in pairs):
        return None
    return tuple(a or b for a, b in pairs)


def _matches(item: Node, keys: tuple[str, ...], values: Values) -> bool:
    """Whether an item has these keys, with these values where they are not empty."""
    return item.is_map and all(key in item and (not value or text_of(item[key]) == value) for key, value in zip(keys, values, strict=True))


def _matching(items: list[Node], keys: tuple[str, ...], values: Values) -> Node | None:
    """The first item with these keys; of several keys only those with values are asked for."""
    asked = [(key, value) for key, value in zip(keys, values, strict=True) if value]
    if not asked:
        asked = list(zip(keys, values, strict=True))
    names, wanted = tuple(key for key, _ in asked), tuple(value for _, value in asked)
    return next((item for item in items if _matches(item, names, wanted)), None)


def _replace(items: list[Node], new: Node | None, keys: tuple[str, ...], values: Values) -> None:
    """Put an item in the place of those with the same keys, else behind all; None removes them.

    As kustomize has it, fewer values than keys mean any item with the first values, and no values all items.
    """
    kept: list[Node] = []
    found = False
    for item in items:
        if item.held is None or (item.is_map and not len(item)):
            continue
        if item.is_map or not values or not values[0]:
            if values and not _matches(item, keys[: len(values)], values):
                kept.append(item)
            elif values:
                found = True
                if new is not None:
                    kept.append(new)
        else:
            kept.append(item)
    if new is not None and not found:
        kept.append(new)
    items[:] = kept

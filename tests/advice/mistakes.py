"""Typical mistakes in manifests: of types, of spelling and of the place of a field."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from kcheck.text.edit import Edit, apply_edits
from kcheck.text.source import Source
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

Mistake = Callable[[Random, Node, str], str | None]


def with_mistake(random: Random, text: str) -> str | None:
    """Returns a text with one mistake in a scalar, a key or a list, None if the text has none of them."""
    documents = [document for document in parse(Source("example.yaml", text)) if document.fault is None]
    nodes = [node for document in documents for node in _below(document.root) if node.end > node.start]
    if not nodes:
        return None
    for _ in range(10):
        node = random.choice(nodes)
        new = random.choice(_MISTAKES)(random, node, text[node.start : node.end])
        if new is not None:
            return apply_edits(text, [Edit(node.start, node.end, new)])
    return None


def _below(node: Node) -> Iterator[Node]:
    """The values below a node and the keys of its entries, each of which has text of its own."""
    children = list(node.value.values()) if node.is_map else list(node.value) if node.is_list else []
    for child in children:
        if isinstance(child.key, Node):
            yield child.key
        if (not child.is_map and not child.is_list) or child.style == "{":
            yield child
        yield from _below(child)


def _typing_error(random: Random, node: Node, written: str) -> str | None:
    if not written.isidentifier() or len(written) < 5:
        return None
    at = random.randrange(1, len(written) - 2)
    return random.choice((written[:at] + written[at + 1 :], written[:at] + written[at + 1] + written[at] + written[at + 2 :]))


def _wrong_case(random: Random, node: Node, written: str) -> str | None:
    changed = written[:1].swapcase() + written[1:]
    return changed if changed != written else None


def _quoted(random: Random, node: Node, written: str) -> str | None:
    return f'"{written}"' if isinstance(node.value, int) else None


def _bare(random: Random, node: Node, written: str) -> str | None:
    return written[1:-1] if node.style in ("'", '"') and "\n" not in written and isinstance(node.value, str) else None


def _number(random: Random, node: Node, written: str) -> str | None:
    return random.choice(("0123456", "1e10", "yes", "1.10", "010")) if node.style == "" and isinstance(node.value, str) else None


def _only_item(random: Random, node: Node, written: str) -> str | None:
    return written[1:-1].strip() if node.is_list and len(node) == 1 else None


def _unit(random: Random, node: Node, written: str) -> str | None:
    return random.choice(("30s", "128m", "1 Gi", "10GB")) if written[:1].isdigit() else None


_MISTAKES: tuple[Mistake, ...] = (_typing_error, _typing_error, _wrong_case, _quoted, _bare, _number, _only_item, _unit)

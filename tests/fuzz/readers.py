"""What must hold of every text, and of all bytes, that are given to the readers."""

from __future__ import annotations

from typing import Any

import _ruamel_yaml as libyaml
from ruamel.yaml.error import YAMLError

from kcheck.text.source import Source, Undecodable
from kcheck.yaml.document import Document
from kcheck.yaml.fast.reader import read
from kcheck.yaml.libyaml.builder import YamlFault, build
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse


def check_bytes(data: bytes) -> None:
    """Bytes are a text that is written back as it was, or no text."""
    try:
        source = Source.decode("a.yaml", data)
    except Undecodable as error:
        offset, line = error.offset, error.line
        assert 0 <= offset <= len(data)
        assert line >= 1
        return
    assert source.encode(source.text) == data
    _check_documents(source, parse(source))


def check_reading(text: str) -> None:
    """Every document is nodes in their places or a fault with one; both readers agree on what both can read."""
    source = Source("a.yaml", text)
    documents = parse(source)
    _check_documents(source, documents)
    for document in documents:
        _compare(text[document.start : document.end])


def _check_documents(source: Source, documents: list[Document]) -> None:
    end = 0
    for number, document in enumerate(documents):
        assert document.index == number
        assert end <= document.start <= document.end <= len(source.text)
        end = document.start
        if document.fault is not None:
            assert document.fault.message
            assert "\n" not in document.fault.message
            assert 0 <= document.fault.start <= document.fault.end <= len(source.text)
            source.range(document.fault.start, document.fault.end)
        _check_node(document.root, document)
        for entry, first in document.duplicates:
            assert entry.name == first.name


def _check_node(root: Node, document: Document) -> None:
    stack = [root]
    while stack:
        node = stack.pop()
        assert document.start <= node.start <= node.end <= document.end, (node.start, node.end, node.value)
        if isinstance(node.value, (dict, list)):
            for child in node:
                assert child.parent is node
                stack.append(child)
        else:
            assert node.value is None or isinstance(node.value, (str, bool, int, float))


def _compare(text: str) -> None:
    """What the quick reader reads, libyaml reads the same."""
    quick = read(text, 0)
    if quick is None:
        return
    try:
        slow = build(libyaml.CParser(text), text, 0)
    except (YAMLError, YamlFault) as error:
        raise AssertionError(f"libyaml refuses what was read: {error}") from error
    assert slow is not None
    assert outline(quick.root) == outline(slow.root)
    # An event comes when a value is complete, so of duplicates the inner ones come first there.
    assert sorted((a.start, b.start) for a, b in quick.duplicates) == sorted((a.start, b.start) for a, b in slow.duplicates)
    assert quick.trailing == slow.trailing


def outline(node: Node) -> Any:
    """All that there is of a tree, in a form that can be compared."""
    key = node.key
    own = (node.start, node.end, node.style, (key.value, key.start, key.end, key.style) if isinstance(key, Node) else key)
    value = node.value
    if isinstance(value, dict):
        return own, [(name, outline(child)) for name, child in value.items()]
    if isinstance(value, list):
        return own, [outline(child) for child in value]
    # 1 and 1.0, nan and nan.
    return own, type(value), repr(value)

"""The policies and bindings in a file, as they are enforced."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kcheck.kube.resource import Resource, resources
from kcheck.policy.policy_input import PolicyFile
from kcheck.text.source import Source
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

Parse = Callable[[Source], list[Document]]
"""Parses a file. The parser of a session also fills in variables."""


def policy_objects(file: PolicyFile, parse_file: Parse) -> Iterator[Resource]:
    """Yield the objects of a file. Those that a kustomization changes have the fields that it builds, at the places of the written ones."""
    built = {(each.kind, each.name): each.json for each in file.built}
    for document in parse_file(Source(file.path, file.text)):
        for each in resources(document):
            json = built.get((each.kind, each.name))
            if json is None:
                yield each
            elif json:
                root = parse(Source(file.path, json))[0].root
                _move(root, each.node)
                yield Resource(root, document)


def _move(node: Node, written: Node) -> None:
    """Give a node, and all nodes below it, the offsets of the written ones. What is not written there is at the place of its parent."""
    span = written.span
    node.start, node.end = span.start, span.end
    if isinstance(node.key, Node):
        node.key.start, node.key.end = written.key_span
    for place, child in enumerate(node):
        key = child.name or place
        _move(child, written[key] if written[key].exists else written)

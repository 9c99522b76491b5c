"""Fields of custom resources that name Secrets and ConfigMaps, by what such fields are usually called.

Source: the API conventions of Kubernetes ("Naming of the reference field"), and what cert-manager, external-secrets, Flux, KEDA,
Crossplane, Strimzi, Rook, the Prometheus operator and the charts of Bitnami call theirs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kcheck.facts.facts import Reference
from kcheck.kube.resource import Resource
from kcheck.schema.locator import Locator
from kcheck.text.pattern import pattern
from kcheck.yaml.node import Node

# What stands under such a key has the name and, maybe, key and namespace.
_NAMING = pattern(r"(?:\w*[sS]ecret|(?P<map>\w*[cC]onfigMap))(?:Key|Target)?(?:Ref|Reference|Selector)s?|secret|(?P<bare>configMap)")
# What stands under such a key is the name.
_NAME = pattern(
    r"secretName|\w*SecretName|(?:e|\w*E)xistingSecret|(?:c|\w*C)redentialsSecret|(?P<map>\w*[cC]onfigMapName|(?:e|\w*E)xistingConfigMap)"
)
_LISTED = pattern(r"imagePullSecrets|pullSecrets")
# Into these the controller writes.
_WRITTEN = pattern(
    r"privateKeySecret.*|.*ToRef|(?:target|output|destination|dest|generated?|connection|result|publish|write|managed)[A-Z].*"
)
_OBJECT = pattern(r"[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?")
_KINDS = ("Secret", "ConfigMap")
_MOST = 4000
"""Nodes of one object that are looked at."""


def conventional(resource: Resource, known: Collection[tuple[str, str]], placer: Locator) -> Iterator[Reference]:
    """The Secrets and ConfigMaps that a custom resource names for its controller to read. `known`: kinds and names that are told already,
    or that the controller makes.
    """
    root = resource["spec"]
    if not root:
        return
    text = resource.document.source.text
    # Most have none, and looking into all of them costs more than looking for the word.
    if text.find("ecret", root.start, root.end) < 0 and text.find("onfigMap", root.start, root.end) < 0:
        return
    told = set(known)
    todo, left = [root], _MOST
    while todo and left:
        node = todo.pop()
        left -= 1
        if node["kind"].text in _KINDS and not node["group"].text and node["apiVersion"].text in ("", "v1"):
            yield from _refer(node["kind"].text, node["name"], node, resource, told, placer)
        for key, child in node.entries if node.value.__class__ is dict else ((node.name, each) for each in node):
            if child.value.__class__ in (dict, list):
                todo.append(child)
            if _WRITTEN.fullmatch(key):
                continue
            if child.value.__class__ is dict:
                if match := _NAMING.fullmatch(key):
                    kind = "ConfigMap" if match["map"] or match["bare"] else "Secret"
                    yield from _refer(kind, child["name"], child, resource, told, placer)
                elif _LISTED.fullmatch(key):
                    yield from _refer("Secret", child["name"], child, resource, told, placer)
            elif child.value.__class__ is str and (match := _NAME.fullmatch(key)):
                yield from _refer("ConfigMap" if match["map"] else "Secret", child, node, resource, told, placer)


def _refer(kind: str, name: Node, owner: Node, resource: Resource, told: set[tuple[str, str]], placer: Locator) -> Iterator[Reference]:
    if (kind, name.text) in told or not _OBJECT.fullmatch(name.text):
        return
    told.add((kind, name.text))
    key = owner["key"]
    has_key = key.value.__class__ is str and key.text != "" and name.name == "name"
    yield Reference(
        "", kind, owner["namespace"].text or resource.namespace, name.text, placer.place(name), key.text if has_key else "",
        placer.place(key) if has_key else None, owner["optional"].flag is True, "name",
    )  # fmt: skip

"""What other kubeconfig files need to know of one. Loaded where there is one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from kcheck.facts.kubeconfig import SECTIONS, Kubeconfig, KubeconfigEntry, Naming, Section
from kcheck.kube.resource import Resource
from kcheck.schema.locator import Locator
from kcheck.yaml.node import Node


def kubeconfig(resource: Resource, placer: Locator) -> Kubeconfig:
    """The entries of a kubeconfig, and what its contexts name."""
    entries: dict[Section, dict[str, KubeconfigEntry]] = {section: {} for section in SECTIONS}
    for section, field in SECTIONS.items():
        for each in resource[section]:
            if each["name"].text:
                entries[section].setdefault(each["name"].text, KubeconfigEntry(_contents(each[field]), placer.place(each["name"])))
    return Kubeconfig(placer.place(resource["kind"]), entries, tuple(_namings(resource, placer)))


def _namings(resource: Resource, placer: Locator) -> Iterator[Naming]:
    current = resource["current-context"]
    if current.text:
        yield Naming("contexts", current.text, "", placer.place(current))
    for each in resource["contexts"]:
        for section in ("clusters", "users"):
            node = each["context"][SECTIONS[section]]
            if node.text:
                yield Naming(section, node.text, each["name"].text, placer.place(node))


def _contents(node: Node) -> str:
    """A digest, for there are keys and tokens in it."""
    plain = json.dumps(node.plain(), sort_keys=True, default=str)
    return hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

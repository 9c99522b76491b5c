"""The facts of a kubeconfig. Imported on first use."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from kcheck.facts.kubeconfig import SECTIONS, Kubeconfig, KubeconfigEntry, Naming, Section
from kcheck.kube.resource import Resource
from kcheck.schema.locator import Locator
from kcheck.yaml.node import Node


def kubeconfig(resource: Resource, locator: Locator) -> Kubeconfig:
    """Return the entries of a kubeconfig and the references of its contexts."""
    entries: dict[Section, dict[str, KubeconfigEntry]] = {section: {} for section in SECTIONS}
    for section, field in SECTIONS.items():
        for each in resource[section]:
            if each["name"].text:
                entries[section].setdefault(each["name"].text, KubeconfigEntry(_contents(each[field]), locator.place(each["name"])))
    return Kubeconfig(locator.place(resource["kind"]), entries, tuple(_namings(resource, locator)))


def _namings(resource: Resource, locator: Locator) -> Iterator[Naming]:
    current = resource["current-context"]
    if current.text:
        yield Naming("contexts", current.text, "", locator.place(current))
    for each in resource["contexts"]:
        for section in ("clusters", "users"):
            node = each["context"][SECTIONS[section]]
            if node.text:
                yield Naming(section, node.text, each["name"].text, locator.place(node))


def _contents(node: Node) -> str:
    """Return a digest of an entry instead of its content, which includes keys and tokens."""
    plain = json.dumps(node.plain(), sort_keys=True, default=str)
    return hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

"""Which fields the settings of a build are about: kustomize's own, and what `configurations` add."""

from __future__ import annotations

from typing import NamedTuple

from kcheck.kustomize import defaults
from kcheck.kustomize.fields import NameReference, Spec, merged, spec
from kcheck.kustomize.identity import Gvk, gvk_of
from kcheck.yaml.node import Node

_FIELDS = (
    "namePrefix", "nameSuffix", "namespace", "commonLabels", "labels", "templateLabels", "commonAnnotations", "varReference", "images",
    "replicas",
)  # fmt: skip


class Settings(NamedTuple):
    """`specs`: fields by the name that they have in a configuration. `complete`: whether kustomize's own are among them."""

    specs: dict[str, tuple[Spec, ...]]
    references: tuple[NameReference, ...] = ()
    complete: bool = False

    def merged(self, other: Settings) -> Settings:
        """Both together. Raises BadInput where they disagree.

        A field that is named for one kind hides the same field of all kinds where that comes later, as it does in kustomize.
        """
        if other is self or (other is DEFAULTS and self.complete):
            return self
        if self is EMPTY and other is DEFAULTS:
            return other
        specs = {name: merged(self.specs.get(name, ()), other.specs.get(name, ())) for name in _FIELDS}
        specs = {name: tuple(sorted(found, key=lambda each: each.gvk.order)) for name, found in specs.items()}
        references = sorted(_merged_references(self.references, other.references), key=lambda each: each.target.order)
        return Settings(specs, tuple(references), self.complete or other.complete)


def _merged_references(ours: tuple[NameReference, ...], others: tuple[NameReference, ...]) -> list[NameReference]:
    found = {each.target: each for each in ours}
    for other in others:
        known = found.get(other.target)
        found[other.target] = other if known is None else NameReference(other.target, merged(known.fields, other.fields))
    return list(found.values())


EMPTY = Settings(dict.fromkeys(_FIELDS, ()))
DEFAULTS = Settings(
    {
        "namePrefix": defaults.NAMES, "nameSuffix": defaults.NAMES, "namespace": defaults.NAMESPACE,
        "commonLabels": defaults.COMMON_LABELS, "labels": (), "templateLabels": defaults.TEMPLATE_LABELS,
        "commonAnnotations": defaults.COMMON_ANNOTATIONS, "varReference": defaults.VARIABLES, "images": defaults.IMAGES,
        "replicas": defaults.REPLICAS,
    },
    tuple(sorted(defaults.REFERENCES, key=lambda each: each.target.order)),
    True,
)  # fmt: skip


def configured(root: Node) -> Settings:
    """What a file that `configurations` names says."""
    specs = {name: specs_of(root[name]) for name in _FIELDS}
    references = tuple(NameReference(gvk_in(each), specs_of(each["fieldSpecs"])) for each in root["nameReference"])
    return Settings(specs, references)


def specs_of(node: Node) -> tuple[Spec, ...]:
    """The field specifications that a list says."""
    found = []
    for each in node if node.is_list else ():
        gvk = gvk_in(each)
        found.append(spec(each["path"].text, gvk.kind, gvk.group, gvk.version, each["create"].boolean is True))
    return tuple(found)


def gvk_in(node: Node) -> Gvk:
    """The kind that a map names by `group`, `version` and `kind`, or by `apiVersion` and `kind`."""
    if node["apiVersion"].text:
        return gvk_of(node["apiVersion"].text, node["kind"].text)
    return Gvk(node["group"].text, node["version"].text, node["kind"].text)

"""The names and types of fields in a kustomization. kustomize accepts names in upper and lower case alike."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.kustomize.nodes import is_scalar, mutable
from kcheck.yaml.node import Node

# Those of the kustomization itself, and those of its entries.
_TOP = """
apiVersion kind metadata openapi namePrefix nameSuffix namespace commonLabels labels commonAnnotations patchesStrategicMerge patchesJson6902
patches images imageTags replacements replicas vars sortOptions resources components crds bases configMapGenerator secretGenerator
helmGlobals helmCharts helmChartInflationGenerator generatorOptions configurations generators transformers validators buildMetadata
"""
_INNER = """
name newName tagSuffix newTag digest count pairs includeSelectors includeTemplates fields path group version create target patch options
annotationSelector labelSelector allowNameChange allowKindChange literals files envs env behavior type annotations disableNameSuffixHash
immutable source targets fieldPath delimiter index encoding select reject fieldPaths objref fieldref order legacySortOptions orderFirst
orderLast
"""
_BY_LETTERS = {name.lower(): name for name in f"{_TOP}{_INNER}".split()}
_KNOWN = frozenset(_TOP.split())
# Maps whose keys are the user's.
_FREE = frozenset(("pairs", "commonLabels", "commonAnnotations", "annotations", "openapi", "metadata"))


def spell(node: Node) -> None:
    """Give the fields of a kustomization the names that they are known by."""
    if node.is_list:
        for item in node:
            spell(item)
        return
    for name, child in node.entries:
        known = _BY_LETTERS.get(name.lower(), name)
        if known != name and known not in node:
            entries = mutable(node)
            entries[known] = entries.pop(name)
            if isinstance(child.key, Node):
                child.key.held = known
        if known not in _FREE and not (known == "labels" and child.is_map):
            spell(child)


_TEXTS = ("namespace", "namePrefix", "nameSuffix")
_TEXTS_OF = {
    "images": ("name", "newName", "newTag", "digest", "tagSuffix"), "imageTags": ("name", "newName", "newTag", "digest"),
    "replicas": ("name",), "configMapGenerator": ("name", "namespace"), "secretGenerator": ("name", "namespace", "type"),
    "patches": ("path", "patch"), "patchesJson6902": ("path", "patch"),
}  # fmt: skip


def not_text(root: Node) -> Iterator[Node]:
    """The values of a kustomization that have to be strings and are numbers or booleans."""
    wanted = [root[name] for name in _TEXTS]
    for name, fields in _TEXTS_OF.items():
        wanted += [each[field] for each in root[name] for field in fields]
    for pairs in (root["commonLabels"], root["commonAnnotations"], *(each["pairs"] for each in root["labels"])):
        wanted += list(pairs)
    for name in ("resources", "bases", "components"):
        wanted += list(root[name])
    return (node for node in wanted if node.exists and node.held is not None and not (is_scalar(node) and isinstance(node.held, str)))


def unknown(root: Node) -> Iterator[Node]:
    """The entries of a kustomization that kustomize does not know, and so refuses."""
    return (child for name, child in root.entries if name not in _KNOWN)

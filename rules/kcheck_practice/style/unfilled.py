"""Placeholders: values that are filled in before the manifest is applied."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import INFO, Document, Node, Problem, pattern, placeholders, rule

# Syntax that the controllers of custom resources expand, such as Argo Workflows, Tekton and Kyverno.
_OF_CONTROLLERS = pattern(r"\{\{|\$\(|\$\{\w+\.")


@rule("placeholder", "Manifest contains a placeholder", severity=INFO, groups=("placeholders",), default=False)
def placeholder(document: Document) -> Iterator[Problem]:
    """Yields each placeholder of a document once, at its first occurrence."""
    found: dict[str, list[Node]] = {}
    group = document.root["apiVersion"].text.rpartition("/")[0]
    is_custom = "." in group and not group.endswith(".k8s.io")
    for node, text in placeholders.below(document.root):
        if not (is_custom and _OF_CONTROLLERS.match(text)):
            found.setdefault(text, []).append(node)
    for text, nodes in found.items():
        times = f", {len(nodes)} times" if len(nodes) > 1 else ""
        instruction = "add it to substitute in .kcheck.yaml" if text.startswith("$") else "replace it before you apply the manifest"
        message = f'placeholder "{text}" is not filled in{times}'
        yield Problem(nodes[0], message, help=instruction, at="key" if placeholders.in_key(nodes[0]) == text else "value")

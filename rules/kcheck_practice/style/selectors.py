"""Selectors that are easily misread. Source: the Kubernetes documentation, "Labels and Selectors", and the API reference."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kcheck.api import ERROR, INFO, Container, Node, Problem, help_of, rule, selector

_FLAGS = ("-l", "--selector")
_BUDGET, _PEER = "policy/v1 PodDisruptionBudgetSpec", "networking/v1 NetworkPolicyPeer"
_TERM, _SPREAD = "core/v1 PodAffinityTerm", "core/v1 TopologySpreadConstraint"


@rule(
    "empty-selector",
    "Selector is empty ({}), which differs from an absent selector",
    severity=INFO,
    groups=("labels", "networking"),
    default=False,
    types=(_BUDGET, _PEER, _TERM, _SPREAD),
)
def empty_selector(owner: Node) -> Iterator[Problem]:
    """Reported where an empty selector is set and means something else than an absent one in this field."""
    for field, node in owner.entries:
        meaning = selector.MEANINGS.get(f"{_type(owner)}.{field}")
        if meaning is not None and meaning.empty and node.is_map and not len(node):
            message = f"{field}: {{}} selects {meaning.empty}, while an absent {field} selects {meaning.absent}"
            yield Problem(node, message, help=f"use matchLabels or matchExpressions under {field} to select explicitly", at="key")


def _type(owner: Node) -> str:
    if "topologyKey" in owner:
        return _SPREAD if "maxSkew" in owner else _TERM
    return _PEER if owner.parent is not None and owner.parent.name in ("from", "to") else _BUDGET


@rule(
    "invalid-selector-string",
    "Selector in a kubectl command has invalid syntax",
    severity=ERROR,
    groups=("labels",),
    fields=("command", "args"),
)
def selector_text(container: Container) -> Iterator[Problem]:
    """Selectors of -l and --selector in the arguments of kubectl; those with variables ($) are skipped."""
    words = [*container["command"], *container["args"]]
    if not any(word.text.rpartition("/")[2] == "kubectl" for word in words):
        return
    for flag, word in pairwise(words):
        if flag.text in _FLAGS and "$" not in word.text:
            yield from _read(word, word.text)
    for word in words:
        if word.text.startswith("--selector=") and "$" not in word.text:
            yield from _read(word, word.text.partition("=")[2])


def _read(node: Node, text: str) -> Iterator[Problem]:
    try:
        selector.parse(text)
    except selector.BadSelector as wrong:
        yield Problem(node, f'invalid label selector "{text}": {wrong.message}', help=help_of(wrong.message))

"""Selectors that do not mean what they seem to. Source: the documentation's page "Labels and Selectors" and the API reference."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kcheck.api import ERROR, INFO, Container, Node, Problem, help_of, rule, selector

_FLAGS = ("-l", "--selector")
_BUDGET, _PEER = "policy/v1 PodDisruptionBudgetSpec", "networking/v1 NetworkPolicyPeer"
_TERM, _SPREAD = "core/v1 PodAffinityTerm", "core/v1 TopologySpreadConstraint"


@rule("empty-selector", "Selector is empty ({}), which differs from an absent selector", severity=INFO, groups=("labels", "networking"), default=False,
      types=(_BUDGET, _PEER, _TERM, _SPREAD))  # fmt: skip
def empty_selector(owner: Node) -> Iterator[Problem]:
    """What {} and nothing mean differs from one field to the next; told where the two differ and {} is written."""
    for field, node in owner.entries:
        meaning = selector.MEANINGS.get(f"{_type(owner)}.{field}")
        if meaning is not None and meaning.empty and node.is_map and not len(node):
            yield Problem(
                node, f"an empty {field} is {meaning.empty}, and none at all is {meaning.absent}", help="name what you mean", at="key"
            )


def _type(owner: Node) -> str:
    if "topologyKey" in owner:
        return _SPREAD if "maxSkew" in owner else _TERM
    return _PEER if owner.parent is not None and owner.parent.name in ("from", "to") else _BUDGET


@rule("invalid-selector-string", "Selector in a kubectl command has invalid syntax", severity=ERROR, groups=("labels",),
      fields=("command", "args"))  # fmt: skip
def selector_text(container: Container) -> Iterator[Problem]:
    """Equality and sets, with commas that mean "and"; there is no "or"."""
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
        yield Problem(node, f"kubectl cannot read this selector: {wrong.message}", help=help_of(wrong.message))

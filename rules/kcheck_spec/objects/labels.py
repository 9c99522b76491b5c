"""Labels and maps that select by labels. Source: ValidateLabels, ValidateLabelName (apimachinery, apis/meta/v1/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Constraint, Node, Problem, constraint, declare, labels

label_syntax = declare("invalid-label", "Invalid label key or value", fixable=True)


def label_problems(entries: Node, field: Node | None = None) -> Iterator[Problem]:
    """Problems of the keys and values of a map of labels. The server names the map in its errors, not the entry."""
    where = entries if field is None else field
    for key, value in entries.entries:
        wrong = labels.key(key)
        if wrong:
            yield Problem(value, wrong, reason="Invalid", at="key", field=where)
        wrong = labels.value(value.text)
        if wrong:
            yield Problem(value, wrong, reason="Invalid", field=where)


label_map = Constraint(label_syntax, label_problems)
"""Labels, or a map that says which labels something must have (matchLabels, nodeSelector)."""


@constraint(label_syntax, of_absent=True)
def label_key(node: Node) -> Problem | None:
    """The key of a label; an empty one is rejected."""
    if node and node.value.__class__ is not str:
        return None
    wrong = labels.key(node.text)
    return Problem(node, wrong, reason="Invalid") if wrong else None

"""Selectors within Pods, for rules that check the meaning of selectors that the API server accepts."""

from __future__ import annotations

from kcheck.api import Node, selector, strings


def accepted(listed: Node, labels: Node | None = None) -> selector.Selector | None:
    """The selector of a list of requirements and of matchLabels; None for a malformed one, which the API server rejects."""
    if not isinstance(listed.value, list | None):
        return None
    equal = strings(labels) if labels is not None else {}
    found = selector.of_fields({"matchLabels": equal, "matchExpressions": listed.plain() or []})
    if found is None or len(found.requirements) != len(equal) + len(listed):
        return None
    return found if all(map(_is_sound, found.requirements)) else None


def _is_sound(requirement: selector.Requirement) -> bool:
    if requirement.operator in ("In", "NotIn"):
        return bool(requirement.values)
    return requirement.operator not in ("Gt", "Lt") or requirement.limit is not None

"""Selectors: those within Pods that the API server accepts, and what comes closest to one that matches nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kcheck.api import Facts, Node, selector, strings


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


def closest_object(wanted: selector.Selector, candidates: Iterable[tuple[Facts, Mapping[str, str]]]) -> str:
    """The first object with a key of a selector, and its values, as part of a message; "" if none has one."""
    keys = {requirement.key for requirement in wanted.requirements}
    for f, labels in candidates:
        have = ", ".join(f"{key}={value}" for key, value in labels.items() if key in keys)
        if have:
            return f" (closest: {f.title}, with {have})"
    return ""

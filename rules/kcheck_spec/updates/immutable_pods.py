"""Pods, of which only few fields change after creation.

Source: ValidatePodUpdate (pkg/apis/core/validation).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcheck.api import ERROR, ObjectChange, Problem, is_equal, rule

_HELP = "delete the Pod first, or use a Deployment, which replaces its Pods"
_CONTAINERS = ("containers", "initContainers")


@rule("immutable-pod", "Field of a Pod changes that cannot change", severity=ERROR, family="spec", kinds="core Pod")
def immutable_pod(change: ObjectChange) -> Iterator[Problem]:
    """Images, tolerations and deadlines of Pods may change, other fields of spec may not."""
    old, new = dict(change.stored("spec") or {}), dict(change.applied("spec") or {})
    for field in _CONTAINERS:
        if len(old.get(field) or ()) != len(new.get(field) or ()):
            message = f"spec.{field} of a Pod cannot be added or removed"
            yield Problem(change.node("spec", field), message, help=_HELP, reason="Forbidden", at="key")
            return
    yield from _deadline(change)
    yield from _tolerations(change)
    yield from _gates(change)
    changed = _changed_fields(old, new)
    if changed:
        message = f"{' and '.join(f'spec.{key}' for key in changed)} of a Pod cannot change after creation"
        yield Problem(change.node("spec", changed[0]), message, help=_HELP, reason="Forbidden", at="key", field=change.node("spec"))


def _changed_fields(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The fields that change although they cannot."""
    gated = bool(old.get("schedulingGates"))
    for spec in (old, new):
        for key in ("activeDeadlineSeconds", "tolerations", "schedulingGates"):
            spec.pop(key, None)
        for key in _CONTAINERS:
            spec[key] = [{name: each for name, each in container.items() if name != "image"} for container in spec.get(key) or ()]
    if (old.get("terminationGracePeriodSeconds") or 0) < 0 and new.get("terminationGracePeriodSeconds") == 1:
        del old["terminationGracePeriodSeconds"], new["terminationGracePeriodSeconds"]
    if gated:
        _accept_narrowing(old, new)
    return [key for key in sorted(old.keys() | new.keys()) if not is_equal(old.get(key), new.get(key))]


def _accept_narrowing(old: dict[str, Any], new: dict[str, Any]) -> None:
    """A Pod with scheduling gates may get further node labels that it requires."""
    before, now = old.get("nodeSelector") or {}, new.get("nodeSelector") or {}
    if all(now.get(key) == value for key, value in before.items()):
        old.pop("nodeSelector", None)
        new.pop("nodeSelector", None)
    affinity, later = old.get("affinity") or {}, new.get("affinity") or {}
    if "nodeAffinity" in later and "nodeAffinity" not in affinity:
        old["affinity"] = affinity
        new["affinity"] = {key: each for key, each in later.items() if key != "nodeAffinity"}


def _deadline(change: ObjectChange) -> Iterator[Problem]:
    path = ("spec", "activeDeadlineSeconds")
    old, new = change.stored(*path), change.applied(*path)
    if old is not None and (new is None or new > old):
        message = "activeDeadlineSeconds of a Pod cannot be removed" if new is None else "activeDeadlineSeconds of a Pod cannot increase"
        yield Problem(change.node(*path), message, help=f"use {old} or less", reason="Invalid", at="key")


def _tolerations(change: ObjectChange) -> Iterator[Problem]:
    new = [_without_seconds(each) for each in change.applied("spec", "tolerations") or ()]
    for each in change.stored("spec", "tolerations") or ():
        if _without_seconds(each) not in new:
            node = change.node("spec", "tolerations")
            message = "tolerations of a Pod cannot be changed or removed, except for tolerationSeconds"
            yield Problem(node, message, help="only add tolerations", reason="Forbidden", at="key")
            return


def _without_seconds(toleration: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in toleration.items() if key != "tolerationSeconds"}


def _gates(change: ObjectChange) -> Iterator[Problem]:
    old = change.stored("spec", "schedulingGates") or []
    if any(each not in old for each in change.applied("spec", "schedulingGates") or ()):
        node = change.node("spec", "schedulingGates")
        yield Problem(node, "schedulingGates of a Pod can only be removed", help="remove the new gates", reason="Forbidden", at="key")

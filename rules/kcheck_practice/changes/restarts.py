"""Pods that a change of a workload replaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kcheck.api import INFO, ObjectChange, Problem, enumeration, is_equal, rule

_TEMPLATE = ("spec", "template")
_CONTAINERS = frozenset({"containers", "initContainers"})
_MAPS = frozenset({"labels", "annotations"})
_MAX_NAMED = 3
"""Fields that a message names."""

_Path = tuple[str | int, ...]


@rule(
    "pod-restart",
    "Change of a workload replaces its Pods",
    severity=INFO,
    groups=("change", "availability"),
    kinds=("apps Deployment", "apps StatefulSet", "apps DaemonSet"),
)
def pod_restart(change: ObjectChange) -> Iterator[Problem]:
    """Yield a Problem for a change of the Pod template, at the first field that changes.

    Only if the controller replaces existing Pods by itself: not if it is paused, has no replicas, or has the strategy OnDelete.
    """
    effect = _effect(change)
    if not effect:
        return
    paths = list(_changed_fields(change.stored(*_TEMPLATE), change.applied(*_TEMPLATE)))
    if not paths:
        return
    names = list(dict.fromkeys(_name_of(path, change.applied(*_TEMPLATE)) for path in paths))
    named = names if len(names) <= _MAX_NAMED else [*names[: _MAX_NAMED - 1], f"{len(names) - _MAX_NAMED + 1} more fields"]
    verb = "changes" if len(names) == 1 else "change"
    yield Problem(change.node(*_TEMPLATE, *paths[0]), f"{enumeration(named)} {verb}, which {effect}")


def _effect(change: ObjectChange) -> str:
    """Return what happens to the Pods if the template changes, "" if they stay."""
    kind = change.new.kind
    if change.stored("spec", "replicas") == 0 or change.applied("spec", "replicas") == 0 or change.applied("spec", "paused"):
        return ""
    strategy = change.applied("spec", "strategy" if kind == "Deployment" else "updateStrategy") or {}
    if strategy.get("type") == "OnDelete":
        return ""
    if strategy.get("type") == "Recreate":
        return "stops all Pods before new ones start"
    if kind == "DaemonSet":
        return "replaces the Pods of all nodes"
    partition = (strategy.get("rollingUpdate") or {}).get("partition")
    if kind == "StatefulSet" and isinstance(partition, int) and partition > 0:
        replicas = change.applied("spec", "replicas")
        if isinstance(replicas, int) and partition >= replicas:
            return ""
        return f"replaces the Pods with ordinals from {partition}"
    return "replaces all Pods"


def _changed_fields(old: Any, new: Any) -> Iterator[_Path]:
    """Yield the paths in a Pod template that differ: fields of metadata and of the PodSpec, and fields of containers."""
    for section in ("metadata", "spec"):
        before, after = _fields(old, section), _fields(new, section)
        for key in dict.fromkeys((*after, *before)):
            first, second = before.get(key), after.get(key)
            if is_equal(first, second):
                continue
            if key in _CONTAINERS:
                yield from ((section, key, *path) for path in _changed_items(first or [], second or []))
            elif key in _MAPS:
                yield from ((section, key, *path) for path in _changed_keys(first or {}, second or {}))
            else:
                yield section, key


def _changed_items(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> Iterator[_Path]:
    """Yield the paths of the fields of containers that differ; the path of a whole container if it is new, () if one was removed or the
    order differs.
    """
    names = [[each.get("name") for each in containers] for containers in (old, new)]
    order = [[name for name in names[side] if name in names[1 - side]] for side in (0, 1)]
    known = {each.get("name"): each for each in old}
    for index, container in enumerate(new):
        before = known.pop(container.get("name"), None)
        if before is None:
            yield (index,)
        else:
            yield from ((index, *path) for path in _changed_keys(before, container))
    if known or order[0] != order[1]:
        yield ()


def _changed_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[_Path]:
    return ((key,) for key in dict.fromkeys((*new, *old)) if not is_equal(old.get(key), new.get(key)))


def _fields(template: Any, section: str) -> Mapping[str, Any]:
    found = template.get(section) if isinstance(template, dict) else None
    return found if isinstance(found, dict) else {}


def _name_of(path: _Path, template: Any) -> str:
    """Return a field as messages name it."""
    section, key, *rest = path
    if key in _CONTAINERS and rest:
        container = f'container "{_fields(template, str(section))[str(key)][rest[0]].get("name", "")}"'
        return f"{rest[1]} of {container}" if len(rest) > 1 else container
    if rest:
        return f"{str(key).removesuffix('s')} {rest[0]}"
    return f"spec.template.{section}.{key}"

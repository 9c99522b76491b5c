"""Fields of StatefulSets that do not change after creation.

Source: ValidateStatefulSetUpdate (pkg/apis/apps/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import ERROR, ObjectChange, Problem, rule

_MUTABLE = frozenset(
    {
        "replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    }
)  # fmt: skip


@rule(
    "immutable-stateful-set",
    "Field of a StatefulSet changes that cannot change, such as volumeClaimTemplates",
    severity=ERROR,
    family="spec",
    kinds="apps StatefulSet",
)
def immutable_stateful_set(change: ObjectChange) -> Iterator[Problem]:
    """Most fields of spec are fixed."""
    old, new = change.stored("spec") or {}, change.applied("spec") or {}
    changed = [key for key in sorted(old.keys() | new.keys()) if key not in _MUTABLE and change.changes("spec", key)]
    if changed:
        message = f"{_listed(changed)} of a StatefulSet cannot change after creation"
        help = f"restore {_listed(changed)}, or delete the StatefulSet first (kubectl delete --cascade=orphan keeps its Pods)"
        yield Problem(change.node("spec", changed[0]), message, help=help, reason="Forbidden", at="key", field=change.node("spec"))


def _listed(names: list[str]) -> str:
    return " and ".join(f"spec.{name}" for name in names)

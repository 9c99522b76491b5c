"""PersistentVolumes and their claims.

Source: ValidatePersistentVolumeUpdate and ValidatePersistentVolumeClaimUpdate (pkg/apis/core/validation).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kcheck.api import ERROR, ObjectChange, Problem, is_equal, quantity, rule

_NO_SOURCE = frozenset(
    {
        "accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy", "storageClassName",
        "volumeAttributesClassName", "volumeMode",
    }
)  # fmt: skip
"""The fields of the spec of a PersistentVolume that are not the source of the volume."""

_NEW_LABELS: Mapping[str, str] = {
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
}
"""Node labels and their successors, to which a node affinity may change."""


@rule(
    "immutable-volume", "Source, mode or node affinity of a PersistentVolume changes", severity=ERROR, family="spec",
    kinds="core PersistentVolume",
)  # fmt: skip
def immutable_volume(change: ObjectChange) -> Iterator[Problem]:
    """A PersistentVolume always means the same storage."""
    help = "create another PersistentVolume"
    old, new = _source(change.stored("spec")), _source(change.applied("spec"))
    _accept_expand_secret(old, new)
    if not is_equal(old, new):
        kind = next((key for key in sorted(old.keys() | new.keys()) if not is_equal(old.get(key), new.get(key))), "")
        message = f"spec.{kind} of a PersistentVolume cannot change after creation"
        yield Problem(change.node("spec", kind), message, help=help, reason="Forbidden", at="key", field="spec.persistentvolumesource")
    if change.changes("spec", "volumeMode"):
        message = "spec.volumeMode of a PersistentVolume cannot change after creation"
        yield Problem(change.node("spec", "volumeMode"), message, help=help, reason="Invalid", at="key", field="volumeMode")
    before = change.stored("spec", "nodeAffinity")
    if before is not None and not is_equal(before, now := change.applied("spec", "nodeAffinity")) and not is_equal(_renamed(before), now):
        message = "spec.nodeAffinity of a PersistentVolume cannot change after it is set"
        yield Problem(change.node("spec", "nodeAffinity"), message, help=help, reason="Invalid", at="key", field="nodeAffinity")


def _source(spec: Any) -> dict[str, Any]:
    return {key: dict(each) if isinstance(each, dict) else each for key, each in (spec or {}).items() if key not in _NO_SOURCE}


def _accept_expand_secret(old: dict[str, Any], new: dict[str, Any]) -> None:
    """The secret for the expansion of a CSI volume may be added later."""
    before, now = old.get("csi"), new.get("csi")
    if isinstance(before, dict) and isinstance(now, dict) and before.get("controllerExpandSecretRef") is None:
        now.pop("controllerExpandSecretRef", None)


def _renamed(affinity: Any) -> Any:
    """A node affinity with the successors of its labels."""
    if isinstance(affinity, list):
        return [_renamed(each) for each in affinity]
    if isinstance(affinity, dict):
        return {key: _NEW_LABELS.get(each, each) if key == "key" else _renamed(each) for key, each in affinity.items()}
    return affinity


@rule(
    "immutable-volume-claim", "Field of a PersistentVolumeClaim changes that cannot change", severity=ERROR, family="spec",
    kinds="core PersistentVolumeClaim",
)  # fmt: skip
def immutable_volume_claim(change: ObjectChange) -> Iterator[Problem]:
    """The spec is fixed, except that a bound claim can grow and change its VolumeAttributesClass."""
    old, new = dict(change.stored("spec") or {}), dict(change.applied("spec") or {})
    if "volumeName" not in old:
        new.pop("volumeName", None)
    if _sets_default_class(old, new):
        new.pop("storageClassName")
    changed = [key for key in sorted(old.keys() | new.keys()) if not is_equal(old.get(key), new.get(key))]
    changed = [key for key in changed if key != "resources" or not _grows(old.get(key), new.get(key))]
    help = "restore it, or create another PersistentVolumeClaim"
    if changed:
        names = " and ".join(f"spec.{key}" for key in changed)
        message = f"{names} of a PersistentVolumeClaim cannot change after creation"
        yield Problem(change.node("spec", changed[0]), message, help=help, reason="Forbidden", at="key", field=change.node("spec"))
    if change.changes("spec", "volumeMode"):
        message = "spec.volumeMode of a PersistentVolumeClaim cannot change after creation"
        yield Problem(change.node("spec", "volumeMode"), message, help=help, reason="Invalid", at="key", field="volumeMode")


def _sets_default_class(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether a claim without a class gets one, as the default class that is created later."""
    return old.get("storageClassName") is None and new.get("storageClassName") is not None


def _grows(old: Any, new: Any) -> bool:
    """Whether only the requested storage changes, and does not shrink. The cluster allows it for bound claims."""
    before, now = _storage(old), _storage(new)
    return before is not None and now is not None and before <= now and is_equal(_without_storage(old), _without_storage(new))


def _storage(resources: Any) -> quantity.Quantity | None:
    requests = resources.get("requests") if isinstance(resources, dict) else None
    text = requests.get("storage") if isinstance(requests, dict) else None
    try:
        return quantity.parse(str(text)) if text is not None else None
    except quantity.BadQuantity:
        return None


def _without_storage(resources: dict[str, Any]) -> dict[str, Any]:
    return {**resources, "requests": {key: each for key, each in resources["requests"].items() if key != "storage"}}

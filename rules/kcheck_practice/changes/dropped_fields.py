"""Fields that a new API version does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kcheck.api import ObjectChange, Problem, rule

_REPLACEMENTS: Mapping[tuple[str, ...], tuple[str, ...]] = {
    # autoscaling/v1 to v2
    ("HorizontalPodAutoscaler", "spec", "targetCPUUtilizationPercentage"): ("spec", "metrics"),
    # extensions/v1beta1 and networking.k8s.io/v1beta1 to v1
    ("Ingress", "spec", "backend"): ("spec", "defaultBackend"),
    # apiextensions.k8s.io/v1beta1 to v1
    ("CustomResourceDefinition", "spec", "version"): ("spec", "versions"),
    ("CustomResourceDefinition", "spec", "validation"): ("spec", "versions", "schema"),
    ("CustomResourceDefinition", "spec", "subresources"): ("spec", "versions", "subresources"),
    ("CustomResourceDefinition", "spec", "additionalPrinterColumns"): ("spec", "versions", "additionalPrinterColumns"),
    # flowcontrol.apiserver.k8s.io/v1beta2 to v1
    ("PriorityLevelConfiguration", "spec", "limited", "assuredConcurrencyShares"): ("spec", "limited", "nominalConcurrencyShares"),
    # node.k8s.io/v1alpha1 to v1
    ("RuntimeClass", "spec", "runtimeHandler"): ("handler",),
}
"""The fields that replace those of an older version, by kind and path."""

_SERVER = frozenset({"status", "metadata", "apiVersion", "kind"})
_Path = tuple[str, ...]


@rule("dropped-field", "Upgrade of apiVersion drops a field", groups=("change", "upgrades"))
def dropped_field(change: ObjectChange) -> Iterator[Problem]:
    """Yield fields of the old manifest that the new API version does not have, if the new manifest has no replacement either."""
    old, new = change.old, change.new
    if old.api_version == new.api_version or not new.built_in:
        return
    for path in _unknown_fields({key: value for key, value in old.node.plain().items() if key not in _SERVER}, change.forms.stored):
        replacement = _REPLACEMENTS.get((new.kind, *path))
        if replacement is not None and _has(new.node.plain(), replacement):
            continue
        message = f"{'.'.join(path)} of {old.api_version} does not exist in {new.api_version}, so the change drops it"
        help = f"set {'.'.join(replacement)} instead" if replacement is not None else "check that it is no longer needed"
        yield Problem(change.node(*path), message, help=help)


def _unknown_fields(old: Mapping[str, Any], known: Mapping[str, Any], above: _Path = ()) -> Iterator[_Path]:
    """Yield the paths of maps in the old manifest that are unknown in the new version. `known`: the part of it that is known."""
    for key, value in old.items():
        if value in (None, "", 0, False) or value == [] or value == {}:
            continue
        if key not in known:
            yield (*above, key)
        elif isinstance(value, dict) and isinstance(known[key], dict):
            yield from _unknown_fields(value, known[key], (*above, key))


def _has(value: Any, path: _Path) -> bool:
    """Whether a path has a value in a manifest. Lists have it if one of their items has it."""
    if not path:
        return value not in (None, "", [], {})
    if isinstance(value, list):
        return any(_has(each, path) for each in value)
    return isinstance(value, dict) and _has(value.get(path[0]), path[1:])

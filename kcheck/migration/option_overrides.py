"""Options that a rule needs to be equivalent to a check of another tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OPTION_OVERRIDES: dict[str, Mapping[tuple[str, str], Any]] = {
    "checkov/CKV_K8S_21": {("default-namespace", "unset"): True},
    "checkov/CKV_K8S_49": {("wildcard-resource", "groups"): True},
    "kube-linter/hpa-minimum-three-replicas": {("hpa-min-replicas", "minimum"): 3},
    "kube-linter/minimum-three-replicas": {("too-few-replicas", "minimum"): 3, ("too-few-replicas", "stateful_sets"): True},
    "kube-linter/no-anti-affinity": {("missing-anti-affinity", "spread"): False},
    "kube-linter/priority-class-name": {("forbidden-priority-class", "allow"): ("system-cluster-critical", "system-node-critical")},
    "kube-linter/required-annotation-email": {("missing-required-annotation", "annotations"): ("email",)},
    "kube-linter/required-label-owner": {("missing-recommended-labels", "labels"): ("owner",)},
    "kube-linter/use-namespace": {("default-namespace", "unset"): True},
    "kube-score/deployment-has-host-podantiaffinity": {("missing-anti-affinity", "spread"): False},
    "kube-score/deployment-replicas": {("too-few-replicas", "served"): True},
    "kube-score/deployment-strategy": {("non-rolling-update", "daemon_sets"): False},
    "kube-score/statefulset-has-host-podantiaffinity": {("missing-anti-affinity", "spread"): False},
    "polaris/missingPodDisruptionBudget": {("missing-pdb", "minimum"): 1},
}
"""Option values by check and (rule, option)."""

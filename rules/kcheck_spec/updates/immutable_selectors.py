"""Selectors of workloads, which decide which Pods a workload owns.

Source: ValidateDeploymentUpdate, ValidateReplicaSetUpdate and ValidateDaemonSetUpdate (pkg/apis/apps/validation), ValidateJobUpdate
(pkg/apis/batch/validation).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import ERROR, ObjectChange, Problem, rule


@rule(
    "immutable-selector",
    "spec.selector of a workload changes",
    severity=ERROR,
    family="spec",
    kinds=("apps Deployment", "apps ReplicaSet", "apps DaemonSet", "batch Job"),
)
def immutable_selector(change: ObjectChange) -> Iterator[Problem]:
    """A workload keeps its selector."""
    if change.changes("spec", "selector"):
        kind = change.new.kind
        help = f"restore the selector, or delete the {kind} first (kubectl delete --cascade=orphan keeps its Pods)"
        node = change.node("spec", "selector")
        yield Problem(node, f"spec.selector of a {kind} cannot change after creation", help=help, reason="Invalid", at="key")

"""Fields set to their defaults. Source: the Kubernetes documentation, "Configuration Best Practices", and the API reference."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import INFO, Node, Problem, remove, rule

_TYPES = (
    "core/v1 PodSpec", "core/v1 Container", "core/v1 ContainerPort", "core/v1 Probe", "core/v1 HTTPGetAction", "core/v1 ServiceSpec",
    "core/v1 ServicePort", "core/v1 ObjectFieldSelector", "core/v1 SecretVolumeSource", "core/v1 ConfigMapVolumeSource",
    "core/v1 DownwardAPIVolumeSource", "core/v1 ProjectedVolumeSource", "core/v1 ReplicationControllerSpec",
    "core/v1 PersistentVolumeClaimSpec", "apps/v1 DeploymentSpec", "apps/v1 StatefulSetSpec", "apps/v1 DaemonSetSpec",
    "apps/v1 ReplicaSetSpec", "batch/v1 JobSpec", "batch/v1 CronJobSpec",
)  # fmt: skip
# A field of this name has the same default in all of these types. Fields whose default depends on other fields are left out.
_DEFAULTS: dict[str, object] = {
    "apiVersion": "v1",
    "backoffLimit": 6,
    "concurrencyPolicy": "Allow",
    "defaultMode": 0o644,
    "dnsPolicy": "ClusterFirst",
    "enableServiceLinks": True,
    "failedJobsHistoryLimit": 1,
    "failureThreshold": 3,
    "initialDelaySeconds": 0,
    "internalTrafficPolicy": "Cluster",
    "minReadySeconds": 0,
    "parallelism": 1,
    "periodSeconds": 10,
    "podManagementPolicy": "OrderedReady",
    "progressDeadlineSeconds": 600,
    "protocol": "TCP",
    "publishNotReadyAddresses": False,
    "replicas": 1,
    "revisionHistoryLimit": 10,
    "schedulerName": "default-scheduler",
    "scheme": "HTTP",
    "sessionAffinity": "None",
    "stdin": False,
    "stdinOnce": False,
    "successThreshold": 1,
    "successfulJobsHistoryLimit": 3,
    "suspend": False,
    "terminationGracePeriodSeconds": 30,
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "timeoutSeconds": 1,
    "tty": False,
    "volumeMode": "Filesystem",
}
# Fields with a different default, or none, in some of the types: the default, and the field that only the right type has.
_ONLY_BESIDE = {
    "restartPolicy": ("Always", "containers"),
    "type": ("ClusterIP", "ports"),
}


@rule("redundant-default", "Field is set to its default value", severity=INFO, groups=("style",), default=False, types=_TYPES, fixable=True)
def stated_default(node: Node) -> Iterator[Problem]:
    """Values that the API server sets itself where they are absent."""
    for name, child in node.entries:
        value = _DEFAULTS.get(name)
        if value is None and name in _ONLY_BESIDE:
            default, beside = _ONLY_BESIDE[name]
            value = default if node[beside].exists else None
        # In Python, True equals 1 and False equals 0.
        if value is not None and child.value == value and child.value.__class__ is value.__class__:
            yield Problem(child, f"{name}: {_shown(child)} is the default", help=remove(name), at="key")


def _shown(child: Node) -> str:
    return child.text or str(child.value).lower()

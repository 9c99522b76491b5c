"""The rule about Pods in custom resources: the API server validates them only when the controller of the resource creates them."""

from kcheck.api import WARNING, declare

doomed_pod = declare(
    "invalid-pod-in-custom-resource",
    "Pod template in a custom resource would be rejected by the API server",
    severity=WARNING,
    groups=("workloads",),
    family="practice",
)

"""Pods in custom resources. What the API server asks of pods, it asks of these when their controller makes them."""

from kcheck.api import WARNING, declare

doomed_pod = declare("invalid-pod-in-custom-resource", "Pod template in a custom resource would be rejected by the API server", severity=WARNING,
                   groups=("workloads",), family="practice")  # fmt: skip

"""Pods in custom resources. What the API server asks of pods, it asks of these when their controller makes them."""

from kcheck.api import WARNING, declare

doomed_pod = declare("doomed-pod", "a pod of a custom resource that the API server will refuse", severity=WARNING,
                   groups=("workloads",), family="practice")  # fmt: skip

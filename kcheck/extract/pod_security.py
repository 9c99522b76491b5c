"""Violations of the Pod Security Standards. The labels of the namespace determine which of them are relevant."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.facts.facts import PodSecurityViolation
from kcheck.kube import pod_security as standards
from kcheck.kube.pod import Pod
from kcheck.schema.locator import Locator


def violations(pod: Pod, locator: Locator) -> Iterator[PodSecurityViolation]:
    """Yield the violations of a Pod. A Pod without a namespace may be applied to any namespace, so it has none."""
    if not pod.resource.namespace:
        return
    minor = pod.resource.minor or standards.LATEST - 1
    for found in standards.violations(pod):
        place = locator.place(found.node) if found.node is not None else None
        restricted, latest = found.level == "restricted", found.since <= minor < found.until
        yield PodSecurityViolation(found.control, restricted, found.text, found.who, place, found.since, found.until, latest)

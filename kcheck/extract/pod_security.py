"""What of the Pod Security Standards pods break, with places: which of it matters, the labels of their namespace say."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.facts.facts import PodSecurityViolation
from kcheck.kube.pod import Pod
from kcheck.kube.pod_security import EVER, breaks
from kcheck.schema.locator import Locator


def breaches(pod: Pod, placer: Locator) -> Iterator[PodSecurityViolation]:
    """What a pod breaks. One that names no namespace may go to any, so nobody asks."""
    if not pod.resource.namespace:
        return
    minor = pod.resource.minor or EVER - 1
    for found in breaks(pod):
        place = placer.place(found.node) if found.node is not None else None
        restricted, latest = found.level == "restricted", found.since <= minor < found.until
        yield PodSecurityViolation(found.control, restricted, found.text, found.who, place, found.since, found.until, latest)

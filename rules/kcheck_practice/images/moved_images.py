"""Images whose repositories have moved. Source: what their owners said when they did so."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from kcheck.api import Container, Problem, image, rule


class Move(NamedTuple):
    """`fate`: what became of what was there; `instead`: where to look now."""

    fate: str
    instead: str


_NO_UPDATES = "use the image of the project itself, or docker.io/bitnamilegacy until you do, which gets no updates"
# By the beginning of a repository's name, in whole parts.
MOVES = {
    "docker.io/bitnami": Move("holds no versions any more since August 2025", _NO_UPDATES),
    "gcr.io/kubebuilder": Move("is gone", "use quay.io/brancz/kube-rbac-proxy, or what controller-runtime itself can do"),
    "gcr.io/kubernetes-e2e-test-images": Move("is frozen", "use registry.k8s.io/e2e-test-images"),
    "us.gcr.io/k8s-artifacts-prod": Move("is frozen", "use registry.k8s.io"),
    "eu.gcr.io/k8s-artifacts-prod": Move("is frozen", "use registry.k8s.io"),
    "asia.gcr.io/k8s-artifacts-prod": Move("is frozen", "use registry.k8s.io"),
    "gcr.io/kubernetes-helm": Move("is gone, and so is Helm 2", "use Helm 3 or later, which needs no tiller"),
    "quay.io/kubernetes-ingress-controller": Move("gets nothing new", "use registry.k8s.io/ingress-nginx"),
    "docker.pkg.github.com": Move("is gone", "use ghcr.io"),
}
# What has stayed: the one tag of what is maintained.
_STAYED = {"docker.io/bitnami": "latest"}


@rule(
    "moved-image",
    "Container image was moved to another repository (such as bitnami)",
    groups=("images", "upgrades", "deprecated"),
    fields="image",
)
def moved_image(container: Container) -> Iterator[Problem]:
    """Nodes that have it go on for as long as they keep it, and new ones cannot pull it."""
    node = container["image"]
    if "/" not in node.text:
        return
    try:
        found = image.parse(node.text)
    except image.BadImage:
        return
    old = _former(found.repository)
    if old and (found.digest or (found.tag or "latest") != _STAYED.get(old)):
        yield Problem(node, f"{old} {MOVES[old].fate}", help=MOVES[old].instead)


@lru_cache(maxsize=4096)
def _former(repository: str) -> str:
    """What a repository has moved with, "" where it is where it was."""
    return next((old for old in MOVES if f"{repository}/".startswith(f"{old}/")), "")

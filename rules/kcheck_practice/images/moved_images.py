"""Images whose repositories were moved. Source: the announcements of their owners."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from kcheck.api import Container, Problem, image, rule


class Move(NamedTuple):
    """`fate`: what happened to the repository, the end of the message; `instead`: what to use now, the help."""

    fate: str
    instead: str


_NO_UPDATES = "use the image of the upstream project, or docker.io/bitnamilegacy (without updates) for the time being"
# By the first parts of the name of a repository.
MOVES = {
    "docker.io/bitnami": Move("has had no versioned images since August 2025", _NO_UPDATES),
    "gcr.io/kubebuilder": Move(
        "no longer exists", "use quay.io/brancz/kube-rbac-proxy, or protect the endpoint with controller-runtime itself"
    ),
    "gcr.io/kubernetes-e2e-test-images": Move("is frozen and gets no new images", "use registry.k8s.io/e2e-test-images"),
    "us.gcr.io/k8s-artifacts-prod": Move("is frozen and gets no new images", "use registry.k8s.io"),
    "eu.gcr.io/k8s-artifacts-prod": Move("is frozen and gets no new images", "use registry.k8s.io"),
    "asia.gcr.io/k8s-artifacts-prod": Move("is frozen and gets no new images", "use registry.k8s.io"),
    "gcr.io/kubernetes-helm": Move("no longer exists, and Helm 2 is no longer maintained", "remove Tiller and use Helm 3 or later"),
    "quay.io/kubernetes-ingress-controller": Move("gets no new images", "use registry.k8s.io/ingress-nginx"),
    "docker.pkg.github.com": Move("no longer exists", "use ghcr.io"),
}
# Repositories that stayed where they are.
_UNAFFECTED = ("docker.io/bitnami/sealed-secrets-", "docker.io/bitnami/minideb")
# The only tag that is still maintained in a moved repository.
_MAINTAINED_TAGS = {"docker.io/bitnami": "latest"}


@rule(
    "moved-image",
    "Container image was moved to another repository (such as bitnami)",
    groups=("images", "upgrades", "deprecated"),
    fields="image",
)
def moved_image(container: Container) -> Iterator[Problem]:
    """Yield images of repositories that were moved: nodes with a cached copy still run them, new nodes cannot pull them."""
    node = container["image"]
    if "/" not in node.text:
        return
    try:
        found = image.parse(node.text)
    except image.BadImage:
        return
    old = _moved_repository(found.repository)
    if old and (found.digest or (found.tag or "latest") != _MAINTAINED_TAGS.get(old)):
        yield Problem(node, f"{old} {MOVES[old].fate}", help=MOVES[old].instead)


@lru_cache(maxsize=4096)
def _moved_repository(repository: str) -> str:
    """The key of MOVES that a repository belongs to; "" where it was not moved."""
    if repository.startswith(_UNAFFECTED):
        return ""
    return next((old for old in MOVES if f"{repository}/".startswith(f"{old}/")), "")

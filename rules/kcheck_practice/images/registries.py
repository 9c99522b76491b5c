"""Registries of images. Sources: the Kubernetes documentation page "Images", and the Kubernetes blog on the freeze of k8s.gcr.io."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Container, Edit, Fix, Pod, Problem, image, rule
from kcheck_practice._support.security_contexts import is_whole_pod

_CURRENT = "registry.k8s.io"
# Former registries of the images that are now in registry.k8s.io; the first was frozen in April 2023.
_FROZEN = ("k8s.gcr.io", "gcr.io/google_containers", "gcr.io/google-containers")
# Registries that are public, or that the nodes of their cloud may pull from without imagePullSecrets.
_PUBLIC = (
    "docker.io", _CURRENT, "k8s.gcr.io", "quay.io", "ghcr.io", "gcr.io", "us.gcr.io", "eu.gcr.io", "asia.gcr.io", "mcr.microsoft.com",
    "public.ecr.aws", "registry.access.redhat.com", "docker.elastic.co", "cgr.dev", "nvcr.io", "registry.opensource.zalan.do",
    "xpkg.upbound.io", "localhost", ".pkg.dev", ".amazonaws.com", ".azurecr.io", ".svc.cluster.local", ".local",
)  # fmt: skip


@rule(
    "deprecated-registry",
    "Container image is from a deprecated registry (k8s.gcr.io)",
    groups=("images", "deprecated"),
    fixable=True,
    fields="image",
)
def retired_registry(container: Container) -> Iterator[Problem]:
    """Yield images of k8s.gcr.io and the registries before it. The fix is safe for k8s.gcr.io only: older images were not all copied."""
    node = container["image"]
    old = next((each for each in _FROZEN if node.text.startswith(f"{each}/")), None)
    if old is None:
        return
    right = _CURRENT + node.text[len(old) :]
    fix = None
    start = node.start + (1 if node.style in ("'", '"') else 0)
    source = container.resource.document.source.text
    if source.startswith(old, start):
        fix = Fix(f"replace {old} with {_CURRENT}", (Edit(start, start + len(old), _CURRENT),), safe=old == _FROZEN[0])
    hint = f"use {right}" if old == _FROZEN[0] else f"use {right}, if that image exists"
    yield Problem(node, f"registry {old} is deprecated and has been frozen since 2023", help=hint, fix=fix)


@rule("forbidden-registry", "Container image is from a registry that is not allowed", groups=("images", "supply-chain"), default=False)
def foreign_registry(
    container: Container,
    *,
    allow: Annotated[tuple[str, ...], "registries and repositories that images may come from; without any the rule reports nothing"] = (),
) -> Iterator[Problem]:
    """Yield images from outside of `allow`. An entry is a host, or a host and the first parts of a path; the default host is docker.io."""
    node = container["image"]
    if not allow or not node.text:
        return
    try:
        found = image.parse(node.text)
    except image.BadImage:
        return
    if not any(f"{found.repository}/".startswith(each.rstrip("/") + "/") for each in allow):
        shown = ", ".join(allow[:3]) + (", ..." if len(allow) > 3 else "")
        yield Problem(node, f"{found.repository} is not in an allowed registry ({shown})", help="use an image from an allowed registry")


@rule(
    "missing-image-pull-secret",
    "Pod with an image from a private registry has no imagePullSecrets",
    severity=INFO,
    groups=("images",),
    default=False,
)
def missing_pull_secret(
    pod: Pod,
    *,
    public: Annotated[tuple[str, ...], "registries that need no credentials; .example.com matches all hosts below it"] = _PUBLIC,
) -> Iterator[Problem]:
    """Yield images of other registries than `public` in Pods without imagePullSecrets.

    The ServiceAccount of the Pod or the configuration of the nodes may have the credentials instead.
    """
    if len(pod["imagePullSecrets"]) or not is_whole_pod(pod):
        return
    for container in pod.containers:
        node = container["image"]
        try:
            host = image.parse(node.text).domain.partition(":")[0] if node.text else ""
        except image.BadImage:
            continue
        if host and host not in public and not any(each.startswith(".") and host.endswith(each) for each in public):
            message = f"registry {host} may need credentials, but the Pod has no imagePullSecrets"
            yield Problem(node, message, help="list a Secret with the credentials in imagePullSecrets")

"""Where images come from. Sources: the documentation's page "Images", the Kubernetes blog on the freeze of k8s.gcr.io."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Container, Edit, Fix, Pod, Problem, image, rule
from kcheck_practice._support.security_contexts import is_whole_pod

_TODAY = "registry.k8s.io"
# Copies of what is in registry.k8s.io, as they stood in April 2023 or before.
_FROZEN = ("k8s.gcr.io", "gcr.io/google_containers", "gcr.io/google-containers")
# Anybody can pull from these, or the nodes of the cloud they belong to can without being told.
_OPEN = (
    "docker.io", _TODAY, "k8s.gcr.io", "quay.io", "ghcr.io", "gcr.io", "us.gcr.io", "eu.gcr.io", "asia.gcr.io", "mcr.microsoft.com",
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
    """k8s.gcr.io and what it stood for get no new images, and may go away: registry.k8s.io has the same ones."""
    node = container["image"]
    old = next((each for each in _FROZEN if node.text.startswith(f"{each}/")), None)
    if old is None:
        return
    right = _TODAY + node.text[len(old) :]
    fix = None
    start = node.start + (1 if node.style in ("'", '"') else 0)
    source = container.resource.document.source.text
    if source.startswith(old, start):
        fix = Fix(f"write {_TODAY}", (Edit(start, start + len(old), _TODAY),), safe=old == _FROZEN[0])
    yield Problem(node, f"{old} has been frozen since 2023", help=f"write {right}", fix=fix)


@rule("forbidden-registry", "Container image is from a registry that is not allowed", groups=("images", "supply-chain"), default=False)
def foreign_registry(
    container: Container,
    *,
    allow: Annotated[tuple[str, ...], "registries and repositories that images may come from; without any this rule is silent"] = (),
) -> Iterator[Problem]:
    """An entry is a host, or a host and the beginning of a path, in whole parts; docker.io is what stands in no name."""
    node = container["image"]
    if not allow or not node.text:
        return
    try:
        found = image.parse(node.text)
    except image.BadImage:
        return
    if not any(f"{found.repository}/".startswith(each.rstrip("/") + "/") for each in allow):
        shown = ", ".join(allow[:3]) + (", ..." if len(allow) > 3 else "")
        yield Problem(node, f"{found.repository} is not in {shown}", help="use an image from there")


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
    public: Annotated[tuple[str, ...], "registries that need no credentials; .example.com stands for all hosts below it"] = _OPEN,
) -> Iterator[Problem]:
    """An account of the pod can name imagePullSecrets, too, and so can the nodes' own settings: this asks to say it in the pod."""
    if len(pod["imagePullSecrets"]) or not is_whole_pod(pod):
        return
    for container in pod.containers:
        node = container["image"]
        try:
            host = image.parse(node.text).domain.partition(":")[0] if node.text else ""
        except image.BadImage:
            continue
        if host and host not in public and not any(each.startswith(".") and host.endswith(each) for each in public):
            yield Problem(node, f"{host} may want credentials and the pod has none", help="name a Secret in imagePullSecrets")

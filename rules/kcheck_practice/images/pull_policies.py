"""When a node pulls an image. Source: the Kubernetes documentation page "Images"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Complaint, Container, Problem, image, rule
from kcheck_practice._support.security_contexts import is_whole, named


@rule("pull-policy-not-always", "imagePullPolicy is not Always", severity=INFO, groups=("images",), default=False)
def pull_always(
    container: Container,
    *,
    allow: Annotated[tuple[str, ...], "policies that are allowed"] = ("Always",),
) -> Iterator[Problem]:
    """Yield containers with another imagePullPolicy than `allow`.

    Where none is set, the API server sets Always for the tag latest or none, and IfNotPresent otherwise.
    """
    node = container["imagePullPolicy"]
    policy = node.text
    if not is_whole(container):
        return
    if not policy:
        try:
            policy = image.parse(container["image"].text).pull_policy
        except image.BadImage:
            return
    if policy in allow:
        return
    shown = f"imagePullPolicy: {policy}" if node.text else f"imagePullPolicy is not set, and its default {policy}"
    effect = (
        "is not allowed" if policy == "Always" else f'lets every Pod on a node use its cached copy of image "{container["image"].text}"'
    )
    message = Complaint(f"{shown} {effect}", f"set imagePullPolicy: {allow[0]}" if allow else "")
    yield Problem(node if node else named(container), message, field=node)

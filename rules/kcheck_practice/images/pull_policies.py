"""When a node pulls an image. Source: the documentation's page "Images"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Complaint, Container, Problem, image, rule
from kcheck_practice._support.security_contexts import is_whole, named


@rule("pull-policy-not-always", "imagePullPolicy is not Always", severity=INFO, groups=("images",), default=False)
def pull_always(
    container: Container,
    *,
    allow: Annotated[tuple[str, ...], "policies that are fine"] = ("Always",),
) -> Iterator[Problem]:
    """Where no policy is written the server fills one in: Always for :latest, IfNotPresent for other tags and for digests."""
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
    instead = f"{'write' if node.text else 'add'} imagePullPolicy: {allow[0]}" if allow else "choose another"
    message = Complaint(f"under {policy} a node runs the {container['image'].text} that it has, and whoever is on it may use that", instead)
    yield Problem(node if node else named(container), message, field=node)

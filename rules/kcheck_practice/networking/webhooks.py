"""Admission webhooks that can delay or block requests. Source: the Kubernetes documentation page "Admission Webhook Good Practices"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Node, Problem, Resource, rule

_KINDS = ("admissionregistration.k8s.io ValidatingWebhookConfiguration", "admissionregistration.k8s.io MutatingWebhookConfiguration")
_VITAL = {"pods", "*", "*/*", "pods/*", "nodes", "leases", "tokenreviews", "subjectaccessreviews"}
_GROUPS = ("reliability", "webhooks")


@rule(
    "webhook-blocks-cluster",
    "Webhook with failurePolicy: Fail covers all namespaces and can block the cluster",
    groups=_GROUPS,
    default=False,
    kinds=_KINDS,
)
def webhook_blocks_cluster(resource: Resource) -> Iterator[Problem]:
    """Yield webhooks with failurePolicy Fail (the default) that cover vital resources of all namespaces, including their own."""
    for hook in resource["webhooks"]:
        policy = hook["failurePolicy"]
        if policy.text not in ("", "Fail") or len(hook["matchConditions"]):
            continue
        if _narrows(hook["namespaceSelector"]) or _narrows(hook["objectSelector"]):
            continue
        vital = next((node for entry in hook["rules"] for node in entry["resources"] if node.text in _VITAL), None)
        if vital is not None and any(entry["scope"].text in ("", "*", "Namespaced") for entry in hook["rules"]):
            message = f'webhook "{hook["name"].text}" blocks all requests for "{vital.text}" in all namespaces while it is down'
            hint = "add a namespaceSelector that excludes kube-system and the namespace of the webhook"
            yield Problem(vital, message, help=hint, field=hook["namespaceSelector"])


@rule("long-webhook-timeout", "Webhook has a long timeoutSeconds", groups=_GROUPS, default=False, kinds=_KINDS)
def webhook_timeout(
    resource: Resource,
    *,
    maximum: Annotated[int, "longest timeoutSeconds that is allowed"] = 10,
) -> Iterator[Problem]:
    """Yield timeoutSeconds above `maximum`; the default is 10. The timeouts of several webhooks add up."""
    for hook in resource["webhooks"]:
        node = hook["timeoutSeconds"]
        seconds = node.integer if node else 10
        if seconds is not None and seconds > maximum:
            default = "" if node else ", the default of timeoutSeconds"
            message = f'API requests may wait up to {seconds} seconds for webhook "{hook["name"].text}"{default}'
            yield Problem(node if node else hook["name"], message, help=f"set timeoutSeconds to {maximum} or less", field=node)


@rule(
    "webhook-fails-open",
    "Webhook with failurePolicy: Ignore is bypassed when it is down",
    severity=INFO,
    groups=("security", "webhooks"),
    default=False,
    kinds=_KINDS[0],
)
def webhook_fails_open(resource: Resource) -> Iterator[Problem]:
    """Yield failurePolicy Ignore of validating webhooks."""
    for hook in resource["webhooks"]:
        node = hook["failurePolicy"]
        if node.text == "Ignore":
            message = f'failurePolicy: Ignore admits everything that webhook "{hook["name"].text}" rejects, while the webhook is down'
            hint = "set failurePolicy: Fail, and exclude the namespace of the webhook with namespaceSelector"
            yield Problem(node, message, help=hint)


def _narrows(node: Node) -> bool:
    """Whether a selector excludes some objects."""
    return bool(len(node["matchLabels"]) or len(node["matchExpressions"]))

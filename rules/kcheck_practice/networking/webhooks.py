"""Admission webhooks, on which every request may have to wait. Source: the documentation's page "Admission Webhook Good Practices"."""

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
    """Asked of webhooks that must answer (failurePolicy Fail, the default) for pods of every namespace, those they run in included."""
    for hook in resource["webhooks"]:
        policy = hook["failurePolicy"]
        if policy.text not in ("", "Fail") or len(hook["matchConditions"]):
            continue
        if _narrows(hook["namespaceSelector"]) or _narrows(hook["objectSelector"]):
            continue
        vital = next((node for entry in hook["rules"] for node in entry["resources"] if node.text in _VITAL), None)
        if vital is not None and any(entry["scope"].text in ("", "*", "Namespaced") for entry in hook["rules"]):
            message = f"while {hook['name'].text} does not answer, no {vital.text} are made, not even its own"
            yield Problem(vital, message, help="add a namespaceSelector", field=hook["namespaceSelector"])


@rule("long-webhook-timeout", "Webhook has a long timeoutSeconds", groups=_GROUPS, default=False, kinds=_KINDS)
def webhook_timeout(
    resource: Resource,
    *,
    maximum: Annotated[int, "seconds that a webhook may have"] = 10,
) -> Iterator[Problem]:
    """Without a number it has 10 seconds, and the timeouts of several add up."""
    for hook in resource["webhooks"]:
        node = hook["timeoutSeconds"]
        seconds = node.integer if node else 10
        if seconds is not None and seconds > maximum:
            message = f"requests may wait {seconds} seconds for it"
            yield Problem(node if node else hook["name"], message, help=f"give it {maximum} or fewer", field=node)


@rule(
    "webhook-fails-open",
    "Webhook with failurePolicy: Ignore is bypassed when it is down",
    severity=INFO,
    groups=("security", "webhooks"),
    default=False,
    kinds=_KINDS[0],
)
def webhook_fails_open(resource: Resource) -> Iterator[Problem]:
    """For webhooks that keep something out; one that only adds defaults may well be left out."""
    for hook in resource["webhooks"]:
        node = hook["failurePolicy"]
        if node.text == "Ignore":
            yield Problem(
                node, f"whatever {hook['name'].text} forbids passes while it is down", help="write Fail and keep its own namespace out"
            )


def _narrows(node: Node) -> bool:
    return bool(len(node["matchLabels"]) or len(node["matchExpressions"]))

"""Conversion of custom resources between their versions. Source: validateCustomResourceConversion (apiextensions-apiserver).

The API server reports fields of webhook under other names: spec.conversion.webhookClientConfig and conversionReviewVersions.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, declare, fields, validator
from kcheck_spec.admission.webhook_client_configs import client_problems, review_problems, webhook_client
from kcheck_spec.objects.common_constraints import not_supported, require, settled

crd_conversion = declare("invalid-crd-conversion", "CustomResourceDefinition has an invalid conversion strategy or webhook", fixable=True)

_TYPE = "apiextensions/v1 CustomResourceConversion"
_STRATEGIES = ("None", "Webhook")

tables = [
    fields(_TYPE, strategy=settled),
    fields("apiextensions/v1 WebhookConversion", conversionReviewVersions=()),
    fields("apiextensions/v1 ServiceReference", name=(), namespace=()),
]


@validator(_TYPE, rule=crd_conversion)
def strategy_has_what_it_needs(conversion: Node) -> Iterator[Problem]:
    """Yield a missing or unknown strategy, strategy Webhook without clientConfig, and a webhook with another strategy."""
    if not conversion:
        return
    strategy, webhook = conversion["strategy"], conversion["webhook"]
    if strategy.value in (None, ""):
        yield require(strategy)
    elif strategy.text and strategy.text not in _STRATEGIES:
        yield not_supported(strategy, _STRATEGIES)
    client, versions = webhook["clientConfig"], webhook["conversionReviewVersions"]
    if strategy.text == "Webhook":
        if not client:
            field = conversion.virtual("webhookClientConfig")
            message = "webhook.clientConfig is required for strategy: Webhook"
            yield Problem(client, message, help="add webhook.clientConfig", reason="Required", field=field)
        return
    for each, name in ((client, "webhookClientConfig"), (versions, "conversionReviewVersions")):
        if each and (each.is_map or len(each)):
            message = f"webhook.{each.name} is not allowed for strategy: {strategy.text or 'None'}"
            yield Problem(
                each,
                message,
                help="remove webhook, or set strategy: Webhook",
                reason="Forbidden",
                at="key",
                field=conversion.virtual(name),
            )


@validator(_TYPE, rule=webhook_client)
def webhook_can_be_called(conversion: Node) -> Iterator[Problem]:
    """Yield problems of webhook.clientConfig and webhook.conversionReviewVersions."""
    if conversion["strategy"].text != "Webhook":
        return
    webhook = conversion["webhook"]
    if webhook["clientConfig"]:
        yield from client_problems(webhook["clientConfig"], conversion.virtual("webhookClientConfig"))
    yield from review_problems(webhook["conversionReviewVersions"], conversion.virtual("conversionReviewVersions"))

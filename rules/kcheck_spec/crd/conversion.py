"""Conversion of custom resources between their versions. Source: validateCustomResourceConversion (apiextensions-apiserver).

The server keeps what webhook says under other names: spec.conversion.webhookClientConfig and conversionReviewVersions.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, declare, fields, validator
from kcheck_spec.admission.webhook_client_configs import client_problems, review_problems, webhook_client
from kcheck_spec.objects.common_constraints import not_supported, require, settled

crd_conversion = declare("invalid-crd-conversion", "CustomResourceDefinition has an invalid conversion strategy or webhook")

_TYPE = "apiextensions/v1 CustomResourceConversion"
_STRATEGIES = ("None", "Webhook")

tables = [
    fields(_TYPE, strategy=settled),
    fields("apiextensions/v1 WebhookConversion", conversionReviewVersions=()),
    fields("apiextensions/v1 ServiceReference", name=(), namespace=()),
]


@validator(_TYPE, rule=crd_conversion)
def strategy_has_what_it_needs(conversion: Node) -> Iterator[Problem]:
    """A webhook converts, or nothing but the apiVersion changes, and then there is no webhook."""
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
            field = conversion.imaginary("webhookClientConfig")
            yield Problem(
                client, "a webhook converts, so it must be reached", help="add webhook.clientConfig", reason="Required", field=field
            )
        return
    for each, name in ((client, "webhookClientConfig"), (versions, "conversionReviewVersions")):
        if each and (each.is_map or len(each)):
            message = f"with strategy {strategy.text or 'None'} there is no webhook"
            yield Problem(
                each,
                message,
                help=f"take {each.name} away, or write strategy: Webhook",
                reason="Forbidden",
                at="key",
                field=conversion.imaginary(name),
            )


@validator(_TYPE, rule=webhook_client)
def webhook_can_be_called(conversion: Node) -> Iterator[Problem]:
    """Where it is and what it understands."""
    if conversion["strategy"].text != "Webhook":
        return
    webhook = conversion["webhook"]
    if webhook["clientConfig"]:
        yield from client_problems(webhook["clientConfig"], conversion.imaginary("webhookClientConfig"))
    yield from review_problems(webhook["conversionReviewVersions"], conversion.imaginary("conversionReviewVersions"))

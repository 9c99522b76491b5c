"""Admission webhooks. Source: validateValidatingWebhook and validateMutatingWebhook (pkg/apis/admissionregistration/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, declare, fields, names, validator
from kcheck_spec.admission.rules import in_versions
from kcheck_spec.admission.webhook_client_configs import client_problems, review_problems, webhook_client
from kcheck_spec.objects.common_constraints import in_range, not_supported, one_of, require, required, settled, text, unique

webhook = declare("invalid-webhook", "Invalid admission webhook (name, sideEffects, timeoutSeconds)")

_WEBHOOKS = in_versions("ValidatingWebhook", "MutatingWebhook")
_CONFIGURATIONS = in_versions("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
_SIDE_EFFECTS = ("None", "NoneOnDryRun")

tables = [
    fields(
        _WEBHOOKS,
        name=(required, text(names.fully_qualified, webhook)),
        failurePolicy=one_of("Fail", "Ignore", empty=False),
        matchPolicy=one_of("Equivalent", "Exact", empty=False),
        reinvocationPolicy=one_of("IfNeeded", "Never", empty=False),
        timeoutSeconds=in_range(1, 30),
        sideEffects=settled,
        admissionReviewVersions=(),
        clientConfig=(),
    ),
    fields(in_versions("ServiceReference"), name=(), namespace=()),
]


@validator(_WEBHOOKS, rule=webhook)
def side_effects_are_none(hook: Node) -> Iterator[Problem]:
    """Yield a missing or unsupported sideEffects. Dry-run requests call webhooks too and must change nothing."""
    effects = hook["sideEffects"]
    if not effects:
        yield require(effects, Complaint("sideEffects is required", "set it to None or NoneOnDryRun"))
    elif effects.value.__class__ is str and effects.text not in _SIDE_EFFECTS:
        yield not_supported(effects, _SIDE_EFFECTS)


@validator(_WEBHOOKS, rule=webhook_client)
def webhook_can_be_called(hook: Node) -> Iterator[Problem]:
    """Yield problems of clientConfig and admissionReviewVersions."""
    yield from client_problems(hook["clientConfig"], hook["clientConfig"])
    yield from review_problems(hook["admissionReviewVersions"], hook["admissionReviewVersions"])


@validator(_CONFIGURATIONS, rule=webhook)
def names_differ(configuration: Node) -> Iterator[Problem]:
    """Yield webhooks of a configuration with a duplicate name."""
    hooks = [each for each in configuration["webhooks"] if each["name"].text]
    yield from unique(hooks, _name, lambda each: Complaint(f'duplicate webhook name "{_name(each)}"', "rename one of them"), "name")


def _name(each: Node) -> str:
    return each["name"].text

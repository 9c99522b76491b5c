"""Extenders: programs that kube-scheduler calls over HTTP.

Source: validateExtenders (pkg/scheduler/apis/config/validation), NewHTTPExtender (pkg/scheduler/extender.go), TLSConfigFor (client-go).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, declare, fields, names, remove, validator
from kcheck_spec.component_config.scheduler import CONFIGURATIONS, plain_duration
from kcheck_spec.objects.common_constraints import require
from kcheck_spec.workloads._resource_names import is_extended

scheduler_extender = declare("invalid-scheduler-extender", "KubeSchedulerConfiguration has an invalid extender", fixable=True)

tables = [fields("kubescheduler/v1 Extender", httpTimeout=plain_duration, urlPrefix=())]


@validator("kubescheduler/v1 Extender", rule=scheduler_extender)
def extenders_can_be_asked(extender: Node) -> Iterator[Problem]:
    """Yield extenders without urlPrefix, those that prioritize without a weight, and conflicting TLS settings."""
    if not extender["urlPrefix"].text:
        help = "set it to the URL of the extender, such as http://extender.kube-system:8888/scheduler"
        yield require(extender["urlPrefix"], Complaint("urlPrefix is required", help))
    weight = extender["weight"]
    if extender["prioritizeVerb"].text and (weight.integer or 0) <= 0:
        shown = weight if weight else extender["prioritizeVerb"]
        message = "an extender with prioritizeVerb needs a positive weight"
        yield Problem(shown, message, help="set weight to 1 or more", reason="Invalid", field=weight)
    tls = extender["tlsConfig"]
    if tls["insecure"].boolean and (tls["caFile"].text or tls["caData"].text):
        message = "tlsConfig.insecure: true cannot be combined with a certificate authority"
        yield Problem(tls["insecure"], message, help=remove("insecure"), reason="Invalid")


@validator(CONFIGURATIONS, rule=scheduler_extender)
def extenders_share_the_work(config: Node) -> Iterator[Problem]:
    """Yield the second and later extenders that bind Pods, and managed resources that are duplicate or not extended resources."""
    binders = [each["bindVerb"] for each in config["extenders"] if each["bindVerb"].text]
    for verb in binders[1:]:
        message = "more than one extender has a bindVerb"
        yield Problem(verb, message, help="keep bindVerb in only one extender", reason="Invalid", field=config["extenders"])
    seen: set[str] = set()
    for extender in config["extenders"]:
        for resource in extender["managedResources"]:
            name = resource["name"]
            if name.text in seen:
                yield Problem(name, f'duplicate managed resource "{name.text}"', help="remove one of them", reason="Invalid")
            elif wrong := _name(name.text):
                yield Problem(name, wrong, reason="Invalid")
            seen.add(name.text)


def _name(text: str) -> str:
    """What is wrong with the name of a managed resource; "" for the name of an extended resource."""
    wrong = names.qualified_name(text, noun="the name of a resource")
    if wrong or is_extended(text):
        return wrong
    help = f"use a name with a domain, such as example.com/{text.rpartition('/')[2]}"
    return Complaint(f'managed resource "{text}" is not an extended resource', help)

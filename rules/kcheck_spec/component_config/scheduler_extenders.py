"""Programs that kube-scheduler asks over HTTP.

Source: validateExtenders (pkg/scheduler/apis/config/validation), NewHTTPExtender (pkg/scheduler/extender.go), TLSConfigFor (client-go).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, declare, fields, names, validator
from kcheck_spec.component_config.scheduler import CONFIGURATIONS, plain_duration
from kcheck_spec.objects.common_constraints import require
from kcheck_spec.workloads._resource_names import is_extended

scheduler_extender = declare("invalid-scheduler-extender", "KubeSchedulerConfiguration has an invalid extender")

tables = [fields("kubescheduler/v1 Extender", httpTimeout=plain_duration, urlPrefix=())]


@validator("kubescheduler/v1 Extender", rule=scheduler_extender)
def extenders_can_be_asked(extender: Node) -> Iterator[Problem]:
    """There is an address, and a score that counts."""
    if not extender["urlPrefix"].text:
        yield require(
            extender["urlPrefix"],
            Complaint("an extender is asked over HTTP", "add urlPrefix, such as http://extender.kube-system:8888/scheduler"),
        )
    weight = extender["weight"]
    if extender["prioritizeVerb"].text and (weight.integer or 0) <= 0:
        shown = weight if weight else extender["prioritizeVerb"]
        yield Problem(shown, "what an extender scores must count", help="add weight, 1 or more", reason="Invalid", field=weight)
    tls = extender["tlsConfig"]
    if tls["insecure"].flag and (tls["caFile"].text or tls["caData"].text):
        message = "insecure believes any certificate, so there is none to compare with a CA"
        yield Problem(tls["insecure"], message, help="take insecure away", reason="Invalid")


@validator(CONFIGURATIONS, rule=scheduler_extender)
def extenders_share_the_work(config: Node) -> Iterator[Problem]:
    """One of them at most binds pods, and each resource is managed by one."""
    binders = [each["bindVerb"] for each in config["extenders"] if each["bindVerb"].text]
    for verb in binders[1:]:
        yield Problem(verb, "another extender binds pods already", help="keep one bindVerb", reason="Invalid", field=config["extenders"])
    seen: set[str] = set()
    for extender in config["extenders"]:
        for resource in extender["managedResources"]:
            name = resource["name"]
            if name.text in seen:
                yield Problem(name, f"{name.text} is managed above already: one extender at most manages a resource", reason="Invalid")
            elif wrong := _name(name.text):
                yield Problem(name, wrong, reason="Invalid")
            seen.add(name.text)


def _name(text: str) -> str:
    """Empty for the name of an extended resource, else what is wrong."""
    wrong = names.qualified_name(text, noun="resource name")
    if wrong or is_extended(text):
        return wrong
    return Complaint(
        f"{text} is no resource of an extender's own", f"write one with its domain, such as example.com/{text.rpartition('/')[2]}"
    )

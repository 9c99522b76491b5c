"""Devices that a pod claims, and which of its containers use them.

Source: validatePodResourceClaims and validateResourceClaimNames (pkg/apis/core/validation/validation.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Container, Node, Pod, Problem, declare, fields, names, validator
from kcheck_spec.objects.common_constraints import require, required, text
from kcheck_spec.workloads.containers import CONTAINERS

pod_claim = declare("invalid-pod-resource-claim", "Pod or container has an invalid resourceClaims or resources.claims entry")

tables = [
    fields(
        "core/v1 PodResourceClaim",
        name=required,
        resourceClaimName=text(names.dns_subdomain, pod_claim, empty=False),
        resourceClaimTemplateName=text(names.dns_subdomain, pod_claim, empty=False),
    ),
    # The server names the claim where its name is missing.
    fields("core/v1 ResourceClaim", name=()),
]


@validator("core/v1 PodSpec", rule=pod_claim, fields="resourceClaims")
def claims_of_pods_are_complete(pod: Pod) -> Iterator[Problem]:
    """A name of its own for each, and one place that the claim comes from."""
    seen: set[str] = set()
    for claim in () if pod.resource.is_before(34) else pod["resourceClaims"]:
        name = claim["name"]
        if name.text in seen:
            yield Problem(name, f"a claim of this pod is called {name.text} already", help="give it another name", reason="Duplicate")
        elif name.text:
            wrong = names.dns_label(name.text)
            if wrong:
                yield Problem(name, wrong, reason="Invalid")
            seen.add(name.text)
        both = bool(claim["resourceClaimName"]) + bool(claim["resourceClaimTemplateName"])
        if both != 1:
            hint = "take one of the two away" if both else "add one of the two"
            message = Complaint("a claim comes from either resourceClaimName or resourceClaimTemplateName", hint)
            yield Problem(claim, message, reason="Invalid")


@validator(CONTAINERS, rule=pod_claim, fields="resources")
def claims_of_containers_exist(container: Container) -> Iterator[Problem]:
    """Claims of the pod, or single requests of them, each once."""
    yield from used_claims(container["resources"]["claims"], container.pod)


def used_claims(claims: Node, pod: Pod) -> Iterator[Problem]:
    """What is wrong with claims by name. The server names the claim, not its name."""
    known = {claim["name"].text for claim in pod["resourceClaims"]}
    seen: set[tuple[str, str]] = set()
    for claim in () if pod.resource.is_before(34) else claims:
        name, request = claim["name"], claim["request"]
        if not name.text:
            yield require(name).replace(reason="Required", field=claim)
            continue
        whole, part = (name.text, ""), (name.text, request.text)
        if whole not in seen and request.text and (wrong := names.dns_label(request.text)):
            yield Problem(request, wrong, reason="Invalid")
        if whole in seen or part in seen or (not request.text and any(used == name.text for used, _ in seen)):
            yield Problem(
                name, f"this container uses {name.text} already", help="take one of the two away", reason="Duplicate", field=claim
            )
        seen.add(part)
        if name.text not in known:
            names_known = " or ".join(sorted(filter(None, known)))
            hint = f"write {names_known}" if names_known else "add it to resourceClaims of the pod"
            yield Problem(name, f"this pod has no claim {name.text}", help=hint, reason="NotFound", field=claim)

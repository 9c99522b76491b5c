"""resourceClaims of Pods and resources.claims of containers.

Source: validatePodResourceClaims and validateResourceClaimNames (pkg/apis/core/validation/validation.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Container, Node, Pod, Problem, declare, did_you_mean, fields, names, nearest, validator
from kcheck_spec.objects.common_constraints import require, required, text
from kcheck_spec.workloads.containers import CONTAINERS

pod_claim = declare("invalid-pod-resource-claim", "Pod or container has an invalid resourceClaims or resources.claims entry", fixable=True)

tables = [
    fields(
        "core/v1 PodResourceClaim",
        name=required,
        resourceClaimName=text(names.dns_subdomain, pod_claim, empty=False),
        resourceClaimTemplateName=text(names.dns_subdomain, pod_claim, empty=False),
    ),
    # The API server reports the claim where its name is missing.
    fields("core/v1 ResourceClaim", name=()),
]


@validator("core/v1 PodSpec", rule=pod_claim, fields="resourceClaims")
def claims_of_pods_are_complete(pod: Pod) -> Iterator[Problem]:
    """Yield claims with an invalid or duplicate name, or without exactly one of resourceClaimName and resourceClaimTemplateName."""
    seen: set[str] = set()
    for claim in pod["resourceClaims"]:
        name = claim["name"]
        if name.text in seen:
            yield Problem(name, f'duplicate resourceClaims name "{name.text}"', help="rename one of them", reason="Duplicate")
        elif name.text:
            wrong = names.dns_label(name.text)
            if wrong:
                yield Problem(name, wrong, reason="Invalid")
            seen.add(name.text)
        both = bool(claim["resourceClaimName"]) + bool(claim["resourceClaimTemplateName"])
        if both != 1:
            keys = ("resourceClaimName", "resourceClaimTemplateName")
            message = f"{' and '.join(keys)} are mutually exclusive" if both else f"the claim has neither {' nor '.join(keys)}"
            yield Problem(claim, message, help="remove one of them" if both else "add one of them", reason="Invalid")


@validator(CONTAINERS, rule=pod_claim, fields="resources")
def claims_of_containers_exist(container: Container) -> Iterator[Problem]:
    """Yield problems of the claims that a container uses."""
    yield from used_claims(container["resources"]["claims"], container.pod)


def used_claims(claims: Node, pod: Pod) -> Iterator[Problem]:
    """Yield references to unknown claims of the Pod, and duplicates. The API server reports the claim, not its name."""
    known = {claim["name"].text for claim in pod["resourceClaims"]}
    seen: set[tuple[str, str]] = set()
    for claim in claims:
        name, request = claim["name"], claim["request"]
        if not name.text:
            yield require(name).replace(reason="Required", field=claim)
            continue
        whole, part = (name.text, ""), (name.text, request.text)
        if whole not in seen and request.text and (wrong := names.dns_label(request.text)):
            yield Problem(request, wrong, reason="Invalid")
        if whole in seen or part in seen or (not request.text and any(used == name.text for used, _ in seen)):
            yield Problem(name, f'duplicate claim "{name.text}"', help="remove one of them", reason="Duplicate", field=claim)
        seen.add(part)
        if name.text not in known:
            near = nearest(name.text, filter(None, known))
            help = did_you_mean(near, "add it to spec.resourceClaims of the Pod")
            message = f'claim "{name.text}" is not in spec.resourceClaims of the Pod'
            yield Problem(name, message, help=help, reason="NotFound", field=claim)

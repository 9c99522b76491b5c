"""What a pod says of itself: names, hostname, DNS, when it starts and ends.

Source: ValidatePodSpec, validatePodDNSConfig, ValidateHostAliases, validateSchedulingGates, ValidatePodSpecificAnnotations
(pkg/apis/core/validation/validation.go), Convert_v1_PodSpec_To_core_PodSpec, the warnings of pkg/api/pod/warnings.go.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from kcheck.api import Complaint, Constraint, Node, Pod, Problem, declare, fields, names, validator
from kcheck_spec.networking.ip_addresses import unusual_addresses, wrong_address
from kcheck_spec.objects.common_constraints import (
    deprecated_field,
    dns_subdomain,
    dubious_setting,
    in_range,
    object_name,
    one_of,
    require,
    text,
)

hostname = declare("invalid-hostname", "Pod has an invalid hostname, subdomain or hostnameOverride")
pod_dns = declare("invalid-dns-config", "Pod has invalid dnsConfig, dnsPolicy or hostAliases")
pod_gate = declare("invalid-pod-gate", "Pod has invalid schedulingGates or readinessGates")
pod_annotation = declare("invalid-pod-annotation", "Pod has an invalid annotation (pod-deletion-cost, mirror, tolerations)")

_MOST_HOSTNAME = 64
_MOST_SERVERS = 3
_MOST_SEARCHES = 32
_MOST_SEARCH_TEXT = 2048

TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
MIRROR = "kubernetes.io/config.mirror"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_OLD_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": ("1.16", "priorityClassName"),
    "security.alpha.kubernetes.io/sysctls": ("1.11", "securityContext.sysctls"),
    "security.alpha.kubernetes.io/unsafe-sysctls": ("1.11", "securityContext.sysctls"),
}


def _condition(node: Node) -> Problem | None:
    wrong = names.qualified_name(node.text)
    return Problem(node, wrong, reason="Invalid") if wrong else None


tables = [
    fields(
        "core/v1 PodSpec",
        hostname=text(names.dns_label, hostname),
        subdomain=text(names.dns_label, hostname),
        nodeName=dns_subdomain,
        serviceAccountName=dns_subdomain,
        priorityClassName=dns_subdomain,
        runtimeClassName=text(names.dns_subdomain, object_name, empty=False),
        activeDeadlineSeconds=in_range(1, 2**31 - 1),
        preemptionPolicy=one_of("PreemptLowerPriority", "Never", empty=False),
    ),
    fields("core/v1 PodReadinessGate", conditionType=Constraint(pod_gate, _condition, of_absent=True)),
    fields("core/v1 PodSchedulingGate", name=()),
    fields("core/v1 HostAlias", ip=()),
]


@validator("core/v1 PodSpec", rule=object_name, fields="serviceAccount")
def old_name_of_account_fits(pod: Pod) -> Iterator[Problem]:
    """serviceAccount is the former name of serviceAccountName and counts where that is missing."""
    account = pod["serviceAccount"]
    if account.text and not pod["serviceAccountName"].text:
        wrong = names.dns_subdomain(account.text)
        if wrong:
            yield Problem(account, wrong, reason="Invalid", field=pod["serviceAccountName"])


@validator("core/v1 PodSpec", rule=hostname, fields="hostnameOverride")
def hostname_can_be_overridden(pod: Pod) -> Iterator[Problem]:
    """An override fits into the kernel's field for the name, and stands against nothing else."""
    override = pod["hostnameOverride"]
    if not override or pod.resource.is_before(35):
        return
    size = len(override.text.encode())
    if size > _MOST_HOSTNAME:
        yield Problem(override, f"a hostname has at most {_MOST_HOSTNAME} bytes, this has {size}", help="shorten it", reason="TooLong")
    elif wrong := names.dns_subdomain(override.text):
        yield Problem(override, wrong, reason="Invalid")
    for other in ("setHostnameAsFQDN", "hostNetwork"):
        if pod[other].flag:
            yield Problem(
                override, f"hostnameOverride does not go with {other}", help="take one of the two away", reason="Forbidden", at="key"
            )


@validator("core/v1 PodSpec", rule=pod_dns, fields=("dnsConfig", "dnsPolicy"))
def dns_can_be_set_up(pod: Pod) -> Iterator[Problem]:
    """Name servers, search domains and options within the limits of the resolver."""
    config = pod["dnsConfig"]
    servers, searches = config["nameservers"], config["searches"]
    if pod["dnsPolicy"].text == "None":
        if not config:
            yield require(config, Complaint("dnsPolicy: None leaves all to dnsConfig", "add it with nameservers"))
            return
        if not len(servers):
            yield require(servers, Complaint("dnsPolicy: None needs a name server", "add nameservers"))
            return
    if len(servers) > _MOST_SERVERS:
        yield Problem(
            servers, f"{len(servers)} name servers are too many", help=f"write {_MOST_SERVERS} at most", reason="Invalid", at="key"
        )
    for server in servers:
        wrong = wrong_address(server.text, pod.resource)
        if wrong:
            yield Problem(server, wrong, reason="Invalid")
    if len(searches) > _MOST_SEARCHES:
        yield Problem(
            searches, f"{len(searches)} search domains are too many", help=f"write {_MOST_SEARCHES} at most", reason="Invalid", at="key"
        )
    size = len(" ".join(search.text for search in searches).encode())
    if size > _MOST_SEARCH_TEXT:
        message = f"the search domains have {size:,} characters together"
        yield Problem(searches, message, help=f"write {_MOST_SEARCH_TEXT:,} at most", reason="Invalid", at="key")
    # Before 1.33 neither '_' nor a dot alone was known.
    strict = pod.resource.is_before(33)
    for search in searches:
        bare = search.text.removesuffix(".")
        wrong = names.dns_subdomain(bare) if strict else "" if search.text == "." else names.dns_search(bare)
        if wrong:
            yield Problem(search, wrong, reason="Invalid")
    for option in config["options"]:
        if not option["name"].text:
            yield Problem(
                option["name"], "an option of the resolver has no name", help="give it one, such as ndots", reason="Required", field=option
            )


@validator("core/v1 PodSpec", rule=pod_dns, fields="hostAliases")
def aliases_can_be_written(pod: Pod) -> Iterator[Problem]:
    """Lines for the hosts file: an address and names."""
    for alias in pod["hostAliases"]:
        wrong = wrong_address(alias["ip"].text, pod.resource)
        if wrong:
            yield Problem(alias["ip"], wrong, reason="Invalid")
        for name in alias["hostnames"]:
            wrong = names.dns_subdomain(name.text)
            if wrong:
                yield Problem(name, wrong, reason="Invalid")


@validator("core/v1 PodSpec", rule=pod_gate, fields="schedulingGates")
def gates_can_be_lifted(pod: Pod) -> Iterator[Problem]:
    """Each gate once. The server names the gate, not its name."""
    seen: set[str] = set()
    for gate in pod["schedulingGates"]:
        name = gate["name"]
        wrong = names.qualified_name(name.text)
        if wrong:
            yield Problem(name, wrong, reason="Invalid", field=gate)
        if name.text in seen:
            yield Problem(name, f"{name.text or 'a nameless gate'} stands here twice", help="take one away", reason="Duplicate", field=gate)
        seen.add(name.text)
    if seen and pod["nodeName"].text and not pod.is_template:
        message = "a pod with schedulingGates waits for the scheduler, so it has no node yet"
        yield Problem(pod["nodeName"], message, help="take nodeName or the gates away", reason="Forbidden")


@validator("core/v1 PodSpec", rule=pod_annotation)
def annotations_make_sense(pod: Pod) -> Iterator[Problem]:
    """Annotations of a pod that have a meaning to the server."""
    annotations = pod.metadata["annotations"]
    if MIRROR in annotations and not pod["nodeName"].text:
        message = "only a kubelet makes mirror pods, on its node"
        field = annotation_field(pod, MIRROR)
        yield Problem(annotations[MIRROR], message, help="take the annotation away", reason="Invalid", at="key", field=field)
    tolerations = annotations[TOLERATIONS]
    if tolerations.text and not _is_list_of_maps(tolerations.text):
        message = Complaint("this is no list of tolerations in JSON", "use tolerations of the spec")
        yield Problem(tolerations, message, reason="Invalid", field=beside(pod, "annotations"))
    cost = annotations[DELETION_COST]
    if cost.exists and not _is_cost(cost.text):
        message = Complaint(f"{cost.text or 'nothing'} is no cost", 'write a whole number in quotes, such as "100"')
        yield Problem(cost, message, reason="Invalid", field=annotation_field(pod, DELETION_COST))


def annotation_field(pod: Pod, key: str) -> Node:
    """An annotation as the server names it: of a template it leaves metadata out."""
    return beside(pod, "annotations").imaginary(f"[{key}]")


def beside(pod: Pod, field: str) -> Node:
    """A field of the metadata beside a pod spec as the server names it."""
    parent = pod.node.parent
    assert parent is not None
    return parent.imaginary(field if pod.is_template else f"metadata.{field}")


def _is_list_of_maps(value: str) -> bool:
    try:
        found = json.loads(value)
    except ValueError:
        return False
    return found is None or (isinstance(found, list) and all(each is None or isinstance(each, dict) for each in found))


def _is_cost(value: str) -> bool:
    """Whether it is an integer of 32 bits, without sign '+' or leading zeros."""
    return not names.decimal_integer(value) and -(2**31) <= int(value) < 2**31


@validator("core/v1 PodSpec", rule=deprecated_field)
def annotations_are_in_use(pod: Pod) -> Iterator[Problem]:
    """Annotations that were the former way to say what a field says."""
    annotations = pod.metadata["annotations"]
    for key, (version, instead) in _OLD_ANNOTATIONS.items():
        if key in annotations:
            yield Problem(annotations[key], f"{key} does nothing since {version}", help=f"use {instead}", at="key")


@validator(
    "core/v1 PodSpec", rule=dubious_setting, fields=("hostAliases", "imagePullSecrets", "terminationGracePeriodSeconds", "dnsConfig")
)
def settings_do_something(pod: Pod) -> Iterator[Problem]:
    """Entries that repeat others or say nothing, and addresses that other programs read in another way."""
    yield from _repeated(pod["hostAliases"], "ip")
    yield from _repeated(pod["imagePullSecrets"], "name")
    for secret in pod["imagePullSecrets"]:
        if not secret["name"].text:
            yield Problem(secret["name"], "an image pull secret without name does nothing", help="give its name or take it away")
    grace = pod["terminationGracePeriodSeconds"]
    if (grace.integer or 0) < 0:
        yield Problem(grace, f"{grace.value} seconds count as 1", help="write a number from 0 up")
    written = (*pod["dnsConfig"]["nameservers"], *(alias["ip"] for alias in pod["hostAliases"]))
    yield from unusual_addresses(written, pod.resource)


def _repeated(listed: Node, key: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for item in listed:
        if item[key].text in seen:
            yield Problem(item[key], f"{item[key].text or 'nothing'} stands in {listed.name} already", help="put the two together")
        seen.add(item[key].text)

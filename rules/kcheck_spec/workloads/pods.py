"""Pod-level fields: names, hostname, DNS, gates and annotations.

Source: ValidatePodSpec, validatePodDNSConfig, ValidateHostAliases, validateSchedulingGates, ValidatePodSpecificAnnotations
(pkg/apis/core/validation/validation.go), Convert_v1_PodSpec_To_core_PodSpec, the warnings of pkg/api/pod/warnings.go.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from kcheck.api import Complaint, Constraint, Correction, Node, Pod, Problem, declare, fields, names, remove, validator
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

hostname = declare("invalid-hostname", "Pod has an invalid hostname, subdomain or hostnameOverride", fixable=True)
pod_dns = declare("invalid-dns-config", "Pod has invalid dnsConfig, dnsPolicy or hostAliases", fixable=True)
pod_gate = declare("invalid-pod-gate", "Pod has invalid schedulingGates or readinessGates", fixable=True)
pod_annotation = declare("invalid-pod-annotation", "Pod has an invalid annotation (pod-deletion-cost, mirror, tolerations)", fixable=True)

_MAX_HOSTNAME_BYTES = 64
_MAX_SERVERS = 3
_MAX_SEARCHES = 32
_MAX_SEARCH_TEXT = 2048

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
    """serviceAccount is the former name of serviceAccountName, used where that is missing."""
    account = pod["serviceAccount"]
    if account.text and not pod["serviceAccountName"].text:
        wrong = names.dns_subdomain(account.text)
        if wrong:
            yield Problem(account, wrong, reason="Invalid", field=pod["serviceAccountName"])


@validator("core/v1 PodSpec", rule=hostname, fields="hostnameOverride")
def hostname_can_be_overridden(pod: Pod) -> Iterator[Problem]:
    """An override must fit into the hostname of the kernel, and excludes some other settings."""
    override = pod["hostnameOverride"]
    if not override:
        return
    size = len(override.text.encode())
    if size > _MAX_HOSTNAME_BYTES:
        message = f"hostnameOverride is {size} bytes long, but the maximum is {_MAX_HOSTNAME_BYTES}"
        yield Problem(override, message, reason="TooLong")
    elif wrong := names.dns_subdomain(override.text):
        yield Problem(override, wrong, reason="Invalid")
    for other in ("setHostnameAsFQDN", "hostNetwork"):
        if pod[other].boolean:
            message = f"hostnameOverride is not allowed with {other}: true"
            yield Problem(override, message, help=f"remove hostnameOverride or {other}", reason="Forbidden", at="key")


@validator("core/v1 PodSpec", rule=pod_dns, fields=("dnsConfig", "dnsPolicy"))
def dns_can_be_set_up(pod: Pod) -> Iterator[Problem]:
    """Name servers, search domains and options, with the limits of the resolver."""
    config = pod["dnsConfig"]
    servers, searches = config["nameservers"], config["searches"]
    if pod["dnsPolicy"].text == "None":
        if not config:
            yield require(config, Complaint("dnsPolicy: None requires dnsConfig", "add dnsConfig with nameservers"))
            return
        if not len(servers):
            yield require(servers, Complaint("dnsPolicy: None requires dnsConfig.nameservers", "add the IP address of a name server"))
            return
    if len(servers) > _MAX_SERVERS:
        message = f"nameservers has {len(servers)} entries, but the maximum is {_MAX_SERVERS}"
        yield Problem(servers, message, reason="Invalid", at="key")
    for server in servers:
        wrong = wrong_address(server.text, pod.resource)
        if wrong:
            yield Problem(server, wrong, reason="Invalid")
    if len(searches) > _MAX_SEARCHES:
        message = f"searches has {len(searches)} entries, but the maximum is {_MAX_SEARCHES}"
        yield Problem(searches, message, reason="Invalid", at="key")
    size = len(" ".join(search.text for search in searches).encode())
    if size > _MAX_SEARCH_TEXT:
        message = f"searches is {size:,} characters long in total, but the maximum is {_MAX_SEARCH_TEXT:,}"
        yield Problem(searches, message, reason="Invalid", at="key")
    # Without the gate neither '_' nor a single dot is allowed.
    strict = not pod.resource.enables("RelaxedDNSSearchValidation")
    for search in searches:
        bare = search.text.removesuffix(".")
        wrong = names.dns_subdomain(bare) if strict else "" if search.text == "." else names.dns_search(bare)
        if wrong:
            yield Problem(search, wrong, reason="Invalid")
    for option in config["options"]:
        if not option["name"].text:
            message = "name of the dnsConfig option is missing"
            yield Problem(option["name"], message, help="add name, for example name: ndots", reason="Required", field=option)


@validator("core/v1 PodSpec", rule=pod_dns, fields="hostAliases")
def aliases_can_be_written(pod: Pod) -> Iterator[Problem]:
    """Entries of the hosts file: an IP address and host names."""
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
    """Invalid and duplicate scheduling gates. The API server names the gate, not the field name."""
    seen: set[str] = set()
    for gate in pod["schedulingGates"]:
        name = gate["name"]
        wrong = names.qualified_name(name.text)
        if wrong:
            yield Problem(name, wrong, reason="Invalid", field=gate)
        if name.text in seen:
            yield Problem(
                name,
                f'scheduling gate "{name.text}" is listed twice',
                help="remove one",
                reason="Duplicate",
                field=gate,
                fix=Correction.remove(gate),
            )
        seen.add(name.text)
    if seen and pod["nodeName"].text and not pod.is_template:
        message = f'nodeName "{pod["nodeName"].text}" is not allowed with schedulingGates'
        yield Problem(pod["nodeName"], message, help="remove nodeName or schedulingGates", reason="Forbidden")


@validator("core/v1 PodSpec", rule=pod_annotation)
def annotations_make_sense(pod: Pod) -> Iterator[Problem]:
    """Pod annotations that the API server validates."""
    annotations = pod.metadata["annotations"]
    if MIRROR in annotations and not pod["nodeName"].text:
        message = f'annotation "{MIRROR}" is only for mirror Pods, which the kubelet creates'
        field = annotation_field(pod, MIRROR)
        yield Problem(annotations[MIRROR], message, help=remove("the annotation"), reason="Invalid", at="key", field=field)
    tolerations = annotations[TOLERATIONS]
    if tolerations.text and not _is_list_of_maps(tolerations.text):
        message = Complaint(f'annotation "{TOLERATIONS}" is not a JSON list', "remove the annotation and use spec.tolerations")
        yield Problem(tolerations, message, reason="Invalid", field=beside(pod, "annotations"))
    cost = annotations[DELETION_COST]
    if cost.exists and not _is_cost(cost.text):
        message = Complaint(f'Pod deletion cost "{cost.text}" is not a valid 32-bit integer', 'use an integer in quotes, for example "100"')
        yield Problem(cost, message, reason="Invalid", field=annotation_field(pod, DELETION_COST))


def annotation_field(pod: Pod, key: str) -> Node:
    """An annotation as the API server names it: without metadata in templates."""
    return beside(pod, "annotations").virtual(f"[{key}]")


def beside(pod: Pod, field: str) -> Node:
    """A field of the metadata of a Pod or Pod template as the API server names it."""
    parent = pod.node.parent
    assert parent is not None
    return parent.virtual(field if pod.is_template else f"metadata.{field}")


def _is_list_of_maps(value: str) -> bool:
    try:
        found = json.loads(value)
    except ValueError:
        return False
    return found is None or (isinstance(found, list) and all(each is None or isinstance(each, dict) for each in found))


def _is_cost(value: str) -> bool:
    """Whether the text is a 32-bit integer without the sign '+' and without leading zeros."""
    return not names.decimal_integer(value) and -(2**31) <= int(value) < 2**31


@validator("core/v1 PodSpec", rule=deprecated_field)
def annotations_are_in_use(pod: Pod) -> Iterator[Problem]:
    """Annotations that fields have replaced."""
    annotations = pod.metadata["annotations"]
    for key, (version, field) in _OLD_ANNOTATIONS.items():
        if key in annotations:
            message = f'annotation "{key}" has had no effect since Kubernetes {version}'
            yield Problem(annotations[key], message, help=f"use {field}", at="key")


@validator(
    "core/v1 PodSpec", rule=dubious_setting, fields=("hostAliases", "imagePullSecrets", "terminationGracePeriodSeconds", "dnsConfig")
)
def settings_do_something(pod: Pod) -> Iterator[Problem]:
    """Duplicate and empty entries, negative grace periods, and IP addresses that other programs read differently."""
    yield from _repeated(pod["hostAliases"], "ip", "merge the two entries")
    yield from _repeated(pod["imagePullSecrets"], "name", "remove one")
    for secret in pod["imagePullSecrets"]:
        if not secret["name"].text:
            yield Problem(secret["name"], "imagePullSecrets entry without name has no effect", help="add name, or remove the entry")
    grace = pod["terminationGracePeriodSeconds"]
    if (grace.integer or 0) < 0:
        yield Problem(grace, f"terminationGracePeriodSeconds: {grace.value} is negative and is treated as 1", help="use 0 or more")
    written = (*pod["dnsConfig"]["nameservers"], *(alias["ip"] for alias in pod["hostAliases"]))
    yield from unusual_addresses(written, pod.resource)


def _repeated(listed: Node, key: str, hint: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for item in listed:
        if item[key].text in seen:
            yield Problem(item[key], f'{key} "{item[key].text}" is listed twice in {listed.name}', help=hint)
        seen.add(item[key].text)

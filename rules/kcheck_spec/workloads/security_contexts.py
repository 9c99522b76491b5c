"""Security contexts of Pods and containers, sysctls, and the host namespaces that a Pod shares.

Source: validatePodSpecSecurityContext, ValidateSecurityContext, validateHostUsers, validateSysctls and ValidateHostSysctl
(pkg/apis/core/validation/validation.go), component-helpers/node/util/sysctl.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kcheck.api import Complaint, Container, Pod, Problem, declare, fields, pattern, remove, validator
from kcheck_spec.objects.common_constraints import each, in_range, one_of, require
from kcheck_spec.workloads.containers import CONTAINERS, containers, title

user_id = declare("invalid-user-id", "User or group ID is not between 0 and 2147483647 (runAsUser, fsGroup)")
security_context = declare(
    "conflicting-security-context", "securityContext has conflicting settings (privileged, allowPrivilegeEscalation)"
)
host_namespace = declare(
    "conflicting-host-namespace", "Pod has conflicting hostUsers, hostPID, hostIPC, hostNetwork or shareProcessNamespace", fixable=True
)
sysctl_name = declare("invalid-sysctl", "Pod has an invalid sysctl")

_id = in_range(0, 2**31 - 1, user_id)

# These fields are pointers in Go, where an empty string is an invalid value.
tables = [
    fields(
        "core/v1 PodSecurityContext",
        runAsUser=_id,
        runAsGroup=_id,
        fsGroup=_id,
        supplementalGroups=each(_id),
        fsGroupChangePolicy=one_of("Always", "OnRootMismatch", empty=False),
        supplementalGroupsPolicy=one_of("Merge", "Strict", empty=False),
        seLinuxChangePolicy=one_of("Recursive", empty=False),
    ),
    fields("core/v1 SecurityContext", runAsUser=_id, runAsGroup=_id, procMount=one_of("Default", "Unmasked", empty=False)),
    # The value may be empty, and the name is checked below.
    fields("core/v1 Sysctl", name=(), value=()),
]


@validator(CONTAINERS, rule=security_context, fields="securityContext")
def privileges_agree(container: Container) -> Iterator[Problem]:
    """Settings that contradict each other: procMount, privileged, allowPrivilegeEscalation and CAP_SYS_ADMIN."""
    context = container["securityContext"]
    unmasked = context["procMount"].text == "Unmasked"
    if unmasked and container.pod["hostUsers"].boolean is not False:
        message = Complaint("procMount: Unmasked requires hostUsers: false in the Pod", "set hostUsers: false, or use procMount: Default")
        yield Problem(context["procMount"], message, reason="Invalid")
    escalation = context["allowPrivilegeEscalation"]
    if escalation.boolean is not False:
        return
    if context["privileged"].boolean:
        message = Complaint("allowPrivilegeEscalation: false conflicts with privileged: true", "remove one of the two")
        yield Problem(escalation, message, reason="Invalid", field=context)
    for capability in context["capabilities"]["add"]:
        if capability.text == "CAP_SYS_ADMIN":
            message = Complaint("capability CAP_SYS_ADMIN conflicts with allowPrivilegeEscalation: false", "remove one of the two")
            yield Problem(capability, message, reason="Invalid", field=context)


@validator("core/v1 PodSpec", rule=host_namespace, fields="shareProcessNamespace")
def processes_are_shared_once(pod: Pod) -> Iterator[Problem]:
    """The process namespace is shared between the containers or with the node, not both."""
    shared = pod["shareProcessNamespace"]
    if shared.boolean and pod["hostPID"].boolean:
        yield Problem(
            shared,
            "shareProcessNamespace: true conflicts with hostPID: true",
            help="remove one of the two",
            reason="Invalid",
            field=pod["securityContext"].virtual("shareProcessNamespace"),
        )


@validator("core/v1 PodSpec", rule=host_namespace, fields="hostUsers")
def user_namespaces_exclude_host_namespaces(pod: Pod) -> Iterator[Problem]:
    """A Pod with a user namespace (hostUsers: false) can have neither other host namespaces nor block devices."""
    if pod["hostUsers"].boolean is not False:
        return
    # The API server reports two of the fields with a capital letter.
    for name, field in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if pod[name].boolean:
            message = Complaint(f"{name}: true is not allowed with hostUsers: false", remove(name, safe=False))
            yield Problem(pod[name], message, reason="Forbidden", field=pod.node.virtual(field))
    for container in containers(pod.node):
        devices = container["volumeDevices"]
        if len(devices):
            message = Complaint(
                f"volumeDevices of {title(container)} is not allowed with hostUsers: false", "use volumeMounts, or remove hostUsers: false"
            )
            yield Problem(devices, message, reason="Forbidden", at="key")


_SYSCTL = pattern("(?:[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?")
_MAX_NAME_LENGTH = 253
_SWAPPED = str.maketrans("./", "/.")
# Sysctls that belong to a namespace, by the field that shares this namespace with the node.
_NAMESPACES = {"hostIPC": ("kernel.shm", "kernel.msg", "fs.mqueue."), "hostNetwork": ("net.",)}


@validator("core/v1 PodSpec", rule=sysctl_name, fields="securityContext")
def sysctls_can_be_set(pod: Pod) -> Iterator[Problem]:
    """Missing, invalid and duplicate sysctls, and sysctls of a host namespace."""
    seen: set[str] = set()
    for parameter in pod["securityContext"]["sysctls"]:
        name = parameter["name"]
        if not name.text:
            yield require(name, Complaint("name of the sysctl is missing", "add name, for example net.ipv4.tcp_syncookies"))
        elif not _SYSCTL.fullmatch(name.text) or len(name.text) > _MAX_NAME_LENGTH:
            message = f'"{name.text}" is not a valid sysctl name'
            yield Problem(name, message, help="use a name such as net.ipv4.tcp_syncookies", reason="Invalid")
        elif name.text in seen:
            yield Problem(name, f'sysctl "{name.text}" is set twice', help="remove one", reason="Duplicate")
        seen.add(name.text)
        # Checked since 1.29.
        shared = _shared_by(name.text, pod) if not pod.resource.is_before(29) else ""
        if shared:
            message = f'sysctl "{name.text}" is not allowed with {shared}'
            yield Problem(name, message, help=f"remove the sysctl or {shared}", reason="Invalid")


def _shared_by(name: str, pod: Pod) -> str:
    """The setting of the Pod that makes a sysctl one of the node, "" where none does."""
    # Names can have slashes as separators, and then the parts can contain dots: net/ipv4/conf/eth0.1/forwarding.
    separator = re.search("[./]", name)
    dotted = name.translate(_SWAPPED) if separator and separator[0] == "/" else name
    for field, prefixes in _NAMESPACES.items():
        if pod[field].boolean and (dotted.startswith(prefixes) or (field == "hostIPC" and dotted == "kernel.sem")):
            return f"{field}: true"
    return ""

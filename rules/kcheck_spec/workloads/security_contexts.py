"""Security contexts of pods and containers, and the namespaces of the node that a pod shares.

Source: validatePodSpecSecurityContext, ValidateSecurityContext, validateHostUsers, validateSysctls and ValidateHostSysctl
(pkg/apis/core/validation/validation.go), component-helpers/node/util/sysctl.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kcheck.api import Complaint, Container, Pod, Problem, declare, fields, pattern, validator
from kcheck_spec.objects.common_constraints import each, in_range, one_of, require
from kcheck_spec.workloads.containers import CONTAINERS, containers

user_id = declare("invalid-user-id", "User or group ID is not between 0 and 2147483647 (runAsUser, fsGroup)")
security_context = declare(
    "conflicting-security-context", "securityContext has conflicting settings (privileged, allowPrivilegeEscalation)"
)
host_namespace = declare(
    "conflicting-host-namespace", "Pod has conflicting hostUsers, hostPID, hostIPC, hostNetwork or shareProcessNamespace"
)
sysctl_name = declare("invalid-sysctl", "Pod has an invalid sysctl")

_id = in_range(0, 2**31 - 1, user_id)

# Pointers in Go: there, an empty word is a wrong one.
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
    # The value may be empty, and the name is asked for below.
    fields("core/v1 Sysctl", name=(), value=()),
]


@validator(CONTAINERS, rule=security_context, fields="securityContext")
def privileges_agree(container: Container) -> Iterator[Problem]:
    """What needs privileges, and the wish to have none."""
    context = container["securityContext"]
    unmasked = context["procMount"].text == "Unmasked" and not container.resource.is_before(33)
    if unmasked and container.pod["hostUsers"].flag is not False:
        message = Complaint("Unmasked lays open the node's /proc unless users are the pod's own", "set hostUsers: false, or write Default")
        yield Problem(context["procMount"], message, reason="Invalid")
    escalation = context["allowPrivilegeEscalation"]
    if escalation.flag is not False:
        return
    if context["privileged"].flag:
        message = Complaint(
            "a privileged container can always gain privileges", "take allowPrivilegeEscalation: false or privileged: true away"
        )
        yield Problem(escalation, message, reason="Invalid", field=context)
    for capability in context["capabilities"]["add"]:
        if capability.text == "CAP_SYS_ADMIN":
            message = Complaint("CAP_SYS_ADMIN is a way to more privileges", "take it or allowPrivilegeEscalation: false away")
            yield Problem(capability, message, reason="Invalid", field=context)


@validator("core/v1 PodSpec", rule=host_namespace, fields="shareProcessNamespace")
def processes_are_shared_once(pod: Pod) -> Iterator[Problem]:
    """Processes are shared among the containers or with the node."""
    shared = pod["shareProcessNamespace"]
    if shared.flag and pod["hostPID"].flag:
        message = "with hostPID the containers share the node's processes already"
        yield Problem(
            shared,
            message,
            help="take shareProcessNamespace or hostPID away",
            reason="Invalid",
            field=pod["securityContext"].imaginary("shareProcessNamespace"),
        )


@validator("core/v1 PodSpec", rule=host_namespace, fields="hostUsers")
def own_users_need_own_namespaces(pod: Pod) -> Iterator[Problem]:
    """Users of the pod's own go with none of the node's other namespaces, nor with its block devices."""
    if pod["hostUsers"].flag is not False or pod.resource.is_before(33):
        return
    # The server writes two of the fields with a capital letter.
    for name, field in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if pod[name].flag:
            message = Complaint("with hostUsers: false a pod has namespaces of its own", f"take {name} away")
            yield Problem(pod[name], message, reason="Forbidden", field=pod.node.imaginary(field))
    for container in containers(pod.node):
        devices = container["volumeDevices"]
        if len(devices):
            message = Complaint("with hostUsers: false a pod has no block devices", "use volumeMounts")
            yield Problem(devices, message, reason="Forbidden", at="key")


_SYSCTL = pattern("(?:[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?")
_MOST_NAME = 253
_SWAPPED = str.maketrans("./", "/.")
# What of the kernel is the namespace's own, by the field that shares the namespace with the node.
_NAMESPACES = {"hostIPC": ("kernel.shm", "kernel.msg", "fs.mqueue."), "hostNetwork": ("net.",)}


@validator("core/v1 PodSpec", rule=sysctl_name, fields="securityContext")
def sysctls_can_be_set(pod: Pod) -> Iterator[Problem]:
    """Names of parameters, each once, and none of a namespace that is the node's."""
    seen: set[str] = set()
    for parameter in pod["securityContext"]["sysctls"]:
        name = parameter["name"]
        if not name.text:
            yield require(name, Complaint("a sysctl has no name", "give it one, such as net.ipv4.tcp_syncookies"))
        elif not _SYSCTL.fullmatch(name.text) or len(name.text) > _MOST_NAME:
            yield Problem(name, f"{name.text} is no name of a sysctl", help="write one such as net.ipv4.tcp_syncookies", reason="Invalid")
        elif name.text in seen:
            yield Problem(name, f"{name.text} is set already", help="keep one of the two", reason="Duplicate")
        seen.add(name.text)
        shared = _shared_by(name.text, pod)
        if shared:
            yield Problem(name, f"{name.text} is the node's own with {shared}", help="take one of the two away", reason="Invalid")


def _shared_by(name: str, pod: Pod) -> str:
    """The setting of the pod that makes a parameter the node's, "" where none does."""
    # Names are also written with slashes, and then dots stand inside the parts: net/ipv4/conf/eth0.1/forwarding.
    separator = re.search("[./]", name)
    dotted = name.translate(_SWAPPED) if separator and separator[0] == "/" else name
    for field, prefixes in _NAMESPACES.items():
        if pod[field].flag and (dotted.startswith(prefixes) or (field == "hostIPC" and dotted == "kernel.sem")):
            return f"{field}: true"
    return ""

"""The operating system of a pod: what Windows pods and Linux pods cannot have, and the Windows options.

Source: validateOS, validateLinux, validateWindows, validateWindowsSecurityContextOptions and validateWindowsHostProcessPod
(pkg/apis/core/validation/validation.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Pod, Problem, declare, fields, names, pattern, validator
from kcheck_spec.objects.common_constraints import not_supported, require, text
from kcheck_spec.objects.shape import unsupported_value
from kcheck_spec.workloads.containers import containers

windows_options = declare("invalid-windows-options", "Invalid windowsOptions (runAsUserName, hostProcess, gmsaCredentialSpec)")
operating_system = declare("unsupported-os-field", "Pod sets a field that its operating system (spec.os) does not support")

_SYSTEMS = ("linux", "windows")
_MOST_SPEC = 64 * 1024
_LONG_DOMAIN = 256
_MOST_USER = 104

_NET_BIOS = pattern(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DNS_PART = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DNS = pattern(rf"{_DNS_PART}(?:\.{_DNS_PART})*")
_CONTROL = pattern("[\x00-\x1f\x7f]")
_NOT_IN_USERS = pattern(r'["/\\:;|=,+*?<>@\[\]]')


def _spec_content(content: str) -> str:
    if not content:
        return Complaint("an empty credential spec says nothing", "give its content, or leave it out")
    if len(content.encode()) > _MOST_SPEC:
        return Complaint(f"a credential spec has at most {_MOST_SPEC:,} bytes, this has {len(content.encode()):,}", "shorten it")
    return ""


def _user(name: str) -> str:
    """Empty for [DOMAIN\\]USER as Windows takes it, else what is wrong."""
    if not name:
        return Complaint("an empty user name names nobody", "write one such as ContainerUser, or leave it out")
    found = _CONTROL.search(name)
    if found:
        return Complaint(f"{found[0]!r} cannot stand in a user name", "take it out")
    domain, slash, user = name.rpartition("\\")
    if "\\" in domain:
        return Complaint(f"{name} has more than one backslash", "write DOMAIN\\USER")
    if slash and len(domain.encode()) >= _LONG_DOMAIN:
        return Complaint(f"a domain has less than {_LONG_DOMAIN} characters, this has {len(domain)}", "shorten it")
    if slash and not _NET_BIOS.fullmatch(domain) and not _DNS.fullmatch(domain):
        return Complaint(f"{domain or 'nothing'} is no domain of Windows", "write a NetBIOS name or a DNS name before the backslash")
    if not user:
        return Complaint(f"{name} names a domain and no user", f"write {name}USER")
    if len(user.encode()) > _MOST_USER:
        return Complaint(f"a user name has at most {_MOST_USER} characters, this has {len(user)}", "shorten it")
    if not user.strip(". "):
        return Complaint(f"{user!r} has dots or blanks alone", "write a name such as ContainerUser")
    found = _NOT_IN_USERS.search(user)
    return Complaint(f"{found[0]} cannot stand in a user name", "take it out") if found else ""


tables = [
    fields(
        "core/v1 WindowsSecurityContextOptions",
        gmsaCredentialSpecName=text(names.dns_subdomain, windows_options, empty=False),
        gmsaCredentialSpec=text(_spec_content, windows_options, empty=False),
        runAsUserName=text(_user, windows_options, empty=False),
    ),
    fields("core/v1 PodOS", name=()),
]


@validator("core/v1 PodSpec", rule=windows_options)
def host_processes_stand_together(pod: Pod) -> Iterator[Problem]:
    """Host processes are all of a pod's containers or none, and on the network of the node."""
    option = ("securityContext", "windowsOptions", "hostProcess")
    whole = pod.node.at(*option)
    flags: list[bool] = []
    for container in containers(pod.node):
        own = container.at(*option)
        if whole and own and whole.flag is not own.flag:
            message = Complaint(f"hostProcess of the pod is {str(whole.flag).lower()}", "write the same here or leave it out")
            yield Problem(own, message, reason="Invalid")
        flags.append(own.flag is True if own else whole.flag is True)
    if not any(flags):
        return
    if not all(flags):
        message = Complaint("some containers are host processes and some are not", "set hostProcess for the whole pod, or for none")
        yield Problem(whole if whole else pod.node, message, reason="Invalid", at="key", field=pod.node)
    if pod["hostNetwork"].flag is not True:
        message = Complaint("host processes are on the network of the node", "set hostNetwork: true")
        yield Problem(pod["hostNetwork"], message, reason="Invalid")


@validator("core/v1 PodSpec", rule=unsupported_value, fields="os")
def operating_system_is_known(pod: Pod) -> Iterator[Problem]:
    """Linux or Windows."""
    system = pod["os"]
    if not system:
        return
    name = system["name"]
    if not name.text:
        yield require(name, Complaint("os has no name", "write linux or windows"))
    elif name.text not in _SYSTEMS:
        yield not_supported(name, _SYSTEMS).replace(reason="NotSupported", field=system)


_NOT_ON_WINDOWS = (
    "securityContext.appArmorProfile", "securityContext.seLinuxOptions", "hostUsers", "securityContext.seccompProfile",
    "securityContext.fsGroup", "securityContext.fsGroupChangePolicy", "shareProcessNamespace", "securityContext.runAsUser",
    "securityContext.runAsGroup", "securityContext.supplementalGroups", "securityContext.supplementalGroupsPolicy",
    "securityContext.seLinuxChangePolicy",
)  # fmt: skip
# Absent, false and empty are the same here.
_NOT_SET_ON_WINDOWS = ("hostPID", "hostIPC", "securityContext.sysctls")
_NOT_IN_WINDOWS_CONTAINERS = (
    "appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged",
    "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup",
)  # fmt: skip


@validator("core/v1 PodSpec", rule=operating_system, fields="os")
def settings_fit_the_system(pod: Pod) -> Iterator[Problem]:
    """A pod that says what it runs on has nothing of the other system."""
    system = pod["os"]["name"].text
    if system == "linux":
        for context in _contexts(pod):
            yield from _foreign(context["windowsOptions"], system)
    elif system == "windows":
        for path in _NOT_ON_WINDOWS:
            yield from _foreign(pod.node.at(*path.split(".")), system)
        for path in _NOT_SET_ON_WINDOWS:
            node = pod.node.at(*path.split("."))
            if node.flag or len(node):
                yield from _foreign(node, system)
        for container in containers(pod.node):
            for name in _NOT_IN_WINDOWS_CONTAINERS:
                yield from _foreign(container["securityContext"][name], system)


def _contexts(pod: Pod) -> Iterator[Node]:
    yield pod["securityContext"]
    for container in containers(pod.node):
        yield container["securityContext"]


def _foreign(setting: Node, system: str) -> Iterator[Problem]:
    if setting:
        yield Problem(setting, f"a pod with os {system} has no {setting.name}", help="take it away", reason="Forbidden", at="key")

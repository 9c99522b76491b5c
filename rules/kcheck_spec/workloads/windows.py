"""The operating system of a Pod: fields that Windows or Linux does not support, and windowsOptions.

Source: validateOS, validateLinux, validateWindows, validateWindowsSecurityContextOptions and validateWindowsHostProcessPod
(pkg/apis/core/validation/validation.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Pod, Problem, declare, fields, names, pattern, remove, validator
from kcheck_spec.objects.common_constraints import not_supported, require, text
from kcheck_spec.objects.engine import unsupported_value
from kcheck_spec.workloads.containers import containers, title

windows_options = declare(
    "invalid-windows-options", "Invalid windowsOptions (runAsUserName, hostProcess, gmsaCredentialSpec)", fixable=True
)
operating_system = declare("unsupported-os-field", "Pod sets a field that its operating system (spec.os) does not support", fixable=True)

_SYSTEMS = ("linux", "windows")
_MAX_SPEC_BYTES = 64 * 1024
_MAX_DOMAIN_BYTES = 255
_MAX_USER_BYTES = 104

_NET_BIOS = pattern(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DNS_PART = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DNS = pattern(rf"{_DNS_PART}(?:\.{_DNS_PART})*")
_CONTROL = pattern("[\x00-\x1f\x7f]")
_NOT_IN_USERS = pattern(r'["/\\:;|=,+*?<>@\[\]]')


def _spec_content(content: str) -> str:
    if not content:
        return Complaint("gmsaCredentialSpec is empty", "add the credential spec, or remove gmsaCredentialSpec")
    size = len(content.encode())
    return Complaint(f"gmsaCredentialSpec is {size:,} bytes long, but the maximum is {_MAX_SPEC_BYTES:,}") if size > _MAX_SPEC_BYTES else ""


def _user(name: str) -> str:
    """Empty for a valid [DOMAIN\\]USER of Windows, else what is wrong."""
    if not name:
        return Complaint("runAsUserName is empty", "use a user name such as ContainerUser, or remove runAsUserName")
    found = _CONTROL.search(name)
    if found:
        return Complaint(f"runAsUserName contains the control character {found[0]!r}", "remove the character")
    domain, slash, user = name.rpartition("\\")
    if "\\" in domain:
        return Complaint(f'runAsUserName "{name}" has more than one backslash', "use DOMAIN\\USER")
    size = len(domain.encode())
    if slash and size > _MAX_DOMAIN_BYTES:
        return Complaint(f"domain of runAsUserName is {size} bytes long, but the maximum is {_MAX_DOMAIN_BYTES}")
    if slash and not _NET_BIOS.fullmatch(domain) and not _DNS.fullmatch(domain):
        return Complaint(f'"{domain}" is not a valid Windows domain', "use a NetBIOS name or a DNS name before the backslash")
    if not user:
        return Complaint(f'runAsUserName "{name}" has no user name', "add the user name after the backslash")
    size = len(user.encode())
    if size > _MAX_USER_BYTES:
        return Complaint(f"user name of runAsUserName is {size} bytes long, but the maximum is {_MAX_USER_BYTES}")
    if not user.strip(". "):
        return Complaint(f'user name "{user}" consists of dots and spaces only', "use a name such as ContainerUser")
    found = _NOT_IN_USERS.search(user)
    return Complaint(f'character "{found[0]}" is not allowed in runAsUserName', "remove the character") if found else ""


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
def host_processes_are_consistent(pod: Pod) -> Iterator[Problem]:
    """Either all containers of a Pod are host processes or none is, and host processes require hostNetwork."""
    option = ("securityContext", "windowsOptions", "hostProcess")
    whole = pod.node.at(*option)
    flags: list[bool] = []
    for container in containers(pod.node):
        own = container.at(*option)
        if whole and own and whole.boolean is not own.boolean:
            shown, expected = str(own.boolean).lower(), str(whole.boolean).lower()
            message = f"hostProcess: {shown} of {title(container)} differs from hostProcess: {expected} of the Pod"
            yield Problem(own, message, help="remove hostProcess from the container", reason="Invalid")
        flags.append(own.boolean is True if own else whole.boolean is True)
    if not any(flags):
        return
    if not all(flags):
        message = Complaint("hostProcess is true for some containers only", "set hostProcess: true for all containers, or for none")
        yield Problem(whole if whole else pod.node, message, reason="Invalid", at="key", field=pod.node)
    if pod["hostNetwork"].boolean is not True:
        yield Problem(pod["hostNetwork"], "hostProcess: true requires hostNetwork: true", help="set hostNetwork: true", reason="Invalid")


@validator("core/v1 PodSpec", rule=unsupported_value, fields="os")
def operating_system_is_known(pod: Pod) -> Iterator[Problem]:
    """os.name is linux or windows."""
    system = pod["os"]
    if not system:
        return
    name = system["name"]
    if not name.text:
        yield require(name, Complaint("os.name is missing", "add name: linux or name: windows"))
    elif name.text not in _SYSTEMS:
        yield not_supported(name, _SYSTEMS).replace(reason="NotSupported", field=system)


_NOT_ON_WINDOWS = (
    "securityContext.appArmorProfile", "securityContext.seLinuxOptions", "hostUsers", "securityContext.seccompProfile",
    "securityContext.fsGroup", "securityContext.fsGroupChangePolicy", "shareProcessNamespace", "securityContext.runAsUser",
    "securityContext.runAsGroup", "securityContext.supplementalGroups", "securityContext.supplementalGroupsPolicy",
    "securityContext.seLinuxChangePolicy",
)  # fmt: skip
# False and empty values of these fields are allowed.
_NOT_SET_ON_WINDOWS = ("hostPID", "hostIPC", "securityContext.sysctls")
_NOT_IN_WINDOWS_CONTAINERS = (
    "appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged",
    "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup",
)  # fmt: skip


@validator("core/v1 PodSpec", rule=operating_system, fields="os")
def settings_fit_the_system(pod: Pod) -> Iterator[Problem]:
    """Fields that the operating system in os.name does not support."""
    system = pod["os"]["name"].text
    if system == "linux":
        for context in _contexts(pod):
            yield from _foreign(context["windowsOptions"], system)
    elif system == "windows":
        for path in _NOT_ON_WINDOWS:
            yield from _foreign(pod.node.at(*path.split(".")), system)
        for path in _NOT_SET_ON_WINDOWS:
            node = pod.node.at(*path.split("."))
            if node.boolean or len(node):
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
        message = f"{setting.name} is not supported with os.name: {system}"
        yield Problem(setting, message, help=remove(setting.name), reason="Forbidden", at="key")

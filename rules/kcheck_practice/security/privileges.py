"""Privileges and capabilities of containers. Sources: the documentation's pages "Pod Security Standards" and
"Configure a Security Context for a Pod or Container"; capabilities(7).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import ERROR, INFO, Container, Correction, Node, Problem, remove, rule
from kcheck_practice._support.node_programs import purpose_of_privileges
from kcheck_practice._support.security_contexts import is_on_windows, is_whole, named

_BASELINE = ("security", "pod-security-baseline", "pod-security-restricted")
_RESTRICTED = ("security", "pod-security-restricted")
# Capabilities that the baseline standard allows; all but one of them are in the default set of the runtimes.
_BASELINE_CAPABILITIES = frozenset(
    {"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP",
     "SETUID", "SYS_CHROOT"}
)  # fmt: skip
_BIND = "NET_BIND_SERVICE"
# What of capabilities.drop removes NET_RAW.
_NET_RAW = frozenset({"ALL", "NET_RAW"})
_NO_ESCALATION = "allowPrivilegeEscalation: false"
# Capabilities that give control of the node, and what each one allows.
_NODE_CAPABILITIES = {
    "ALL": "grants all privileges of root",
    "SYS_ADMIN": "allows mounting filesystems and entering namespaces, which is equivalent to root on the node",
    "SYS_MODULE": "allows loading modules into the kernel of the node",
    "SYS_PTRACE": "allows reading and changing the memory of other processes",
    "SYS_RAWIO": "allows reading and writing the memory and disks of the node",
    "SYS_BOOT": "allows restarting the node",
    "DAC_READ_SEARCH": "allows reading every file of the node by its handle",
    "BPF": "allows loading BPF programs into the kernel of the node",
    "MAC_ADMIN": "allows changing the Linux security modules of the node",
    "MAC_OVERRIDE": "allows bypassing the Linux security modules of the node",
}


@rule("privileged-container", "Container is privileged (securityContext.privileged)", severity=ERROR, groups=(*_BASELINE, "privileges"))
def privileged_container(container: Container) -> Iterator[Problem]:
    """securityContext.privileged: true of any container, including init and ephemeral containers, except those of privileged-driver."""
    node = container.node.at("securityContext", "privileged")
    if node.boolean and not purpose_of_privileges(container):
        message = f'privileged: true gives container "{container.name}" root access to the node'
        yield Problem(node, message, help="remove privileged and add only the capabilities that the container needs")


@rule(
    "privileged-driver",
    "Container is privileged because a driver, an installer or a kernel setting requires it",
    groups=(*_BASELINE, "privileges"),
    default=False,
    severity=INFO,
)
def privileged_driver(container: Container) -> Iterator[Problem]:
    """Containers of a Pod with Bidirectional mount propagation, which the API server accepts only in privileged containers, those of
    drivers and installers, by their names, and those that change settings of the kernel with sysctl.
    """
    node = container.node.at("securityContext", "privileged")
    purpose = purpose_of_privileges(container) if node.boolean else ""
    if purpose:
        message = f'privileged: true gives container "{container.name}" root access to the node, which {purpose} requires'
        yield Problem(node, message, help="restrict who can create Pods in this namespace")


@rule(
    "privilege-escalation",
    "Container sets allowPrivilegeEscalation: true",
    groups=(*_RESTRICTED, "privileges"),
    default=False,
    fixable=True,
)
def privilege_escalation(container: Container) -> Iterator[Problem]:
    """Explicit values only; a missing value, which means the same, is reported by privilege-escalation-unset."""
    node = container.node.at("securityContext", "allowPrivilegeEscalation")
    if node.boolean and not is_on_windows(container.pod):
        fix = None
        if not _needs_escalation(container):
            fix = Correction.set(node, False, safe=False)
        message = f'allowPrivilegeEscalation: true lets processes of container "{container.name}" become root'
        yield Problem(node, message, help=_without_conflict(container, f"set {_NO_ESCALATION}"), fix=fix)


@rule(
    "privilege-escalation-unset",
    "Container does not set allowPrivilegeEscalation: false",
    groups=(*_RESTRICTED, "privileges"),
    default=False,
    fixable=True,
)
def privilege_escalation_unset(container: Container) -> Iterator[Problem]:
    """A missing value means true to the kubelet."""
    node = container.node.at("securityContext", "allowPrivilegeEscalation")
    if node or is_on_windows(container.pod) or not is_whole(container):
        return
    message = f'container "{container.name}" does not set allowPrivilegeEscalation, which defaults to true'
    advice = _without_conflict(container, f"add {_NO_ESCALATION} to its securityContext")
    yield Problem(named(container), message, help=advice, field=node, fix=_forbid_escalation(container))


@rule(
    "dangerous-capability",
    "Container adds a dangerous capability such as SYS_ADMIN or ALL",
    groups=(*_BASELINE, "capabilities"),
)
def dangerous_capability(container: Container) -> Iterator[Problem]:
    """Capabilities that give control of the node: SYS_ADMIN, SYS_MODULE and others. A privileged container has all of them anyway."""
    if container.node.at("securityContext", "privileged").boolean:
        return
    for node in _added(container):
        power = _NODE_CAPABILITIES.get(node.text.removeprefix("CAP_"))
        if power is not None:
            advice = f'remove it and add only the capabilities that container "{container.name}" needs'
            yield Problem(node, f'capability "{node.text}" {power}', help=advice)


@rule(
    "added-capability",
    "Container adds a capability that the baseline Pod Security Standard forbids",
    groups=(*_BASELINE, "capabilities"),
    default=False,
    fixable=True,
)
def added_capability(container: Container) -> Iterator[Problem]:
    """Capabilities that the baseline standard forbids, except those that dangerous-capability reports."""
    for node in _added(container):
        if node.text and node.text not in _BASELINE_CAPABILITIES and node.text.removeprefix("CAP_") not in _NODE_CAPABILITIES:
            message = f'capability "{node.text}" of container "{container.name}" is forbidden by the Pod Security Standards (baseline)'
            yield Problem(node, message, help=remove(safe=False))


@rule(
    "restricted-capability",
    "Container adds a capability that the restricted Pod Security Standard forbids",
    groups=("pod-security-restricted", "capabilities"),
    default=False,
    severity=INFO,
    fixable=True,
)
def restricted_capability(
    container: Container,
    *,
    allow: Annotated[tuple[str, ...], "capabilities that containers may add"] = (_BIND,),
) -> Iterator[Problem]:
    """Capabilities that the baseline standard allows and the restricted one forbids; NET_BIND_SERVICE as well where `allow` lacks it."""
    if is_on_windows(container.pod):
        return
    for node in _added(container):
        if node.text in _BASELINE_CAPABILITIES and node.text not in allow:
            reason = 'is not listed in option "allow"' if node.text == _BIND else "is forbidden by the restricted Pod Security Standard"
            yield Problem(node, f'capability "{node.text}" of container "{container.name}" {reason}', help=remove(safe=False))


@rule(
    "undropped-capabilities", "Container does not drop ALL capabilities", groups=(*_RESTRICTED, "capabilities"), default=False, fixable=True
)
def kept_capabilities(container: Container) -> Iterator[Problem]:
    """The restricted standard requires ALL in capital letters for every container, including init and ephemeral containers."""
    dropped = container.node.at("securityContext", "capabilities", "drop")
    if is_on_windows(container.pod) or any(node.text == "ALL" for node in dropped) or not is_whole(container):
        return
    if len(dropped):
        shown = ", ".join(node.text for node in dropped)
        message = f'container "{container.name}" drops only {shown}, not all capabilities'
        yield Problem(
            dropped,
            message,
            help="set drop: [ALL] and list the capabilities that it needs under add",
            at="key",
            fix=Correction.set(dropped, ["ALL"], safe=False),
        )
    else:
        message = f'container "{container.name}" does not drop any capabilities'
        some = container.node.at("securityContext", "capabilities")
        advice = "set drop: [ALL] in its securityContext.capabilities" if some else "add capabilities: {drop: [ALL]} to its securityContext"
        yield Problem(named(container), message, help=advice, field=dropped, fix=Correction.set(dropped, ["ALL"], safe=False))


@rule("undropped-net-raw", "Container does not drop the NET_RAW capability", groups=("capabilities",), default=False, fixable=True)
def kept_net_raw(container: Container) -> Iterator[Problem]:
    """NET_RAW is in the default set of most runtimes. Shares no group with undropped-capabilities, which requires more."""
    dropped = container.node.at("securityContext", "capabilities", "drop")
    gone = {node.text.upper().removeprefix("CAP_") for node in dropped}
    if is_on_windows(container.pod) or not is_whole(container):
        return
    added = next((node for node in _added(container) if node.text.upper().removeprefix("CAP_") == "NET_RAW"), None)
    if added is not None:
        message = f'capability "{added.text}" lets container "{container.name}" forge network packets'
        yield Problem(added, message, help="move it to capabilities.drop" if gone.isdisjoint(_NET_RAW) else "remove it")
        return
    if not gone.isdisjoint(_NET_RAW):
        return
    message = f'container "{container.name}" does not drop capability NET_RAW and can forge network packets'
    yield Problem(
        dropped if len(dropped) else named(container),
        message,
        help="add ALL or NET_RAW to capabilities.drop",
        at="key" if len(dropped) else "value",
        field=dropped,
        fix=Correction.append(dropped, "NET_RAW", safe=False) if len(dropped) else Correction.set(dropped, ["NET_RAW"], safe=False),
    )


@rule(
    "writable-root-filesystem",
    "Container has a writable root filesystem (no readOnlyRootFilesystem: true)",
    groups=("security",),
    default=False,
    fixable=True,
)
def writable_root_filesystem(container: Container) -> Iterator[Problem]:
    """Containers without readOnlyRootFilesystem: true, including init containers. Writable paths belong on a volume such as an emptyDir."""
    node = container.node.at("securityContext", "readOnlyRootFilesystem")
    if node.boolean or is_on_windows(container.pod) or not is_whole(container):
        return
    advice = f"{'set' if node else 'add'} readOnlyRootFilesystem: true and mount a volume for each path that is written to"
    yield Problem(
        node if node else named(container),
        f'container "{container.name}" has a writable root filesystem',
        help=advice,
        field=node,
        fix=Correction.set(node, True, safe=False),
    )


def _forbid_escalation(container: Container) -> Correction | None:
    """The change that adds the setting; None if the API server would reject it."""
    setting = container.node.at("securityContext", "allowPrivilegeEscalation")
    return None if _needs_escalation(container) or setting.exists else Correction.set(setting, False, safe=False)


def _needs_escalation(container: Container) -> bool:
    """Whether the container is privileged or adds SYS_ADMIN, so that no fix is offered."""
    privileged = container.node.at("securityContext", "privileged").boolean
    return bool(privileged) or any(node.text in ("SYS_ADMIN", "CAP_SYS_ADMIN") for node in _added(container))


def _without_conflict(container: Container, advice: str) -> str:
    """The advice, preceded by what the API server does not accept together with allowPrivilegeEscalation: false.

    Source: ValidateSecurityContext (pkg/apis/core/validation).
    """
    conflicts = ["privileged"] if container.node.at("securityContext", "privileged").boolean else []
    conflicts += ["CAP_SYS_ADMIN"] if any(node.text == "CAP_SYS_ADMIN" for node in _added(container)) else []
    return f"remove {' and '.join(conflicts)}, then {advice}" if conflicts else advice


def _added(container: Container) -> Iterator[Node]:
    yield from container.node.at("securityContext", "capabilities", "add")

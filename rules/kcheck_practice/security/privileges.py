"""What a container may do beyond what containers may. Sources: the documentation's pages "Pod Security Standards" and
"Configure a Security Context for a Pod or Container"; capabilities(7).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Complaint, Container, Edit, Fix, Node, Problem, rule
from kcheck_practice._support.security_contexts import is_on_windows, is_whole, named
from kcheck_practice._support.yaml_edits import new_entry

_BASELINE = ("security", "pod-security-baseline", "pod-security-restricted")
_RESTRICTED = ("security", "pod-security-restricted")
# What the baseline lets containers add; all but one of these are in the runtimes' default set anyway.
_HARMLESS = frozenset(
    {"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP",
     "SETUID", "SYS_CHROOT"}
)  # fmt: skip
_BIND = "NET_BIND_SERVICE"
# Each of these is as good as the node: mounting, loading code into the kernel, reading the memory of others, raw devices, or all.
_ROOT_OF_NODE = {
    "ALL": "is all of root's power",
    "SYS_ADMIN": "lets it mount and enter namespaces, which is as good as root on the node",
    "SYS_MODULE": "lets it load code into the node's kernel",
    "SYS_PTRACE": "lets it read and change other processes",
    "SYS_RAWIO": "lets it read and write the node's memory and disks",
    "SYS_BOOT": "lets it restart the node",
    "DAC_READ_SEARCH": "lets it read every file of the node by its handle",
    "BPF": "lets it load programs into the node's kernel",
    "MAC_ADMIN": "lets it change the node's security modules",
    "MAC_OVERRIDE": "lets it pass the node's security modules by",
}


@rule("privileged-container", "Container is privileged (securityContext.privileged)", groups=(*_BASELINE, "privileges"), default=False)
def privileged_container(container: Container) -> Iterator[Problem]:
    """Asked of init and ephemeral containers as well."""
    node = container.node.at("securityContext", "privileged")
    if node.flag:
        yield Problem(
            node, f"container {container.name} can do all that root on its node can", help="take privileged away, add capabilities"
        )


@rule(
    "privilege-escalation",
    "Container sets allowPrivilegeEscalation: true",
    groups=(*_RESTRICTED, "privileges"),
    default=False,
    fixable=True,
)
def privilege_escalation(container: Container) -> Iterator[Problem]:
    """Where it says so itself; privilege-escalation-unset tells where it says nothing, which means the same."""
    node = container.node.at("securityContext", "allowPrivilegeEscalation")
    if node.flag and not is_on_windows(container.pod):
        fix = None
        if not _needs_escalation(container):
            fix = Fix("write false", (Edit(node.start, node.end, "false"),), safe=False)
        yield Problem(
            node, f"processes of container {container.name} can become root through set-user-ID programs", help="write false", fix=fix
        )


@rule(
    "privilege-escalation-unset",
    "Container does not set allowPrivilegeEscalation: false",
    groups=(*_RESTRICTED, "privileges"),
    default=False,
    fixable=True,
)
def privilege_escalation_unset(container: Container) -> Iterator[Problem]:
    """Absent means true to the kubelet."""
    node = container.node.at("securityContext", "allowPrivilegeEscalation")
    if node or is_on_windows(container.pod) or not is_whole(container):
        return
    message = f"processes of container {container.name} may gain privileges"
    yield Problem(
        named(container),
        message,
        help="add allowPrivilegeEscalation: false to its securityContext",
        field=node,
        fix=_forbid_escalation(container),
    )


@rule(
    "dangerous-capability",
    "Container adds a dangerous capability such as SYS_ADMIN or ALL",
    groups=(*_BASELINE, "capabilities"),
    default=False,
)
def dangerous_capability(container: Container) -> Iterator[Problem]:
    """SYS_ADMIN, SYS_MODULE and their like."""
    for node in _added(container):
        power = _ROOT_OF_NODE.get(node.text.removeprefix("CAP_"))
        if power is not None:
            yield Problem(node, f"{node.text} {power}", help=f"add only the capability that container {container.name} needs")


@rule(
    "added-capability",
    "Container adds a capability that the baseline Pod Security Standard forbids",
    groups=(*_BASELINE, "capabilities"),
    default=False,
)
def added_capability(container: Container) -> Iterator[Problem]:
    """What the baseline of the Pod Security Standards forbids, save what dangerous-capability tells."""
    for node in _added(container):
        if node.text and node.text not in _HARMLESS and node.text.removeprefix("CAP_") not in _ROOT_OF_NODE:
            yield Problem(
                node, f"container {container.name} adds {node.text}, which the Pod Security Standards forbid", help="take it away"
            )


@rule(
    "restricted-capability",
    "Container adds a capability that the restricted Pod Security Standard forbids",
    groups=("pod-security-restricted", "capabilities"),
    default=False,
    severity=INFO,
)
def restricted_capability(
    container: Container,
    *,
    allow: Annotated[tuple[str, ...], "capabilities that may be added"] = (_BIND,),
) -> Iterator[Problem]:
    """Those that the baseline allows and the restricted standard does not; with an empty `allow`, any of them."""
    if is_on_windows(container.pod):
        return
    for node in _added(container):
        if node.text in _HARMLESS and node.text not in allow:
            kept = " and ".join(allow) or "none"
            yield Problem(node, f"container {container.name} adds {node.text}: of all capabilities keep {kept}")


@rule("undropped-capabilities", "Container does not drop ALL capabilities", groups=(*_RESTRICTED, "capabilities"), default=False)
def kept_capabilities(container: Container) -> Iterator[Problem]:
    """The standard asks for ALL in capitals, and says so of every container, init and ephemeral ones too."""
    dropped = container.node.at("securityContext", "capabilities", "drop")
    if is_on_windows(container.pod) or any(node.text == "ALL" for node in dropped) or not is_whole(container):
        return
    if len(dropped):
        shown = ", ".join(node.text for node in dropped)
        yield Problem(
            dropped, f"container {container.name} drops {shown} and keeps the rest", help="drop ALL, and add what it needs", at="key"
        )
    else:
        message = f"container {container.name} drops no capability"
        yield Problem(named(container), message, help="add capabilities: {drop: [ALL]} to its securityContext", field=dropped)


@rule("undropped-net-raw", "Container does not drop the NET_RAW capability", groups=("capabilities",), default=False)
def kept_net_raw(container: Container) -> Iterator[Problem]:
    """NET_RAW is in the default set of the runtimes. In no group with undropped-capabilities, which asks for more."""
    dropped = container.node.at("securityContext", "capabilities", "drop")
    gone = {node.text.upper().removeprefix("CAP_") for node in dropped}
    if is_on_windows(container.pod) or not is_whole(container):
        return
    added = next((node for node in _added(container) if node.text.upper().removeprefix("CAP_") == "NET_RAW"), None)
    if added is not None:
        yield Problem(added, f"container {container.name} adds NET_RAW and can forge packets", help="take it away")
        return
    if not gone.isdisjoint({"ALL", "NET_RAW"}):
        return
    message = f"container {container.name} keeps NET_RAW and can forge packets"
    yield Problem(
        dropped if len(dropped) else named(container),
        message,
        help="drop it or, better, ALL",
        at="key" if len(dropped) else "value",
        field=dropped,
    )


@rule(
    "writable-root-filesystem",
    "Container has a writable root filesystem (no readOnlyRootFilesystem: true)",
    groups=("security",),
    default=False,
)
def writable_root_filesystem(container: Container) -> Iterator[Problem]:
    """Asked of init containers as well. What must be written goes to a volume, an emptyDir on /tmp for example."""
    node = container.node.at("securityContext", "readOnlyRootFilesystem")
    if node.flag or is_on_windows(container.pod) or not is_whole(container):
        return
    advice = f"{'write' if node else 'add'} readOnlyRootFilesystem: true"
    message = Complaint(f"whoever breaks into container {container.name} can change its programs", advice)
    yield Problem(node if node else named(container), message, field=node)


def _forbid_escalation(container: Container) -> Fix | None:
    """The line that is missing, where it can be added and the server would take it."""
    context, setting = container["securityContext"], "allowPrivilegeEscalation: false"
    if _needs_escalation(container) or "allowPrivilegeEscalation" in context:
        return None
    if context:
        edit = new_entry(context, container.resource, setting)
    elif context.exists:
        return None
    else:
        edit = new_entry(container.node, container.resource, "securityContext:", f"  {setting}")
    return Fix(f"add {setting}", (edit,), safe=False) if edit is not None else None


def _needs_escalation(container: Container) -> bool:
    """Whether the server refuses allowPrivilegeEscalation: false for what else the container may do."""
    privileged = container.node.at("securityContext", "privileged").flag
    return bool(privileged) or any(node.text in ("SYS_ADMIN", "CAP_SYS_ADMIN") for node in _added(container))


def _added(container: Container) -> Iterator[Node]:
    yield from container.node.at("securityContext", "capabilities", "add")

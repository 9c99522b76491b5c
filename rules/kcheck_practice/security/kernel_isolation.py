"""What the kernel keeps containers from: seccomp, AppArmor, SELinux, masks of /proc, sysctls. Source: the documentation's page
"Pod Security Standards", and the pages on each of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import INFO, Container, Node, Pod, Problem, rule
from kcheck_practice._support.security_contexts import (
    contexts,
    has_user_namespace,
    is_in_whole_pod,
    is_on_windows,
    is_whole,
    is_whole_pod,
    named,
)

_BASELINE = ("security", "pod-security-baseline", "pod-security-restricted")
_RESTRICTED = ("security", "pod-security-restricted")
_PROFILES = ("RuntimeDefault", "Localhost")
_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"
_SELINUX_TYPES = ("container_t", "container_init_t", "container_kvm_t", "container_engine_t")
_ENGINE_SINCE = 31
# By the Kubernetes 1.N that began to allow them.
_SYSCTLS = {
    "kernel.shm_rmid_forced": 0, "net.ipv4.ip_local_port_range": 0, "net.ipv4.tcp_syncookies": 0, "net.ipv4.ping_group_range": 0,
    "net.ipv4.ip_unprivileged_port_start": 0, "net.ipv4.ip_local_reserved_ports": 27, "net.ipv4.tcp_keepalive_time": 29,
    "net.ipv4.tcp_fin_timeout": 29, "net.ipv4.tcp_keepalive_intvl": 29, "net.ipv4.tcp_keepalive_probes": 29, "net.ipv4.tcp_rmem": 32,
    "net.ipv4.tcp_wmem": 32, "net.ipv4.tcp_slow_start_after_idle": 37, "net.ipv4.tcp_notsent_lowat": 37,
}  # fmt: skip


@rule("unconfined-seccomp", "Seccomp profile is Unconfined", groups=_BASELINE, default=False)
def unconfined_seccomp(pod: Pod) -> Iterator[Problem]:
    """Asked of the pod and of all its containers, whether or not one overrides the other."""
    for context in contexts(pod):
        node = context["seccompProfile"]["type"]
        if node.text and node.text not in _PROFILES:
            yield Problem(node, f"seccomp {node.text} lets every system call through", help="write RuntimeDefault")


@rule("missing-seccomp", "Container has no seccomp profile (seccompProfile)", groups=_RESTRICTED, default=False)
def missing_seccomp(container: Container) -> Iterator[Problem]:
    """Without one the kubelet runs it unconfined, unless its node was told to take the runtime's default."""
    own, pods = (owner["securityContext"]["seccompProfile"] for owner in (container.node, container.pod.node))
    if not own and not pods and not is_on_windows(container.pod) and is_in_whole_pod(container):
        advice = "add seccompProfile: {type: RuntimeDefault} to the pod's securityContext"
        yield Problem(named(container), f"nothing filters the system calls of container {container.name}", help=advice, field=own)


@rule("unconfined-apparmor", "AppArmor profile is Unconfined", groups=_BASELINE, default=False)
def unconfined_apparmor(pod: Pod) -> Iterator[Problem]:
    """In the field, or in the annotations that came before it."""
    for context in contexts(pod):
        node = context["appArmorProfile"]["type"]
        if node.text and node.text not in _PROFILES:
            yield Problem(node, f"AppArmor {node.text} confines nothing", help="write RuntimeDefault, or Localhost and a profile")
    for key, node in pod.metadata["annotations"].entries:
        if key.startswith(_ANNOTATION) and node.text not in ("", "runtime/default") and not node.text.startswith("localhost/"):
            name = key.removeprefix(_ANNOTATION)
            yield Problem(node, f"AppArmor {node.text} of container {name} confines nothing", help="write runtime/default")


@rule("missing-apparmor", "Container has no AppArmor profile (appArmorProfile)", severity=INFO, groups=("security-context",), default=False)
def missing_apparmor(container: Container) -> Iterator[Problem]:
    """Where a node has AppArmor the runtime's default holds anyway; this asks to say so."""
    pod = container.pod
    own, pods = (owner["securityContext"]["appArmorProfile"] for owner in (container.node, pod.node))
    annotated = f"{_ANNOTATION}{container.name}" in pod.metadata["annotations"]
    if not own and not pods and not annotated and not is_on_windows(pod) and is_in_whole_pod(container):
        message = f"container {container.name} says nothing of AppArmor"
        yield Problem(named(container), message, help="add appArmorProfile: {type: RuntimeDefault}", field=own)


@rule("selinux-options", "Pod or container sets seLinuxOptions that the Pod Security Standards forbid", groups=_BASELINE, default=False)
def selinux_options(pod: Pod) -> Iterator[Problem]:
    """Types other than those of containers, and any user or role."""
    allowed = _SELINUX_TYPES[:-1] if pod.resource.is_before(_ENGINE_SINCE) else _SELINUX_TYPES
    for context in contexts(pod):
        options = context["seLinuxOptions"]
        node = options["type"]
        if node.text and node.text not in allowed:
            yield Problem(node, f"SELinux type {node.text} is none of containers", help=f"write {', '.join(allowed[:-1])} or {allowed[-1]}")
        for name in ("user", "role"):
            if options[name].text:
                yield Problem(options[name], f"SELinux {name} {options[name].text} is not for pods to choose", help="take it away")


@rule("unmasked-proc-mount", "Container has procMount: Unmasked", groups=_BASELINE, default=False)
def unmasked_proc(container: Container) -> Iterator[Problem]:
    """Since 1.35 the baseline lets a pod with a user namespace of its own do so; unmasked-proc-mount-in-user-namespace tells of those."""
    if not has_user_namespace(container.pod):
        yield from _unmasked(container)


@rule(
    "unmasked-proc-mount-in-user-namespace",
    "Container has procMount: Unmasked in a Pod with hostUsers: false",
    severity=INFO,
    groups=("pod-security-restricted",),
    default=False,
)
def unmasked_proc_in_namespace(container: Container) -> Iterator[Problem]:
    """The restricted standard forbids it there, too."""
    if has_user_namespace(container.pod):
        yield from _unmasked(container)


@rule("unsafe-sysctl", "Pod sets an unsafe sysctl", groups=_BASELINE, default=False)
def unsafe_sysctl(pod: Pod) -> Iterator[Problem]:
    """Kubelets refuse these as well, unless their nodes were told to allow them."""
    for sysctl in pod.node.at("securityContext", "sysctls"):
        node = sysctl["name"]
        since = _SYSCTLS.get(node.text)
        if not node.text or (since is not None and not pod.resource.is_before(since)):
            continue
        yield Problem(node, f"sysctl {node.text} can touch other pods of the node, and kubelets refuse it by default", help="take it away")


@rule(
    "missing-linux-hardening",
    "Container has no seccomp, AppArmor or SELinux settings and drops no capability",
    groups=("security-context",),
    default=False,
)
def no_hardening(container: Container) -> Iterator[Problem]:
    """None of seccomp, AppArmor, SELinux and dropped capabilities. In no group with the rules that ask for each of them."""
    pod = container.pod
    if is_on_windows(pod) or not is_in_whole_pod(container):
        return
    for owner in (container.node, pod.node):
        if any(owner["securityContext"][name] for name in ("seccompProfile", "appArmorProfile", "seLinuxOptions")):
            return
    annotated = f"{_ANNOTATION}{container.name}" in pod.metadata["annotations"]
    if not annotated and not len(container.node.at("securityContext", "capabilities", "drop")):
        message = f"nothing confines container {container.name}"
        yield Problem(
            named(container), message, help="add a seccompProfile, and drop its capabilities", field=container.node["securityContext"]
        )


@rule("missing-pod-security-context", "Pod has no securityContext", severity=INFO, groups=("security-context",), default=False)
def missing_pod_security_context(pod: Pod) -> Iterator[Problem]:
    """Whatever its containers say: what is said of the pod holds for those that are added to it, too."""
    if not len(pod["securityContext"]) and is_whole_pod(pod):
        message = "nothing says as whom this pod runs and what it may do"
        yield Problem(pod["securityContext"], message, help="add a securityContext to it", at="key")


@rule("missing-security-context", "Container has no securityContext", severity=INFO, groups=("security-context",), default=False)
def missing_security_context(container: Container) -> Iterator[Problem]:
    """Some settings, such as capabilities, cannot be said of the pod."""
    if not len(container["securityContext"]) and is_whole(container):
        message = f"container {container.name} has no securityContext"
        yield Problem(named(container), message, help="say at least what it gives up", field=container["securityContext"])


def _unmasked(container: Container) -> Iterator[Problem]:
    node: Node = container.node.at("securityContext", "procMount")
    if node.text and node.text != "Default":
        yield Problem(
            node, f"procMount {node.text} shows container {container.name} what the runtime hides of the kernel", help="write Default"
        )

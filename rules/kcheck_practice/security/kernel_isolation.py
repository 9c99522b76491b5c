"""Kernel isolation of containers: seccomp, AppArmor, SELinux, masked paths of /proc, sysctls. Sources: the documentation's page
"Pod Security Standards", and its pages about each of these features.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import INFO, Container, Correction, Node, Pod, Problem, Suggestion, enumeration, remove, rule
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
# Safe sysctls, with the N of the Kubernetes 1.N since which they are allowed.
_SYSCTLS = {
    "kernel.shm_rmid_forced": 0, "net.ipv4.ip_local_port_range": 0, "net.ipv4.tcp_syncookies": 0, "net.ipv4.ping_group_range": 0,
    "net.ipv4.ip_unprivileged_port_start": 0, "net.ipv4.ip_local_reserved_ports": 27, "net.ipv4.tcp_keepalive_time": 29,
    "net.ipv4.tcp_fin_timeout": 29, "net.ipv4.tcp_keepalive_intvl": 29, "net.ipv4.tcp_keepalive_probes": 29, "net.ipv4.tcp_rmem": 32,
    "net.ipv4.tcp_wmem": 32, "net.ipv4.tcp_slow_start_after_idle": 37, "net.ipv4.tcp_notsent_lowat": 37,
}  # fmt: skip


@rule("unconfined-seccomp", "Seccomp profile is Unconfined", groups=_BASELINE, default=False, fixable=True)
def unconfined_seccomp(pod: Pod) -> Iterator[Problem]:
    """Checks the Pod and all its containers, even where a container overrides the Pod."""
    for context in contexts(pod):
        node = context["seccompProfile"]["type"]
        if node.text and node.text not in _PROFILES:
            yield Problem(
                node,
                f'seccompProfile.type "{node.text}" does not filter system calls',
                help=Suggestion("set it to RuntimeDefault", "RuntimeDefault"),
            )


@rule("missing-seccomp", "Container has no seccomp profile (seccompProfile)", groups=_RESTRICTED, default=False, fixable=True)
def missing_seccomp(container: Container) -> Iterator[Problem]:
    """Without a profile the container runs unconfined, unless the kubelet runs with seccompDefault."""
    own, pods = (owner["securityContext"]["seccompProfile"] for owner in (container.node, container.pod.node))
    if not own and not pods and not is_on_windows(container.pod) and is_in_whole_pod(container):
        advice = "add seccompProfile: {type: RuntimeDefault} to the securityContext of the Pod"
        # Annotations of old versions must agree with the field.
        annotated = any(key.startswith("seccomp.security.alpha.kubernetes.io/") for key, _ in container.pod.metadata["annotations"].entries)
        yield Problem(
            named(container),
            f'container "{container.name}" has no seccompProfile',
            help=advice,
            field=own,
            fix=None if annotated else Correction.set(pods, {"type": "RuntimeDefault"}, safe=False),
        )


@rule("unconfined-apparmor", "AppArmor profile is Unconfined", groups=_BASELINE, default=False, fixable=True)
def unconfined_apparmor(pod: Pod) -> Iterator[Problem]:
    """Checks the field appArmorProfile and the older annotations."""
    for context in contexts(pod):
        node = context["appArmorProfile"]["type"]
        if node.text and node.text not in _PROFILES:
            yield Problem(
                node,
                f'appArmorProfile.type "{node.text}" does not confine containers',
                help=Suggestion("set it to RuntimeDefault", "RuntimeDefault"),
            )
    for key, node in pod.metadata["annotations"].entries:
        if key.startswith(_ANNOTATION) and node.text not in ("", "runtime/default") and not node.text.startswith("localhost/"):
            name = key.removeprefix(_ANNOTATION)
            yield Problem(
                node,
                f'AppArmor profile "{node.text}" does not confine container "{name}"',
                help=Suggestion('set it to "runtime/default"', "runtime/default"),
            )


@rule(
    "missing-apparmor",
    "Container has no AppArmor profile (appArmorProfile)",
    severity=INFO,
    groups=("security-context",),
    default=False,
    fixable=True,
)
def missing_apparmor(container: Container) -> Iterator[Problem]:
    """The runtime applies its default profile where the node has AppArmor; an explicit profile makes AppArmor a requirement."""
    pod = container.pod
    own, pods = (owner["securityContext"]["appArmorProfile"] for owner in (container.node, pod.node))
    annotated = f"{_ANNOTATION}{container.name}" in pod.metadata["annotations"]
    if not own and not pods and not annotated and not is_on_windows(pod) and is_in_whole_pod(container):
        message = f'container "{container.name}" has no appArmorProfile'
        yield Problem(
            named(container),
            message,
            help="add appArmorProfile: {type: RuntimeDefault} to its securityContext",
            field=own,
            fix=Correction.set(own, {"type": "RuntimeDefault"}, safe=False),
        )


@rule(
    "selinux-options",
    "Pod or container sets seLinuxOptions that the Pod Security Standards forbid",
    groups=_BASELINE,
    default=False,
    fixable=True,
)
def selinux_options(pod: Pod) -> Iterator[Problem]:
    """Types that the baseline standard does not allow, and any user or role."""
    allowed = _SELINUX_TYPES[:-1] if pod.resource.is_before(_ENGINE_SINCE) else _SELINUX_TYPES
    for context in contexts(pod):
        options = context["seLinuxOptions"]
        node = options["type"]
        if node.text and node.text not in allowed:
            advice = f"use {enumeration(allowed, 'or')}"
            yield Problem(node, f'seLinuxOptions.type "{node.text}" is forbidden by the Pod Security Standards (baseline)', help=advice)
        for name in ("user", "role"):
            if options[name].text:
                message = f'seLinuxOptions.{name} "{options[name].text}" is forbidden by the Pod Security Standards (baseline)'
                yield Problem(options[name], message, help=remove(name, safe=False))


@rule("unmasked-proc-mount", "Container has procMount: Unmasked", groups=_BASELINE, default=False, fixable=True)
def unmasked_proc(container: Container) -> Iterator[Problem]:
    """Since Kubernetes 1.35 the baseline standard allows it with hostUsers: false; see unmasked-proc-mount-in-user-namespace."""
    if not has_user_namespace(container.pod):
        yield from _unmasked(container)


@rule(
    "unmasked-proc-mount-in-user-namespace",
    "Container has procMount: Unmasked in a Pod with hostUsers: false",
    severity=INFO,
    groups=("pod-security-restricted",),
    default=False,
    fixable=True,
)
def unmasked_proc_in_namespace(container: Container) -> Iterator[Problem]:
    """The restricted standard forbids it in Pods with hostUsers: false as well."""
    if has_user_namespace(container.pod):
        yield from _unmasked(container)


@rule("unsafe-sysctl", "Pod sets an unsafe sysctl", groups=_BASELINE, default=False, fixable=True)
def unsafe_sysctl(pod: Pod) -> Iterator[Problem]:
    """Kubelets reject unsafe sysctls unless they run with --allowed-unsafe-sysctls."""
    for sysctl in pod.node.at("securityContext", "sysctls"):
        node = sysctl["name"]
        since = _SYSCTLS.get(node.text)
        if not node.text or (since is not None and not pod.resource.is_before(since)):
            continue
        yield Problem(
            node,
            f'sysctl "{node.text}" is unsafe and rejected by kubelets by default',
            help="remove it",
            fix=Correction.remove(node.parent or node, safe=False),
        )


@rule(
    "missing-linux-hardening",
    "Container has no seccomp, AppArmor or SELinux settings and drops no capability",
    groups=("security-context",),
    default=False,
)
def no_hardening(container: Container) -> Iterator[Problem]:
    """Containers without any of these; it shares no group with the rules that require each of them."""
    pod = container.pod
    if is_on_windows(pod) or not is_in_whole_pod(container):
        return
    for owner in (container.node, pod.node):
        if any(owner["securityContext"][name] for name in ("seccompProfile", "appArmorProfile", "seLinuxOptions")):
            return
    annotated = f"{_ANNOTATION}{container.name}" in pod.metadata["annotations"]
    if not annotated and not len(container.node.at("securityContext", "capabilities", "drop")):
        message = f'container "{container.name}" has no seccomp, AppArmor or SELinux settings and drops no capability'
        advice = "set seccompProfile: {type: RuntimeDefault} and capabilities: {drop: [ALL]} in its securityContext"
        yield Problem(named(container), message, help=advice, field=container.node["securityContext"])


@rule("missing-pod-security-context", "Pod has no securityContext", severity=INFO, groups=("security-context",), default=False)
def missing_pod_security_context(pod: Pod) -> Iterator[Problem]:
    """Regardless of the containers: the securityContext of the Pod also applies to containers that are added later."""
    if not len(pod["securityContext"]) and is_whole_pod(pod):
        message = "Pod spec has no securityContext"
        yield Problem(pod["securityContext"], message, help="add a securityContext, for example with runAsNonRoot: true", at="key")


@rule("missing-security-context", "Container has no securityContext", severity=INFO, groups=("security-context",), default=False)
def missing_security_context(container: Container) -> Iterator[Problem]:
    """Some settings, such as capabilities, exist for containers only."""
    if not len(container["securityContext"]) and is_whole(container):
        message = f'container "{container.name}" has no securityContext'
        advice = "add a securityContext, for example with allowPrivilegeEscalation: false and capabilities: {drop: [ALL]}"
        yield Problem(named(container), message, help=advice, field=container["securityContext"])


def _unmasked(container: Container) -> Iterator[Problem]:
    node: Node = container.node.at("securityContext", "procMount")
    if node.text and node.text != "Default":
        message = f'procMount "{node.text}" exposes masked kernel files in /proc to container "{container.name}"'
        yield Problem(node, message, help=Suggestion("set procMount: Default", "Default"))

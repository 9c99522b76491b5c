"""Violations of the Pod Security Standards, in all versions of the standards: a namespace may enforce an older version.

Source: package policy of k8s.io/pod-security-admission, including the names of the controls; documentation page "Pod Security Standards".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal

from kcheck.kube.pod import Container, Pod
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple
from kcheck.yaml.node import Node

Level = Literal["privileged", "baseline", "restricted"]
LEVELS: tuple[Level, ...] = ("privileged", "baseline", "restricted")
MODES = ("enforce", "warn", "audit")
PREFIX = "pod-security.kubernetes.io/"
LATEST = 1000
"""Minor version greater than all others."""

_VERSION = pattern(r"v1\.(0|[1-9]\d{0,3})", re.ASCII)
_ALLOWED_CAPABILITIES = frozenset(
    {"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP",
     "SETUID", "SYS_CHROOT"}
)  # fmt: skip
_ALLOWED_PROFILES = ("RuntimeDefault", "Localhost")
_SINCE_BY_SELINUX_TYPE = {"container_t": 0, "container_init_t": 0, "container_kvm_t": 0, "container_engine_t": 31}
_SINCE_BY_SYSCTL = {
    "kernel.shm_rmid_forced": 0, "net.ipv4.ip_local_port_range": 0, "net.ipv4.tcp_syncookies": 0, "net.ipv4.ping_group_range": 0,
    "net.ipv4.ip_unprivileged_port_start": 0, "net.ipv4.ip_local_reserved_ports": 27, "net.ipv4.tcp_keepalive_time": 29,
    "net.ipv4.tcp_fin_timeout": 29, "net.ipv4.tcp_keepalive_intvl": 29, "net.ipv4.tcp_keepalive_probes": 29, "net.ipv4.tcp_rmem": 32,
    "net.ipv4.tcp_wmem": 32, "net.ipv4.tcp_slow_start_after_idle": 37, "net.ipv4.tcp_notsent_lowat": 37,
}  # fmt: skip
_SINCE_BY_VOLUME = {
    "configMap": 0, "csi": 0, "downwardAPI": 0, "emptyDir": 0, "ephemeral": 0, "persistentVolumeClaim": 0, "projected": 0, "secret": 0,
    "image": 33,
}  # fmt: skip
_APPARMOR = "container.apparmor.security.beta.kubernetes.io/"
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
# Minor versions since which Windows Pods are exempt, user namespaces are considered, and the host of probes is checked.
_FIRST_WINDOWS, _FIRST_USER_NAMESPACES, _FIRST_PROBE_HOSTS = 25, 35, 34
_FIRST_SECCOMP, _FIRST_DROP, _FIRST_USER = 19, 22, 23


class Violation(NamedTuple):
    """A violation of a control.

    Attributes:
        control: name of the control.
        level: lowest level that includes the control.
        text: the field and value, as messages quote it.
        node: the violating value, None if a required field is missing.
        who: names of the containers without the required field.
        since: minor version since which the control applies.
        until: minor version since which it no longer applies.
    """

    control: str
    level: Level
    text: str
    node: Node | None = None
    who: tuple[str, ...] = ()
    since: int = 0
    until: int = LATEST


def version_of(text: str) -> int | None:
    """Return N of a version label v1.N, LATEST for "latest" or "", None for an invalid version."""
    match = _VERSION.fullmatch(text)
    return LATEST if text in ("", "latest") else int(match[1]) if match else None


def violations(pod: Pod) -> Iterator[Violation]:
    """Yield all violations of a Pod, for all versions."""
    containers = list(pod.containers)
    pod_context = pod["securityContext"]
    contexts = [pod_context, *(c["securityContext"] for c in containers)]
    for name in ("hostNetwork", "hostPID", "hostIPC"):
        if pod[name].boolean:
            yield Violation("hostNamespaces", "baseline", name, pod[name])
    for context in contexts:
        if context.is_map:
            yield from _of_context(context, pod)
    for sysctl in pod_context["sysctls"]:
        node = sysctl["name"]
        since = _SINCE_BY_SYSCTL.get(node.text, LATEST)
        if node.text and since:
            yield Violation("sysctls", "baseline", f"sysctl {node.text}", node, until=since)
    for key, node in pod.metadata["annotations"].entries:
        if key.startswith(_APPARMOR) and node.text not in ("", "runtime/default") and not node.text.startswith("localhost/"):
            yield Violation("appArmorProfile", "baseline", f"AppArmor {node.text}", node)
    for volume in pod["volumes"]:
        yield from _of_volume(volume)
    for container in containers:
        yield from _of_container(container)
    yield from _missing(pod, containers)


def _of_context(context: Node, pod: Pod) -> Iterator[Violation]:
    """Yield the violations of a security context."""
    if context["windowsOptions"]["hostProcess"].boolean:
        yield Violation("windowsHostProcess", "baseline", "hostProcess", context["windowsOptions"]["hostProcess"])
    for name, control in (("appArmorProfile", "appArmorProfile"), ("seccompProfile", "seccompProfile_baseline")):
        node = context[name]["type"]
        if node.text and node.text not in _ALLOWED_PROFILES:
            yield Violation(control, "baseline", f"{name} {node.text}", node, since=_FIRST_SECCOMP if name == "seccompProfile" else 0)
    options = context["seLinuxOptions"]
    if options:
        since = _SINCE_BY_SELINUX_TYPE.get(options["type"].text, LATEST)
        if options["type"].text and since:
            yield Violation("seLinuxOptions", "baseline", f"SELinux type {options['type'].text}", options["type"], until=since)
        for name in ("user", "role"):
            if options[name].text:
                yield Violation("seLinuxOptions", "baseline", f"SELinux {name}", options[name])
    until = _FIRST_USER_NAMESPACES if pod["hostUsers"].boolean is False else LATEST
    if context["runAsUser"].integer == 0:
        yield Violation("runAsUser", "restricted", "runAsUser: 0", context["runAsUser"], since=_FIRST_USER, until=until)
    if context["runAsNonRoot"].boolean is False:
        yield Violation("runAsNonRoot", "restricted", "runAsNonRoot: false", context["runAsNonRoot"], until=until)


def _of_volume(volume: Node) -> Iterator[Violation]:
    kinds = [(key, node) for key, node in volume.entries if key != "name" and node]
    if not kinds:
        return
    source = kinds[0][1]
    if volume["hostPath"]:
        yield Violation("hostPathVolumes", "baseline", "hostPath volume", volume["hostPath"])
    since = min(_SINCE_BY_VOLUME.get(key, LATEST) for key, _ in kinds)
    if since:
        yield Violation("restrictedVolumes", "restricted", f"{source.name} volume", source, until=since)


def _of_container(container: Container) -> Iterator[Violation]:
    """Yield the violations of the fields of a container."""
    context = container["securityContext"]
    if context["privileged"].boolean:
        yield Violation("privileged", "baseline", "privileged", context["privileged"])
    mount = context["procMount"]
    if mount.text not in ("", "Default"):
        own = container.pod["hostUsers"].boolean is False
        yield Violation("procMount", "baseline", f"procMount {mount.text}", mount, until=_FIRST_USER_NAMESPACES if own else LATEST)
        if own:
            yield Violation("procMount", "restricted", f"procMount {mount.text}", mount, since=_FIRST_USER_NAMESPACES)
    until = _FIRST_WINDOWS if _is_on_windows(container.pod) else LATEST
    for node in context["capabilities"]["add"]:
        if node.text and node.text not in _ALLOWED_CAPABILITIES:
            yield Violation("capabilities_baseline", "baseline", f"capability {node.text}", node)
        elif node.text and node.text != "NET_BIND_SERVICE":
            yield Violation("capabilities_restricted", "restricted", f"capability {node.text}", node, since=_FIRST_DROP, until=until)
    if context["allowPrivilegeEscalation"].boolean:
        node = context["allowPrivilegeEscalation"]
        yield Violation("allowPrivilegeEscalation", "restricted", "allowPrivilegeEscalation: true", node, until=until)
    for port in container["ports"]:
        if port["hostPort"].integer:
            yield Violation("hostPorts", "baseline", "hostPort", port["hostPort"])
    for action in (*(container[name] for name in _PROBES), *container["lifecycle"]):
        for handler in (action["httpGet"], action["tcpSocket"]):
            if handler["host"].text:
                yield Violation(
                    "hostProbesAndHostLifecycle", "baseline", "host of a probe or lifecycle hook", handler["host"], since=_FIRST_PROBE_HOSTS
                )


def _missing(pod: Pod, containers: list[Container]) -> Iterator[Violation]:
    """Yield the fields that the restricted level requires and that containers do not set."""
    pod_context = pod["securityContext"]
    windows_since = _FIRST_WINDOWS if _is_on_windows(pod) else LATEST

    def without(lacks: Callable[[Node], bool]) -> tuple[str, ...]:
        return tuple(c.name for c in containers if lacks(c["securityContext"]))

    if who := without(lambda c: not c["allowPrivilegeEscalation"]):
        yield Violation("allowPrivilegeEscalation", "restricted", "allowPrivilegeEscalation: false", None, who, until=windows_since)
    if who := without(lambda c: all(node.text != "ALL" for node in c["capabilities"]["drop"])):
        yield Violation("capabilities_restricted", "restricted", "capabilities: {drop: [ALL]}", None, who, _FIRST_DROP, windows_since)
    if pod_context["runAsNonRoot"].boolean is None and (who := without(lambda c: not c["runAsNonRoot"])):
        until = _FIRST_USER_NAMESPACES if pod["hostUsers"].boolean is False else LATEST
        yield Violation("runAsNonRoot", "restricted", "runAsNonRoot: true", None, who, until=until)
    if not pod_context["seccompProfile"] and (who := without(lambda c: not c["seccompProfile"])):
        yield Violation(
            "seccompProfile_restricted", "restricted", "seccompProfile: {type: RuntimeDefault}", None, who, _FIRST_SECCOMP, windows_since
        )


def _is_on_windows(pod: Pod) -> bool:
    return pod["os"]["name"].text == "windows"

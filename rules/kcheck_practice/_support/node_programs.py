"""Pods that administer their nodes: storage and network drivers, device plugins, installers. They need what others must not have."""

from __future__ import annotations

from kcheck.api import Container, Pod, pattern

_WORD = pattern(r"(?:^|[-_.])(?:installer|driver|device-plugin|cni|nodeplugin)(?:$|[-_.])")
_CSI = pattern(r"(?:^|[-_.])csi(?:$|[-_.])|csi-?plugin")
# A command that sets a parameter of the kernel: /proc/sys is read-only in containers without privileges.
_SETS_KERNEL = pattern(r"\bsysctl\b|>\s*/proc/sys/")
_SCRIPTS = ("command", "args")
# Directories of the node into which only network plugins, storage drivers and device plugins install something.
_PLUGIN_DIRECTORIES = ("/opt/cni/bin", "/etc/cni/net.d", "/var/lib/kubelet/plugins", "/var/lib/kubelet/plugins_registry",
                       "/var/lib/kubelet/device-plugins")  # fmt: skip


def administers_node(pod: Pod) -> bool:
    """Whether the name of a DaemonSet, or of one of its containers, says that it is a driver, or installs something on the nodes.

    The parts of a CSI driver may be other workloads. A DaemonSet that mounts a directory for plugins of the kubelet is a driver, too.

    Privileges alone say nothing: the rules are about them.
    """
    names = (pod.resource.name, *(each.name for each in pod.containers))
    if any(_CSI.search(name) or (pod.is_daemon and _WORD.search(name)) for name in names):
        return True
    return pod.is_daemon and any(volume["hostPath"]["path"].text.rstrip("/") in _PLUGIN_DIRECTORIES for volume in pod["volumes"])


def purpose_of_privileges(container: Container) -> str:
    """What a container is privileged for, "" if nothing shows it.

    The sidecars of a storage driver often need its privileges to use its socket.
    """
    mounts = (mount for each in container.pod.containers for mount in each["volumeMounts"])
    if any(mount["mountPropagation"].text == "Bidirectional" for mount in mounts):
        return "Bidirectional mount propagation"
    lines = (node.text for name in _SCRIPTS for node in container[name])
    if any(_SETS_KERNEL.search(line) for line in lines):
        return "sysctl"
    return "the administration of nodes" if administers_node(container.pod) else ""

"""What pods get of their nodes. Sources: the documentation's pages "Pod Security Standards", "Volumes" and "Create a Windows
HostProcess Pod".
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Annotated

from kcheck.api import INFO, Container, Node, Pod, Problem, pattern, rule
from kcheck_practice._support.security_contexts import contexts

_BASELINE = ("security", "host-access", "pod-security-baseline", "pod-security-restricted")
_STANDARD = ("pod-security-baseline", "pod-security-restricted")
# Where runtimes listen for whoever may start containers, on Linux and on Windows.
_SOCKET = pattern(r"/(?:docker|containerd|crio|cri-dockerd|dockershim|podman|k3s)[\w.-]*\.sock$|/pipe/(?:docker|containerd)")
_RUNTIME_FOLDERS = ("/run/containerd", "/run/crio", "/run/docker", "/run/podman", "/run/k3s/containerd")
# Folders of the system that hold more than any container needs, and those of which not even a part is for containers.
_SYSTEM = frozenset(
    {"/", "/bin", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/run", "/sbin", "/sys", "/usr", "/var", "/var/lib",
     "/var/lib/kubelet"}
)  # fmt: skip
_OFF_LIMITS = (
    "/boot", "/etc/kubernetes", "/etc/shadow", "/etc/ssh", "/root", "/var/lib/containerd", "/var/lib/containers", "/var/lib/docker",
    "/var/lib/etcd", "/var/lib/kubelet/pki",
)  # fmt: skip
_VOLUMES = ("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret")
_IMAGES_COUNT_SINCE = 33
# The other types but hostPath. A type that there is not makes no volume of that type.
_REFUSED = {
    "awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "fc", "flexVolume", "flocker", "gcePersistentDisk", "gitRepo",
    "glusterfs", "image", "iscsi", "nfs", "photonPersistentDisk", "portworxVolume", "quobyte", "rbd", "scaleIO", "storageos",
    "vsphereVolume",
}  # fmt: skip


@rule("host-pid", "Pod shares the process ID namespace of its node (hostPID)", groups=_BASELINE, default=False)
def host_pid(pod: Pod) -> Iterator[Problem]:
    """It can read their environment and, as root, stop them."""
    if pod["hostPID"].flag:
        yield Problem(
            pod["hostPID"], "hostPID shows the pod all processes of its node, their environment included", help="take it away", at="key"
        )


@rule("host-ipc", "Pod shares the IPC namespace of its node (hostIPC)", groups=_BASELINE, default=False)
def host_ipc(pod: Pod) -> Iterator[Problem]:
    """Shared memory and semaphores of all that runs there."""
    if pod["hostIPC"].flag:
        yield Problem(pod["hostIPC"], "hostIPC lets the pod read and write the shared memory of its node", help="take it away", at="key")


@rule(
    "pod-security-host-network", "Pod uses hostNetwork, which the baseline Pod Security Standard forbids", groups=_STANDARD, default=False
)
def pod_on_host_network(pod: Pod) -> Iterator[Problem]:
    """DaemonSets and Pods of the control plane, too, which host-network passes over: the standards know no such exception."""
    if pod["hostNetwork"].flag:
        message = "the Pod Security Standards forbid hostNetwork"
        yield Problem(pod["hostNetwork"], message, help="take it away, and reach the pod through a Service", at="key")


@rule(
    "pod-security-host-port", "Container uses a hostPort, which the baseline Pod Security Standard forbids", groups=_STANDARD, default=False
)
def container_on_host_port(
    container: Container,
    *,
    allow: Annotated[tuple[str, ...], 'ports that are fine, such as "9100" or "9000-9100"'] = (),
) -> Iterator[Problem]:
    """DaemonSets and pods with hostNetwork, too, which host-port passes over: the standards know no such exception."""
    for port in container["ports"]:
        node = port["hostPort"]
        if node.integer and not any(_in_range(node.integer, each) for each in allow):
            yield Problem(node, f"the Pod Security Standards forbid hostPort {node.integer}", help="take it away, and use a Service")


@rule("runtime-socket", "Pod mounts the container runtime socket (docker.sock, containerd.sock)", groups=_BASELINE, fields="volumes")
def runtime_socket(pod: Pod) -> Iterator[Problem]:
    """Whoever can talk to it can start a privileged container: docker, containerd, CRI-O, podman, on Linux and on Windows."""
    for node in _host_paths(pod):
        if _is_socket(node.text):
            yield Problem(node, f"who reaches {node.text} is root on the node", help="take the volume away")


@rule("sensitive-host-path", "Pod mounts a sensitive hostPath such as / or /etc", groups=_BASELINE, default=False)
def sensitive_host_path(
    pod: Pod,
    *,
    allow: Annotated[tuple[str, ...], "paths that are fine, such as /etc/machine-id"] = (),
) -> Iterator[Problem]:
    """The root of the node, /etc, /proc and their like as a whole, and whatever lies in folders such as /etc/kubernetes."""
    for node in _host_paths(pod):
        if node.text not in allow and not _is_socket(node.text) and _is_sensitive(node.text):
            yield Problem(
                node, f"{node.text} of the node is the system's own", help="mount only the part that the container needs, or none"
            )


@rule("host-path-volume", "Pod mounts a hostPath volume", groups=_BASELINE, default=False)
def host_path(
    pod: Pod,
    *,
    allow: Annotated[tuple[str, ...], "paths that are fine, with all below them, such as /var/log"] = (),
) -> Iterator[Problem]:
    """Those that runtime-socket and sensitive-host-path do not tell of."""
    for node in _host_paths(pod):
        if not _is_socket(node.text) and not _is_sensitive(node.text) and not any(_is_below(node.text, each) for each in allow):
            yield Problem(node, f"{node.text} is a folder of whatever node the pod is on: claim a PersistentVolume")


@rule("writable-host-path", "Container mounts a hostPath volume without readOnly", groups=("security", "host-access"), default=False)
def writable_host_path(container: Container) -> Iterator[Problem]:
    """A mount that is not readOnly; what others of the node read there may be changed by the container."""
    paths = {v["name"].text: v["hostPath"]["path"].text for v in container.pod["volumes"] if v["hostPath"]}
    for mount in container["volumeMounts"]:
        path = paths.get(mount["name"].text)
        if path is not None and not mount["readOnly"].flag:
            node = mount["readOnly"] if mount["readOnly"] else mount["name"]
            message = f"container {container.name} can change {path} of the node"
            yield Problem(node, message, help="mount it readOnly: true", field=mount["readOnly"])


@rule(
    "bidirectional-mount-propagation",
    "Container mounts a volume with Bidirectional mountPropagation",
    groups=("security", "host-access"),
    default=False,
)
def mount_propagation(container: Container) -> Iterator[Problem]:
    """Bidirectional: what the container mounts there, the node and all its pods see. The server asks for privileged beside it."""
    for mount in container["volumeMounts"]:
        node = mount["mountPropagation"]
        if node.text == "Bidirectional":
            path = mount["mountPath"].text
            yield Problem(node, f"what container {container.name} mounts below {path} shows on the node", help="write HostToContainer")


@rule("host-process", "Windows container runs as a HostProcess container", groups=_BASELINE, default=False)
def host_process(pod: Pod) -> Iterator[Problem]:
    """Of the pod or of any container."""
    for context in contexts(pod):
        node = context["windowsOptions"]["hostProcess"]
        if node.flag:
            yield Problem(node, "hostProcess runs the container as a process of its Windows node", help="take it away")


@rule("host-aliases", "Pod sets hostAliases", severity=INFO, groups=("host-access", "style"), default=False)
def host_aliases(pod: Pod) -> Iterator[Problem]:
    """They hide what DNS says and stay as they are when addresses change."""
    if len(pod["hostAliases"]):
        yield Problem(pod["hostAliases"], "hostAliases hide what DNS says of these names", help="make a Service or a DNS record", at="key")


@rule(
    "restricted-volume-type",
    "Volume type is not allowed by the restricted Pod Security Standard",
    severity=INFO,
    groups=("pod-security-restricted",),
    default=False,
)
def restricted_volume(pod: Pod) -> Iterator[Problem]:
    """All but those that the restricted standard lists; hostPath has rules of its own."""
    allowed = [name for name in _VOLUMES if name != "image" or not pod.resource.is_before(_IMAGES_COUNT_SINCE)]
    for volume in pod["volumes"]:
        source = next((node for key, node in volume.entries if key in _REFUSED and node), None)
        if source is not None and not any(volume[name] for name in allowed):
            message = f"the restricted standard allows no volumes of type {source.name}: claim a PersistentVolume"
            yield Problem(source, message, at="key")


def _host_paths(pod: Pod) -> Iterator[Node]:
    for volume in pod["volumes"]:
        if volume["hostPath"]["path"].text:
            yield volume["hostPath"]["path"]


def _is_socket(path: str) -> bool:
    clean = _clean(path.replace("\\", "/"))
    return clean in _RUNTIME_FOLDERS or _SOCKET.search(clean) is not None


def _is_sensitive(path: str) -> bool:
    return _clean(path) in _SYSTEM or any(_is_below(path, folder) for folder in _OFF_LIMITS)


def _is_below(path: str, folder: str) -> bool:
    clean, above = _clean(path), _clean(folder)
    return clean == above or clean.startswith(above.rstrip("/") + "/")


def _clean(path: str) -> str:
    """A path without what means nothing; /var/run is a link to /run on the nodes of all distributions."""
    clean = "/" + posixpath.normpath(path).lstrip("/")
    return clean.removeprefix("/var") if clean == "/var/run" or clean.startswith("/var/run/") else clean


def _in_range(number: int, text: str) -> bool:
    first, _, last = text.partition("-")
    return first.isdigit() and (last or first).isdigit() and int(first) <= number <= int(last or first)

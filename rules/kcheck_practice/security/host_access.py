"""Access of Pods to their nodes: namespaces, ports, files and sockets. Sources: the documentation's pages "Pod Security Standards",
"Volumes" and "Create a Windows HostProcess Pod".
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Annotated

from kcheck.api import ERROR, INFO, Container, Correction, Node, Pod, Problem, Suggestion, pattern, remove, rule
from kcheck_practice._support.node_programs import administers_node
from kcheck_practice._support.security_contexts import contexts

_BASELINE = ("security", "host-access", "pod-security-baseline", "pod-security-restricted")
_STANDARD = ("pod-security-baseline", "pod-security-restricted")
# Sockets and named pipes of container runtimes, on Linux and on Windows.
_SOCKET = pattern(r"/(?:docker|containerd|crio|cri-dockerd|dockershim|podman|k3s)[\w.-]*\.sock$|/pipe/(?:docker|containerd)")
_RUNTIME_DIRECTORIES = ("/run/containerd", "/run/crio", "/run/docker", "/run/podman", "/run/k3s/containerd")
# Directories that are sensitive as a whole (their subdirectories are not), and those whose whole content is sensitive.
_SENSITIVE_ITSELF = frozenset(
    {"/", "/bin", "/dev", "/etc", "/etc/kubernetes", "/home", "/lib", "/lib64", "/opt", "/proc", "/run", "/sbin", "/sys", "/usr", "/var",
     "/var/lib", "/var/lib/kubelet"}
)  # fmt: skip
_SENSITIVE_TREES = (
    "/boot", "/etc/kubernetes/manifests", "/etc/kubernetes/pki", "/etc/shadow", "/etc/ssh", "/root", "/var/lib/containerd",
    "/var/lib/containers", "/var/lib/docker", "/var/lib/etcd", "/var/lib/kubelet/pki",
)  # fmt: skip
_OF_PRIVILEGED = frozenset({"/dev", "/proc", "/sys", "/var/lib/kubelet"})
# Kubeconfigs and settings of components, such as admin.conf. Directories there may belong to drivers.
_COMPONENT_FILE = pattern(r"/etc/kubernetes/[^/]+\.(?:conf|kubeconfig|ya?ml|json)")
_ALLOWED_VOLUMES = ("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret")
_IMAGES_COUNT_SINCE = 33
_REMOVE_VOLUME = "remove this hostPath volume and its volumeMounts"
# All other volume types except hostPath. Unknown keys are not volume types.
_FORBIDDEN_VOLUMES = {
    "awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "fc", "flexVolume", "flocker", "gcePersistentDisk", "gitRepo",
    "glusterfs", "image", "iscsi", "nfs", "photonPersistentDisk", "portworxVolume", "quobyte", "rbd", "scaleIO", "storageos",
    "vsphereVolume",
}  # fmt: skip


@rule("host-pid", "Pod shares the process ID namespace of its node (hostPID)", groups=_BASELINE, fixable=True)
def host_pid(pod: Pod) -> Iterator[Problem]:
    """hostPID: true lets the Pod see all processes of the node, read their environment and, as the same user, stop them.

    Agents on each node that measure its processes, without further privileges, are reported by node-agent-host-pid.
    """
    if pod["hostPID"].boolean and not _is_agent(pod):
        message = "hostPID: true exposes all processes of the node to the Pod, including their environment variables"
        yield Problem(pod["hostPID"], message, help=remove("hostPID", safe=False), at="key")


@rule(
    "node-agent-host-pid",
    "Node agent shares the process ID namespace of its node (hostPID)",
    severity=INFO,
    groups=_BASELINE,
    default=False,
)
def node_agent_host_pid(pod: Pod) -> Iterator[Problem]:
    """Pods of DaemonSets without privileged containers, such as node-exporter."""
    if pod["hostPID"].boolean and _is_agent(pod):
        message = "hostPID: true exposes all processes of the node to the Pod, including their environment variables"
        yield Problem(pod["hostPID"], message, help="restrict who can create Pods in this namespace", at="key")


def _is_agent(pod: Pod) -> bool:
    """Whether one Pod runs on each node, as a driver or an installer, or without privileged containers."""
    privileged = any(container.node.at("securityContext", "privileged").boolean for container in pod.containers)
    return administers_node(pod) or (pod.is_daemon and not privileged)


@rule("host-ipc", "Pod shares the IPC namespace of its node (hostIPC)", groups=_BASELINE, fixable=True)
def host_ipc(pod: Pod) -> Iterator[Problem]:
    """hostIPC: true gives access to the shared memory and semaphores of the node."""
    if pod["hostIPC"].boolean:
        message = "hostIPC: true lets the Pod read and write the shared memory of the node"
        yield Problem(pod["hostIPC"], message, help=remove("hostIPC", safe=False), at="key")


@rule(
    "pod-security-host-network",
    "Pod uses hostNetwork, which the baseline Pod Security Standard forbids",
    groups=_STANDARD,
    default=False,
    fixable=True,
)
def pod_on_host_network(pod: Pod) -> Iterator[Problem]:
    """Unlike host-network, includes DaemonSets and control plane Pods: the Pod Security Standards make no exception for them."""
    if pod["hostNetwork"].boolean:
        message = "hostNetwork: true is forbidden by the Pod Security Standards (baseline)"
        yield Problem(
            pod["hostNetwork"],
            message,
            help="remove hostNetwork and expose the Pod with a Service",
            at="key",
            fix=None if pod["securityContext"]["windowsOptions"] else Correction.remove(pod["hostNetwork"], safe=False),
        )


@rule(
    "pod-security-host-port", "Container uses a hostPort, which the baseline Pod Security Standard forbids", groups=_STANDARD, default=False
)
def container_on_host_port(
    container: Container,
    *,
    allow: Annotated[tuple[str, ...], 'allowed host ports, such as "9100" or "9000-9100"'] = (),
) -> Iterator[Problem]:
    """Unlike host-port, includes DaemonSets and Pods with hostNetwork: the Pod Security Standards make no exception for them."""
    for port in container["ports"]:
        node = port["hostPort"]
        if node.integer and not any(_in_range(node.integer, each) for each in allow):
            message = f"hostPort: {node.integer} is forbidden by the Pod Security Standards (baseline)"
            yield Problem(node, message, help="remove hostPort and use a Service")


@rule("runtime-socket", "Pod mounts the container runtime socket (docker.sock, containerd.sock)", groups=_BASELINE, fields="volumes")
def runtime_socket(pod: Pod) -> Iterator[Problem]:
    """A client of the socket can start privileged containers. Known: docker, containerd, CRI-O, podman, on Linux and on Windows."""
    for node in _host_paths(pod):
        if _is_socket(node.text):
            yield Problem(node, f"access to {node.text} is root access to the node", help=_REMOVE_VOLUME)


@rule(
    "sensitive-host-path",
    "Container can write to a sensitive hostPath such as / or /etc",
    severity=ERROR,
    groups=_BASELINE,
    fields="volumes",
)
def sensitive_host_path(
    pod: Pod,
    *,
    allow: Annotated[tuple[str, ...], "allowed paths, such as /etc/kubernetes/cloud.conf"] = (),
) -> Iterator[Problem]:
    """Directories such as /, /etc and /proc as a whole, and every path in directories such as /etc/kubernetes, in a mount that is not
    readOnly.
    """
    for node, writer in _sensitive_paths(pod, allow):
        if writer:
            message = f'hostPath "{node.text}" lets container "{writer}" change system files of the node'
            yield Problem(node, message, help=f"{_narrower(node.text)}, or set readOnly: true in its volumeMounts")


@rule(
    "read-only-sensitive-host-path",
    "Pod mounts a sensitive hostPath such as / or /etc for reading",
    groups=_BASELINE,
    default=False,
    fields="volumes",
)
def read_only_sensitive_host_path(
    pod: Pod,
    *,
    allow: Annotated[tuple[str, ...], "allowed paths, such as /var/lib/docker/containers"] = (),
) -> Iterator[Problem]:
    """The paths of sensitive-host-path where all mounts are readOnly, or where the volume is not mounted."""
    for node, writer in _sensitive_paths(pod, allow):
        if not writer:
            yield Problem(node, f'hostPath "{node.text}" exposes system files of the node', help=_narrower(node.text))


@rule("host-path-volume", "Pod mounts a hostPath volume", groups=_BASELINE, default=False)
def host_path(
    pod: Pod,
    *,
    allow: Annotated[tuple[str, ...], "allowed paths, including all paths below them, such as /var/log"] = (),
) -> Iterator[Problem]:
    """All hostPath volumes that runtime-socket, sensitive-host-path and read-only-sensitive-host-path do not report."""
    for node in _host_paths(pod):
        if not _is_socket(node.text) and not _is_sensitive(node.text) and not any(_is_below(node.text, each) for each in allow):
            message = f'hostPath "{node.text}" gives the Pod access to the filesystem of its node'
            yield Problem(node, message, help="use a PersistentVolumeClaim")


@rule("writable-host-path", "Container mounts a hostPath volume without readOnly", groups=("security", "host-access"), default=False)
def writable_host_path(container: Container) -> Iterator[Problem]:
    """volumeMounts of hostPath volumes without readOnly: true. Other programs of the node may read what the container writes."""
    paths = {v["name"].text: v["hostPath"]["path"].text for v in container.pod["volumes"] if v["hostPath"]}
    for mount in container["volumeMounts"]:
        path = paths.get(mount["name"].text)
        if path is not None and not mount["readOnly"].boolean:
            node = mount["readOnly"] if mount["readOnly"] else mount["name"]
            message = f'container "{container.name}" can write to hostPath "{path}"'
            advice = f"{'set' if mount['readOnly'] else 'add'} readOnly: true"
            yield Problem(node, message, help=advice, field=mount["readOnly"])


@rule(
    "bidirectional-mount-propagation",
    "Container mounts a volume with Bidirectional mountPropagation",
    groups=("security", "host-access"),
    default=False,
    fixable=True,
)
def mount_propagation(container: Container) -> Iterator[Problem]:
    """Bidirectional makes mounts of the container visible on the node and in its Pods. The API server requires privileged: true with it."""
    for mount in container["volumeMounts"]:
        node = mount["mountPropagation"]
        if node.text == "Bidirectional":
            path = mount["mountPath"].text
            message = f'mountPropagation: Bidirectional makes mounts of container "{container.name}" under {path} visible on the node'
            yield Problem(node, message, help=Suggestion("set mountPropagation: HostToContainer", "HostToContainer"))


@rule("host-process", "Windows container runs as a HostProcess container", groups=_BASELINE, default=False)
def host_process(pod: Pod) -> Iterator[Problem]:
    """securityContext.windowsOptions.hostProcess: true of the Pod or of any container."""
    for context in contexts(pod):
        node = context["windowsOptions"]["hostProcess"]
        if node.boolean:
            message = "windowsOptions.hostProcess: true runs containers as processes of the Windows node"
            yield Problem(node, message, help="remove hostProcess")


@rule("host-aliases", "Pod sets hostAliases", severity=INFO, groups=("host-access", "style"), default=False)
def host_aliases(pod: Pod) -> Iterator[Problem]:
    """Entries of hostAliases override DNS and are not updated when addresses change."""
    if len(pod["hostAliases"]):
        yield Problem(pod["hostAliases"], "hostAliases override DNS for their host names", help="use a Service or a DNS record", at="key")


@rule(
    "restricted-volume-type",
    "Volume type is not allowed by the restricted Pod Security Standard",
    severity=INFO,
    groups=("pod-security-restricted",),
    default=False,
)
def restricted_volume(pod: Pod) -> Iterator[Problem]:
    """Volume types that the restricted standard does not list. hostPath is reported by other rules."""
    allowed = [name for name in _ALLOWED_VOLUMES if name != "image" or not pod.resource.is_before(_IMAGES_COUNT_SINCE)]
    for volume in pod["volumes"]:
        source = next((node for key, node in volume.entries if key in _FORBIDDEN_VOLUMES and node), None)
        if source is not None and not any(volume[name] for name in allowed):
            message = f'volume type "{source.name}" is forbidden by the restricted Pod Security Standard'
            yield Problem(source, message, help="use a PersistentVolumeClaim", at="key")


def _host_paths(pod: Pod) -> Iterator[Node]:
    for volume in pod["volumes"]:
        if volume["hostPath"]["path"].text:
            yield volume["hostPath"]["path"]


def _sensitive_paths(pod: Pod, allow: tuple[str, ...]) -> Iterator[tuple[Node, str]]:
    """The sensitive paths of a Pod, each with the name of the first container that can write to it, or ""."""
    for volume in pod["volumes"]:
        path = volume["hostPath"]["path"]
        if path.text and path.text not in allow and not _is_socket(path.text) and _is_sensitive(path.text):
            name = volume["name"].text
            writers = (
                container.name
                for container in pod.containers
                for mount in container["volumeMounts"]
                if mount["name"].text == name and not mount["readOnly"].boolean and not _has_anyway(container, path.text)
            )
            yield path, next(writers, "")


def _has_anyway(container: Container, path: str) -> bool:
    """Whether a container has the devices or settings of the node without the mount, because it is privileged, or needs its files."""
    is_privileged = container.node.at("securityContext", "privileged").boolean is True
    return administers_node(container.pod) or (is_privileged and _clean(path) in _OF_PRIVILEGED)


def _narrower(path: str) -> str:
    whole = _clean(path) in _SENSITIVE_ITSELF
    return "mount only the file or subdirectory that the container needs" if whole else _REMOVE_VOLUME


def _is_socket(path: str) -> bool:
    clean = _clean(path.replace("\\", "/"))
    return clean in _RUNTIME_DIRECTORIES or _SOCKET.search(clean) is not None


def _is_sensitive(path: str) -> bool:
    clean = _clean(path)
    if clean in _SENSITIVE_ITSELF or _COMPONENT_FILE.fullmatch(clean):
        return True
    return any(_is_below(path, folder) for folder in _SENSITIVE_TREES)


def _is_below(path: str, folder: str) -> bool:
    clean, above = _clean(path), _clean(folder)
    return clean == above or clean.startswith(above.rstrip("/") + "/")


def _clean(path: str) -> str:
    """The normalized path. /var/run becomes /run, which it links to on the nodes of all distributions."""
    clean = "/" + posixpath.normpath(path).lstrip("/")
    return clean.removeprefix("/var") if clean == "/var/run" or clean.startswith("/var/run/") else clean


def _in_range(number: int, text: str) -> bool:
    first, _, last = text.partition("-")
    return first.isdigit() and (last or first).isdigit() and int(first) <= number <= int(last or first)

"""The groups pod-security-baseline and pod-security-restricted against a second reading of the Pod Security Standards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from kcheck.testing import check_text

Json = dict[str, Any]

_LISTS = ("containers", "initContainers", "ephemeralContainers")
_HARMLESS = {
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP",
    "SETUID", "SYS_CHROOT",
}  # fmt: skip
_SYSCTLS = {"kernel.shm_rmid_forced": 0, "net.ipv4.ip_local_reserved_ports": 27, "net.ipv4.tcp_rmem": 32, "net.ipv4.tcp_notsent_lowat": 37}
_VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
_PROFILES = ("RuntimeDefault", "Localhost")


def containers(spec: Json) -> Iterator[Json]:
    for name in _LISTS:
        yield from spec.get(name, ())


def contexts(spec: Json) -> list[Json]:
    return [each.get("securityContext", {}) for each in (spec, *containers(spec))]


def baseline(pod: Json, minor: int) -> set[str]:
    """The controls of the baseline that a pod breaks."""
    spec, all_contexts = pod["spec"], contexts(pod["spec"])
    of_containers = all_contexts[1:]
    broken = set()
    if any(c.get("windowsOptions", {}).get("hostProcess") for c in all_contexts):
        broken.add("hostProcess")
    if any(spec.get(name) for name in ("hostNetwork", "hostPID", "hostIPC")):
        broken.add("hostNamespaces")
    if any(c.get("privileged") for c in of_containers):
        broken.add("privileged")
    if any(set(c.get("capabilities", {}).get("add", ())) - _HARMLESS for c in of_containers):
        broken.add("capabilities")
    if any("hostPath" in v for v in spec.get("volumes", ())):
        broken.add("hostPath")
    if any(p.get("hostPort") for c in containers(spec) for p in c.get("ports", ())):
        broken.add("hostPorts")
    if minor >= 34 and any(_asks_hosts(c) for c in containers(spec)):
        broken.add("hostProbes")
    profiles = [c.get("appArmorProfile", {}).get("type", "RuntimeDefault") for c in all_contexts]
    annotated = pod["metadata"].get("annotations", {}).values()
    if set(profiles) - set(_PROFILES) or any(v != "runtime/default" and not v.startswith("localhost/") for v in annotated):
        broken.add("appArmor")
    types = {"container_t", "container_init_t", "container_kvm_t", ""} | ({"container_engine_t"} if minor >= 31 else set())
    options = [c.get("seLinuxOptions", {}) for c in all_contexts]
    if any(o.get("type", "") not in types or o.get("user") or o.get("role") for o in options):
        broken.add("seLinux")
    if any(c.get("procMount", "Default") != "Default" for c in of_containers) and not _has_namespace(spec, minor):
        broken.add("procMount")
    if any(c.get("seccompProfile", {}).get("type", "Localhost") not in _PROFILES for c in all_contexts):
        broken.add("seccomp")
    if any(_SYSCTLS.get(s["name"], 99) > minor for s in all_contexts[0].get("sysctls", ())):
        broken.add("sysctls")
    return broken


def restricted(pod: Json, minor: int) -> set[str]:
    """The controls of both standards that a pod breaks."""
    spec, all_contexts = pod["spec"], contexts(pod["spec"])
    whole, of_containers = all_contexts[0], all_contexts[1:]
    linux = spec.get("os", {}).get("name") != "windows"
    broken = baseline(pod, minor)
    volumes = _VOLUMES | ({"image"} if minor >= 33 else set())
    if any(v.keys() - {"name"} - volumes for v in spec.get("volumes", ())):
        broken.add("volumes")
    if linux and any(c.get("allowPrivilegeEscalation") is not False for c in of_containers):
        broken.add("escalation")
    if not _has_namespace(spec, minor):
        said = [c.get("runAsNonRoot", whole.get("runAsNonRoot")) for c in of_containers]
        if not all(said) or any(c.get("runAsNonRoot") is False for c in all_contexts):
            broken.add("nonRoot")
        if any(c.get("runAsUser") == 0 for c in all_contexts):
            broken.add("user")
    if linux and not all("seccompProfile" in c or "seccompProfile" in whole for c in of_containers):
        broken.add("seccomp")
    if linux:
        capabilities = [c.get("capabilities", {}) for c in of_containers]
        if any("ALL" not in c.get("drop", ()) or set(c.get("add", ())) - {"NET_BIND_SERVICE"} for c in capabilities):
            broken.add("capabilities")
    if any(c.get("procMount", "Default") != "Default" for c in of_containers):
        broken.add("procMount")
    return broken


def _has_namespace(spec: Json, minor: int) -> bool:
    return spec.get("hostUsers") is False and minor >= 35


def _asks_hosts(container: Json) -> bool:
    actions = [container.get(name, {}) for name in ("livenessProbe", "readinessProbe", "startupProbe")]
    actions += container.get("lifecycle", {}).values()
    return any(handler.get("host") for action in actions for handler in action.values())


# What rules stand for each control.
_RULES = {
    "hostProcess": {"host-process"},
    "hostNamespaces": {"pod-security-host-network", "host-pid", "host-ipc"},
    "privileged": {"privileged-container", "privileged-driver"},
    "capabilities": {
        "privileged-container",
        "privileged-driver",
        "dangerous-capability",
        "added-capability",
        "restricted-capability",
        "undropped-capabilities",
    },
    "hostPath": {"host-path-volume", "sensitive-host-path", "read-only-sensitive-host-path", "runtime-socket"},
    "hostPorts": {"pod-security-host-port"},
    "hostProbes": {"probe-host"},
    "appArmor": {"unconfined-apparmor"},
    "seLinux": {"selinux-options"},
    "procMount": {"unmasked-proc-mount", "unmasked-proc-mount-in-user-namespace"},
    "seccomp": {"unconfined-seccomp", "missing-seccomp"},
    "sysctls": {"unsafe-sysctl"},
    "volumes": {"restricted-volume-type", "host-path-volume", "sensitive-host-path", "read-only-sensitive-host-path", "runtime-socket"},
    "escalation": {"privilege-escalation", "privilege-escalation-unset"},
    "nonRoot": {"root-user", "missing-run-as-non-root", "run-as-user-without-non-root"},
    "user": {"root-user"},
}


class Maker:
    """Pods by chance, most of them near the line."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def maybe(self, value: Any, chance: float = 0.15) -> Json:
        """A map that may have this entry: of a key and alternatives."""
        key, options = value
        return {key: self.random.choice(options)} if self.random.random() < chance else {}

    def context(self, pod: bool) -> Json:
        made: Json = self.maybe(("runAsNonRoot", [True, True, False]), 0.5) | self.maybe(("runAsUser", [0, 1000]), 0.2)
        made |= self.maybe(("seccompProfile", [{"type": "RuntimeDefault"}] * 3 + [{"type": "Unconfined"}]), 0.5)
        made |= self.maybe(("appArmorProfile", [{"type": "RuntimeDefault"}, {"type": "Unconfined"}]), 0.1)
        types = [{"type": "container_t"}, {"type": "container_engine_t"}, {"type": "spc_t"}, {"user": "u"}, {"role": "r"}]
        made |= self.maybe(("seLinuxOptions", types), 0.1)
        made |= self.maybe(("windowsOptions", [{"hostProcess": False}, {"hostProcess": True}]), 0.05)
        if pod:
            return made | self.maybe(("sysctls", [[{"name": n, "value": "1"}] for n in (*_SYSCTLS, "kernel.msgmax")]), 0.2)
        made |= self.maybe(("allowPrivilegeEscalation", [False, False, True]), 0.8) | self.maybe(("privileged", [False, True]), 0.1)
        made |= self.maybe(("procMount", ["Default", "Unmasked"]), 0.1)
        drops = [["ALL"], ["ALL"], ["ALL"], ["all"], ["NET_RAW"]]
        capabilities = self.maybe(("drop", drops), 0.8) | self.maybe(("add", [["NET_BIND_SERVICE"], ["CHOWN"], ["SYS_ADMIN"], ["NET_RAW"]]))
        return made | ({"capabilities": capabilities} if capabilities else {})

    def container(self, name: str) -> Json:
        made: Json = {"name": name, "image": "registry.example.com/web:1"}
        made |= self.maybe(("ports", [[{"containerPort": 80, "hostPort": 0}], [{"containerPort": 80, "hostPort": 80}]]), 0.1)
        probe = self.maybe(("host", ["", "127.0.0.1"]), 0.3) | {"port": 80}
        made |= self.maybe((self.random.choice(["livenessProbe", "startupProbe"]), [{"httpGet": probe}, {"tcpSocket": probe}]), 0.1)
        made |= self.maybe(("lifecycle", [{"preStop": {"httpGet": probe}}]), 0.05)
        context = self.context(pod=False)
        return made | ({"securityContext": context} if context else {})

    def pod(self) -> Json:
        spec: Json = {"containers": [self.container("a")]}
        spec |= self.maybe(("initContainers", [[self.container("b")]]), 0.3)
        spec |= self.maybe(("ephemeralContainers", [[self.container("c")]]), 0.1)
        for name in ("hostNetwork", "hostPID", "hostIPC"):
            spec |= self.maybe((name, [False, True]), 0.06)
        spec |= self.maybe(("os", [{"name": "linux"}, {"name": "windows"}]), 0.2) | self.maybe(("hostUsers", [True, False, False]), 0.3)
        sources = [{"emptyDir": {}}, {"image": {}}, {"nfs": {"server": "a", "path": "/"}}]
        sources += [{"hostPath": {"path": path}} for path in ("/", "/srv", "/run/docker.sock")]
        spec |= self.maybe(("volumes", [[{"name": "v", **source}] for source in sources]), 0.2)
        context = self.context(pod=True)
        key = "container.apparmor.security.beta.kubernetes.io/a"
        noted = self.maybe(("annotations", [{key: "runtime/default"}, {key: "localhost/x"}, {key: "unconfined"}]), 0.1)
        spec |= {"securityContext": context} if context else {}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", **noted}, "spec": spec}


def reported(pods: list[Json], group: str, minor: int) -> list[set[str]]:
    """The rules of a group that tell of each pod."""
    items = [pod | {"metadata": pod["metadata"] | {"name": f"p{i}"}} for i, pod in enumerate(pods)]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    found: list[set[str]] = [set() for _ in pods]
    for finding in check_text(text, [group], kubernetes=f"1.{minor}", name="pods.json"):
        if finding.family == "practice":
            found[int(finding.place.object.name[1:])].add(finding.rule)
    return found


def stored(pod: Json, minor: int) -> Json:
    """The pod that Pod Security Admission sees: without the fields whose feature gate is off."""
    off = {*(("procMount",) if minor < 33 else ()), *(("image",) if minor < 35 else ())}

    def without(value: Any, inside: str = "") -> Any:
        if isinstance(value, list):
            return [without(each, inside) for each in value]
        if not isinstance(value, dict):
            return value
        return {key: without(each, key) for key, each in value.items() if key not in off or (key == "image" and inside != "volumes")}

    return {**pod, "spec": without(pod["spec"])}


@pytest.mark.parametrize("minor", [30, *(pytest.param(minor, marks=pytest.mark.slow) for minor in range(33, 37)), 37])
@pytest.mark.parametrize("group", ["pod-security-baseline", "pod-security-restricted"])
def test_a_group_tells_what_the_standard_forbids(group: str, minor: int) -> None:
    maker = Maker(minor)
    pods = [maker.pod() for _ in range(400)]
    judge = baseline if group == "pod-security-baseline" else restricted
    clean = 0
    for pod, rules in zip(pods, reported(pods, group, minor), strict=True):
        broken = judge(stored(pod, minor), minor)
        shown = json.dumps(pod["spec"])
        for control in broken:
            assert rules & _RULES[control], f"{control}: {shown}"
        assert all(any(rule in _RULES[control] for control in broken) for rule in rules), f"{rules} for {broken}: {shown}"
        clean += not broken
    assert clean > 2


def test_a_pod_that_keeps_both_standards() -> None:
    text = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  securityContext:
    runAsNonRoot: true
    seccompProfile: {type: RuntimeDefault}
  containers:
  - name: web
    image: registry.example.com/web:1
    securityContext:
      allowPrivilegeEscalation: false
      capabilities: {drop: [ALL], add: [NET_BIND_SERVICE]}
"""
    assert check_text(text, ["pod-security-baseline", "pod-security-restricted"]) == []

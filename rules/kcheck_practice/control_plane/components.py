"""Flags of control-plane components in the command lines of containers: static Pods and any other Pod that starts a component."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, NamedTuple

from kcheck.api import Container, Node, Problem, Rule, rule
from kcheck_practice.control_plane._component_flags import APISERVER, APISERVER_FILES, ETCD, FILES, FLAGS, KUBELET, MANAGER, SCHEDULER, Flag

_COMPONENTS = frozenset((APISERVER, MANAGER, SCHEDULER, ETCD, KUBELET))
_GROUPS = ("control-plane",)
_MAX_VALUE = 40
"""Longer values of flags are left out of messages."""
_PLUGINS = {
    "NodeRestriction": "so kubelets can change objects of other nodes",
    "AlwaysPullImages": "so Pods can use images of the node without pull credentials",
    "EventRateLimit": "so clients can flood the API server with events",
    "DenyServiceExternalIPs": "so Services can claim any external IP address",
}
_PLUGIN_HELP = {"EventRateLimit": " and configure the plugin with --admission-control-config-file"}


class CommandLine(NamedTuple):
    """The command line of a component. `flags`: value and node by flag name; `at`: the node to report a missing flag at."""

    component: str
    flags: dict[str, tuple[str, Node]]
    at: Node


def command_line(container: Container) -> CommandLine | None:
    """The command line of the component that a container runs, None where it runs none. Variables such as ETCD_CERT_FILE count."""
    items = [*container["command"], *container["args"]]
    words = [(word, item) for item in items for word in item.text.split()]
    component = next((name for word, _ in words for name in (word.rpartition("/")[2],) if name in _COMPONENTS), "")
    if not component:
        return None
    flags: dict[str, tuple[str, Node]] = {}
    before: tuple[str, Node] | None = None
    for word, item in words:
        if word.startswith("-"):
            name, equals, value = word.lstrip("-").partition("=")
            flags[name] = (value if equals else "true", item)
            before = None if equals else (name, item)
        elif before is not None:
            flags[before[0]] = (word, before[1])
            before = None
    if component == ETCD:
        for entry in container["env"]:
            name = entry["name"].text
            if name.startswith("ETCD_"):
                flags.setdefault(name[5:].lower().replace("_", "-"), (entry["value"].text or "set", entry["value"]))
    return CommandLine(component, flags, container["command"] if container["command"] else container["args"])


def _flag_problems(container: Container, flags: tuple[Flag, ...]) -> Iterator[Problem]:
    """The problems of the flags that the component of a container sets to a rejected value or lacks."""
    line = command_line(container)
    for flag in flags if line is not None else ():
        if line is None or flag.component != line.component:
            continue
        value, node = line.flags.get(flag.name, (None, line.at))
        if not flag.right(value) and not (value is None and _may_be_elsewhere(flag, line)):
            message = f"{flag.component} {flag.wrong} ({_state(flag.name, value)})"
            yield Problem(node, message, help=flag.help, at="key" if value is None else "value")


def _state(name: str, value: str | None) -> str:
    """A flag as messages show it, with a short value."""
    if value is None:
        return f"--{name} is not set"
    return f"--{name}={value}" if len(value) <= _MAX_VALUE else f"--{name}"


def _may_be_elsewhere(flag: Flag, line: CommandLine) -> bool:
    """Whether a configuration file that the command line names may contain a missing setting."""
    if flag.component == APISERVER:
        return APISERVER_FILES.get(flag.name, "-") in line.flags
    file, setting = FILES.get(flag.component, ("-", ""))
    return file in line.flags and setting in ("", flag.name)


def _rule_of(id: str, title: str) -> Rule:
    """The rule about all flags of the table that are reported under an id."""
    flags = tuple(flag for flag in FLAGS if flag.rule == id)

    def check(container: Container) -> Iterator[Problem]:
        yield from _flag_problems(container, flags)

    return rule(id, title, groups=_GROUPS, default=False)(check)


@rule(
    "insecure-admission-plugins",
    "kube-apiserver runs with insecure admission plugins (--enable-admission-plugins)",
    groups=_GROUPS,
    default=False,
)
def admission_plugins(
    container: Container,
    *,
    wanted: Annotated[tuple[str, ...], "plugins that must be in --enable-admission-plugins"] = tuple(_PLUGINS),
) -> Iterator[Problem]:
    """Plugins that must be enabled, plugins that must not be enabled or disabled, and plugins that were removed from Kubernetes."""
    yield from _flag_problems(container, tuple(flag for flag in FLAGS if flag.rule == "insecure-admission-plugins"))
    line = command_line(container)
    if line is None or line.component != APISERVER:
        return
    value, node = line.flags.get("enable-admission-plugins", ("", line.at))
    for name in wanted:
        if name not in value.split(","):
            effect = f", {_PLUGINS[name]}" if name in _PLUGINS else ""
            message = f"{APISERVER} does not enable admission plugin {name}{effect}"
            hint = f"add {name} to --enable-admission-plugins{_PLUGIN_HELP.get(name, '')}"
            yield Problem(node, message, help=hint, at="value" if value else "key")


anonymous_requests = _rule_of("anonymous-auth", "kube-apiserver or kubelet allows anonymous requests (--anonymous-auth)")
static_credentials = _rule_of("static-credentials", "kube-apiserver reads static passwords or tokens from a file (--token-auth-file)")
authorization_mode = _rule_of(
    "insecure-authorization-mode", "kube-apiserver or kubelet has an insecure --authorization-mode (such as AlwaysAllow)"
)
insecure_port = _rule_of("insecure-port", "Component serves an unauthenticated port (--insecure-port, --read-only-port)")
profiling_endpoint = _rule_of("profiling-endpoint", "Component serves the profiling endpoint /debug/pprof (--profiling)")
audit_log = _rule_of("incomplete-audit-log", "kube-apiserver has no audit log or keeps too little of it (--audit-log-maxage)")
encryption_at_rest = _rule_of("missing-encryption-at-rest", "kube-apiserver stores Secrets unencrypted (--encryption-provider-config)")
api_server_tls = _rule_of("insecure-api-server-tls", "kube-apiserver lacks TLS certificates or CA files for kubelets, etcd or clients")
etcd_tls = _rule_of("insecure-etcd-tls", "etcd does not require TLS certificates from clients or peers (--client-cert-auth)")
kubelet_tls = _rule_of("insecure-kubelet-tls", "kubelet has no client CA or serving certificate (--client-ca-file, --tls-cert-file)")
certificate_rotation = _rule_of("disabled-certificate-rotation", "kubelet certificate rotation is disabled (--rotate-certificates)")
weak_cipher = _rule_of("weak-cipher", "Component accepts weak TLS ciphers (--tls-cipher-suites)")
token_signing = _rule_of(
    "insecure-service-account-tokens", "Insecure ServiceAccount token flags (--service-account-key-file, --root-ca-file)"
)
local_address = _rule_of("non-local-bind-address", "kube-scheduler or kube-controller-manager binds to all addresses (--bind-address)")
component_bound = _rule_of(
    "missing-component-limit", "Component has no timeout or limit (--request-timeout, --terminated-pod-gc-threshold)"
)
kubelet_host = _rule_of("unsafe-kubelet-host-settings", "kubelet has unsafe host settings (--protect-kernel-defaults, --hostname-override)")

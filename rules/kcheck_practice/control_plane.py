"""How the components of a control plane are started, in static pods and wherever else their command lines stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, NamedTuple

from kcheck.api import Container, Node, Problem, Rule, rule
from kcheck_practice.flags import APISERVER, APISERVER_FILES, ETCD, FILES, FLAGS, KUBELET, MANAGER, SCHEDULER, Flag

_COMPONENTS = frozenset((APISERVER, MANAGER, SCHEDULER, ETCD, KUBELET))
_GROUPS = ("control-plane",)
_PLUGINS = {
    "NodeRestriction": "lets a kubelet change what is not its node's",
    "AlwaysPullImages": "lets pods use images that they may not pull",
    "EventRateLimit": "can be flooded with events",
    "DenyServiceExternalIPs": "lets Services take addresses that are not theirs",
}


class CommandLine(NamedTuple):
    """A component's start. `flags`: values by name, with the place of each; `at`: where a flag that is missing would be."""

    component: str
    flags: dict[str, tuple[str, Node]]
    at: Node


def command_line(container: Container) -> CommandLine | None:
    """The start of the component that a container runs, None where it runs none."""
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


def _judged(container: Container, flags: tuple[Flag, ...]) -> Iterator[Problem]:
    line = command_line(container)
    for flag in flags if line is not None else ():
        if line is None or flag.component != line.component:
            continue
        value, node = line.flags.get(flag.name, (None, line.at))
        if not flag.right(value) and not (value is None and _may_be_elsewhere(flag, line)):
            yield Problem(node, f"this {flag.component} {flag.wrong}", help=flag.write, at="key" if value is None else "value")


def _may_be_elsewhere(flag: Flag, line: CommandLine) -> bool:
    """Whether a file that the command line names may have what it lacks."""
    if flag.component == APISERVER:
        return APISERVER_FILES.get(flag.name, "-") in line.flags
    file, setting = FILES.get(flag.component, ("-", ""))
    return file in line.flags and setting in ("", flag.name)


def _rule_of(id: str, title: str) -> Rule:
    """A rule of all flags in the table that are told under its id."""
    flags = tuple(flag for flag in FLAGS if flag.rule == id)

    def look(container: Container) -> Iterator[Problem]:
        yield from _judged(container, flags)

    return rule(id, title, groups=_GROUPS, default=False)(look)


@rule("admission-plugins", "an API server without the admission plugins that guard it", groups=_GROUPS, default=False)
def admission_plugins(
    container: Container,
    *,
    wanted: Annotated[tuple[str, ...], "plugins that must be in --enable-admission-plugins"] = tuple(_PLUGINS),
) -> Iterator[Problem]:
    """Those that must be on and are not, those that must not be on or off, and those that no version has any more."""
    yield from _judged(container, tuple(flag for flag in FLAGS if flag.rule == "admission-plugins"))
    line = command_line(container)
    if line is None or line.component != APISERVER:
        return
    value, node = line.flags.get("enable-admission-plugins", ("", line.at))
    for name in wanted:
        if name not in value.split(","):
            harm = _PLUGINS.get(name, "has no such plugin on")
            yield Problem(
                node, f"this {APISERVER} {harm}", help=f"add {name} to --enable-admission-plugins", at="value" if value else "key"
            )


anonymous_requests = _rule_of("anonymous-requests", "a component that answers anonymous requests")
static_credentials = _rule_of("static-credentials", "an API server that reads credentials from a file")
authorization_mode = _rule_of("authorization-mode", "a component that allows more than RBAC does")
insecure_port = _rule_of("insecure-port", "a component with a port that asks nobody who he is")
profiling_endpoint = _rule_of("profiling-endpoint", "a component that serves profiles of itself")
audit_log = _rule_of("audit-log", "an API server that keeps too few records")
encryption_at_rest = _rule_of("encryption-at-rest", "an API server that stores Secrets as they are")
api_server_tls = _rule_of("api-server-tls", "an API server that does not know whom it speaks with")
etcd_tls = _rule_of("etcd-tls", "an etcd that does not know whom it speaks with")
kubelet_tls = _rule_of("kubelet-tls", "a kubelet that does not know whom it speaks with")
certificate_rotation = _rule_of("certificate-rotation", "a kubelet whose certificates run out")
weak_cipher = _rule_of("weak-cipher", "a component that takes weak ciphers")
token_signing = _rule_of("token-signing", "tokens of accounts that are badly signed or checked")
local_address = _rule_of("local-address", "a component that listens to more than its node")
component_bound = _rule_of("component-bound", "a component without a bound on what it keeps or waits for")
kubelet_host = _rule_of("kubelet-host", "a kubelet at odds with its node")

"""How the kubelet asks containers for their state. Source: the documentation's pages "Liveness, Readiness, and Startup Probes" and
"Pod Security Standards".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import ERROR, INFO, Container, Node, Problem, nearest, rule
from kcheck_practice._support.security_contexts import is_whole, named

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS = ("httpGet", "tcpSocket", "grpc")
_HOSTS_COUNT_SINCE = 34


@rule("missing-liveness-probe", "Container has no livenessProbe", groups=("probes",), default=False, severity=INFO)
def missing_liveness_probe(container: Container) -> Iterator[Problem]:
    """Not asked of init containers that end, of ephemeral ones and of Jobs."""
    node = container["livenessProbe"]
    if not node and _serves(container):
        message = f"nothing tells when container {container.name} hangs"
        yield Problem(named(container), message, help="add a livenessProbe that fails only if a restart helps", field=node)


@rule("missing-readiness-probe", "Container has no readinessProbe", groups=("probes", "reliability"), default=False)
def missing_readiness_probe(container: Container) -> Iterator[Problem]:
    """Not asked of init containers that end, of ephemeral ones and of Jobs."""
    node = container["readinessProbe"]
    if not node and _serves(container):
        message = f"Services send traffic to container {container.name} as soon as it runs"
        yield Problem(named(container), message, help="add a readinessProbe", field=node)


@rule("identical-probes", "livenessProbe and readinessProbe of a container are identical", groups=("probes", "reliability"), default=False)
def identical_probes(container: Container) -> Iterator[Problem]:
    """The same question, whatever the times and thresholds; then a container that is busy is killed instead of left alone."""
    live, ready = container["livenessProbe"], container["readinessProbe"]
    asked = _question(live)
    if asked and asked == _question(ready):
        message = f"liveness of {container.name} asks what readiness asks, so that a busy one is killed"
        yield Problem(live, message, help="ask what a restart mends", at="key")


@rule(
    "unknown-probe-port-name",
    "Probe references a port name that its container does not have",
    severity=ERROR,
    groups=("probes", "reliability"),
    fields=("livenessProbe", "readinessProbe", "startupProbe"),
)
def probe_port_name(container: Container) -> Iterator[Problem]:
    """A name means a port of the same container; where there is none the probe fails for ever."""
    names = [port["name"].text for port in container["ports"] if port["name"].text]
    for _, handler in _handlers(container):
        node = handler["port"]
        # Digits in quotes are refused by the server.
        if not node.text or node.text in names or node.text.isdigit() or not is_whole(container):
            continue
        near = nearest(node.text, names)
        hint = f"did you mean {near}?" if near else f"use one of {', '.join(names)}" if names else "name one in its ports"
        yield Problem(node, f"container {container.name} has no port {node.text}, so that the probe always fails", help=hint)


@rule(
    "undeclared-probe-port",
    "Probe uses a port that its container does not declare",
    severity=INFO,
    groups=("probes", "style"),
    default=False,
)
def undeclared_probe_port(container: Container) -> Iterator[Problem]:
    """A number need not be declared to be probed; a reader looks for it in vain."""
    declared = [port["containerPort"].integer for port in container["ports"]]
    if not is_whole(container):
        return
    for _, handler in _handlers(container):
        node = handler["port"]
        if node.integer and node.integer not in declared:
            have = ", ".join(str(each) for each in declared) or "none"
            yield Problem(
                node, f"container {container.name} does not declare port {node.integer} (it has {have})", help="declare or correct it"
            )


@rule(
    "numeric-probe-port",
    "Probe uses a port number although the container port has a name",
    severity=INFO,
    groups=("probes", "style"),
    default=False,
)
def probe_port_number(container: Container) -> Iterator[Problem]:
    """Where the container has a name for that port."""
    names = {port["containerPort"].integer: port["name"].text for port in container["ports"] if port["name"].text}
    for kind, handler in _handlers(container):
        node = handler["port"]
        name = names.get(node.integer)
        if kind != "grpc" and name:
            yield Problem(node, f"port {node.integer} has the name {name}", help="write that, so that the number stands in one place")


@rule(
    "probe-host",
    "Probe or lifecycle hook sets host",
    default=False,
    groups=("security", "probes", "pod-security-baseline", "pod-security-restricted"),
)
def probe_host(container: Container) -> Iterator[Problem]:
    """The kubelet asks it from the node, wherever it is. In the Pod Security Standards since Kubernetes 1.34."""
    if container.resource.is_before(_HOSTS_COUNT_SINCE):
        return
    actions = [container[name] for name in _PROBES] + [container["lifecycle"][name] for name in ("postStart", "preStop")]
    for action in actions:
        for handler in (action["httpGet"], action["tcpSocket"]):
            node = handler["host"]
            if node.text:
                yield Problem(node, f"the kubelet asks host {node.text} and not container {container.name}", help="take host away")


@rule(
    "unsuitable-probe-command",
    "Probe runs an expensive or unreliable exec command (ps, ls, jcmd)",
    severity=INFO,
    groups=("probes",),
    default=False,
)
def probe_command(
    container: Container,
    *,
    deny: Annotated[tuple[str, ...], "programs that no probe may run"] = ("jcmd", "ls", "ps"),
) -> Iterator[Problem]:
    """As the program itself, or as a word of a shell's script."""
    for name in _PROBES:
        for node in container[name]["exec"]["command"]:
            words = node.text.replace(";", " ").replace("|", " ").replace("&", " ").split()
            found = next((word for word in words if word.rpartition("/")[2] in deny), None)
            if found is not None:
                yield Problem(
                    node, f"the {name} runs {found}, which starts every few seconds and tells little", help="ask the program itself"
                )
                break


def _serves(container: Container) -> bool:
    """Whether a probe would mean something: the container stays, and so does its pod, for all that is known."""
    return container.runs_on and container.pod.lasts is True and is_whole(container)


def _handlers(container: Container) -> Iterator[tuple[str, Node]]:
    """How probes ask for ports, and what of."""
    for name in _PROBES:
        for kind in _HANDLERS:
            handler = container[name][kind]
            if handler.is_map:
                yield kind, handler


def _question(probe: Node) -> dict[str, object]:
    """What a probe asks, without its times."""
    asked: dict[str, object] = {kind: probe[kind].plain() for kind in ("exec", *_HANDLERS) if probe[kind]}
    return asked

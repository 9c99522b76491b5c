"""Rules for probes and lifecycle hooks of containers.

Sources: the Kubernetes documentation pages "Liveness, Readiness, and Startup Probes" and "Pod Security Standards".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from kcheck.api import ERROR, INFO, Container, Node, Problem, did_you_mean, nearest, remove, rule
from kcheck_practice._support.security_contexts import is_whole, named
from kcheck_practice._support.titles import container_title

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS = ("httpGet", "tcpSocket", "grpc")
_HOST_PROBES_SINCE = 34
"""Minor version whose Pod Security Standards first contain the control "Host Probes / Lifecycle Hooks"."""


@rule("missing-liveness-probe", "Container has no livenessProbe", groups=("probes",), default=False, severity=INFO)
def missing_liveness_probe(container: Container) -> Iterator[Problem]:
    """Yields a Problem for a long-running container without livenessProbe, so not for init and ephemeral containers and Jobs."""
    node = container["livenessProbe"]
    if not node and _is_long_running(container):
        message = f"{container_title(container)} has no livenessProbe, so it is not restarted when it hangs"
        yield Problem(named(container), message, help="add a livenessProbe that fails only when a restart helps", field=node)


@rule("missing-readiness-probe", "Container has no readinessProbe", groups=("probes", "reliability"), default=False)
def missing_readiness_probe(container: Container) -> Iterator[Problem]:
    """Yields a Problem for a long-running container without readinessProbe; the same containers are skipped."""
    node = container["readinessProbe"]
    if not node and _is_long_running(container):
        message = f"{container_title(container)} has no readinessProbe, so it receives traffic as soon as it starts"
        yield Problem(named(container), message, help="add a readinessProbe", field=node)


@rule("identical-probes", "livenessProbe and readinessProbe of a container are identical", groups=("probes", "reliability"), default=False)
def identical_probes(container: Container) -> Iterator[Problem]:
    """Yields a Problem for equal handlers, whatever the periods and thresholds: a container that is only overloaded is restarted."""
    live, ready = container["livenessProbe"], container["readinessProbe"]
    checks = _checks(live)
    if checks and checks == _checks(ready):
        message = f"livenessProbe and readinessProbe of {container_title(container)} are identical, so an overloaded container is restarted"
        yield Problem(live, message, help="make livenessProbe fail only when a restart helps", at="key")


@rule(
    "unknown-probe-port-name",
    "Probe references a port name that its container does not have",
    severity=ERROR,
    groups=("probes", "reliability"),
    fields=("livenessProbe", "readinessProbe", "startupProbe"),
    fixable=True,
)
def probe_port_name(container: Container) -> Iterator[Problem]:
    """Yields a Problem for each port name that no port of the same container has: the API server accepts it and the probe always fails."""
    names = [port["name"].text for port in container["ports"] if port["name"].text]
    for path, handler in _handlers(container):
        node = handler["port"]
        # The API server rejects quoted digits.
        if not node.text or node.text in names or node.text.isdigit() or not is_whole(container):
            continue
        near = nearest(node.text, names)
        listed = ", ".join(f'"{name}"' for name in names)
        hint = (
            f"use one of {listed}"
            if len(names) > 1
            else f"use {listed}"
            if names
            else "use the port number, or name a port of the container"
        )
        message = f'{path}.port "{node.text}" is not a port name of {container_title(container)}, so the probe always fails'
        yield Problem(node, message, help=did_you_mean(near, hint))


@rule(
    "undeclared-probe-port",
    "Probe uses a port that its container does not declare",
    severity=INFO,
    groups=("probes", "style"),
    default=False,
)
def undeclared_probe_port(container: Container) -> Iterator[Problem]:
    """Yields a Problem for each port number that the container does not list in ports; the probe works without it."""
    declared = [port["containerPort"].integer for port in container["ports"]]
    if not is_whole(container):
        return
    for path, handler in _handlers(container):
        node = handler["port"]
        if node.integer and node.integer not in declared:
            listed = ", ".join(str(each) for each in declared)
            hint = f"add containerPort: {node.integer} to ports"
            message = f"{path}.port: {node.integer} is not listed in ports of {container_title(container)}"
            yield Problem(node, message, help=f"{hint}, or use a listed port ({listed})" if listed else hint)


@rule(
    "numeric-probe-port",
    "Probe uses a port number although the container port has a name",
    severity=INFO,
    groups=("probes", "style"),
    default=False,
)
def probe_port_number(container: Container) -> Iterator[Problem]:
    """Yields a Problem for each port number to which the container gives a name. Port names are not allowed in grpc probes."""
    names = {port["containerPort"].integer: port["name"].text for port in container["ports"] if port["name"].text}
    for path, handler in _handlers(container):
        node = handler["port"]
        name = names.get(node.integer)
        if name and not path.endswith(".grpc"):
            message = f'{path}.port: {node.integer} repeats the number of port "{name}"'
            yield Problem(node, message, help=f"set {path}.port to {name}")


@rule(
    "probe-host",
    "Probe or lifecycle hook sets host",
    default=False,
    groups=("security", "probes", "pod-security-baseline", "pod-security-restricted"),
    fixable=True,
)
def probe_host(container: Container) -> Iterator[Problem]:
    """Yields a Problem for each host: the kubelet connects to it from the node. In the Pod Security Standards since Kubernetes 1.34."""
    if container.resource.is_before(_HOST_PROBES_SINCE):
        return
    actions = {name: container[name] for name in _PROBES}
    actions.update({f"lifecycle.{name}": container["lifecycle"][name] for name in ("postStart", "preStop")})
    for name, action in actions.items():
        for kind in ("httpGet", "tcpSocket"):
            node = action[kind]["host"]
            if node.text:
                message = f'{name}.{kind}.host makes the kubelet connect to "{node.text}" instead of {container_title(container)}'
                yield Problem(node, message, help=remove("host", safe=False))


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
    deny: Annotated[tuple[str, ...], "programs that probes must not run"] = ("jcmd", "ls", "ps"),
) -> Iterator[Problem]:
    """Yields a Problem for each probe that runs a program in `deny`, as the command itself or as a word of a shell script."""
    for name in _PROBES:
        for node in container[name]["exec"]["command"]:
            words = node.text.replace(";", " ").replace("|", " ").replace("&", " ").split()
            found = next((word for word in words if word.rpartition("/")[2] in deny), None)
            if found is not None:
                message = f'{name} of {container_title(container)} runs "{found}", which is not a suitable health check'
                yield Problem(node, message, help="use httpGet, tcpSocket, grpc or a check command of the application")
                break


def _is_long_running(container: Container) -> bool:
    """Whether a container, and as far as is known its Pod, run until they are stopped."""
    return container.runs_on and container.pod.runs_forever is True and is_whole(container)


def _handlers(container: Container) -> Iterator[tuple[str, Node]]:
    """Yields the path of each handler with a port, such as readinessProbe.httpGet, and the handler."""
    for name in _PROBES:
        for kind in _HANDLERS:
            handler = container[name][kind]
            if handler.is_map:
                yield f"{name}.{kind}", handler


def _checks(probe: Node) -> dict[str, object]:
    """The handlers of a probe as plain data, without periods and thresholds."""
    checks: dict[str, object] = {kind: probe[kind].plain() for kind in ("exec", *_HANDLERS) if probe[kind]}
    return checks

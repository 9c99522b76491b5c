"""Probes and lifecycle hooks of containers.

Source: validateProbe, validateHandler, validateLifecycle and the functions of each action (pkg/apis/core/validation/validation.go),
SetDefaults_Probe and SetDefaults_HTTPGetAction (pkg/apis/core/v1/defaults.go).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kcheck.api import (
    Complaint,
    Constraint,
    Container,
    Node,
    Problem,
    Suggestion,
    declare,
    enumeration,
    fields,
    help_of,
    names,
    ports,
    remove,
    validator,
)
from kcheck_spec.objects.common_constraints import non_negative, positive, require

probe = declare("invalid-probe", "Container has an invalid livenessProbe, readinessProbe or startupProbe", fixable=True)
lifecycle_hook = declare("invalid-lifecycle-hook", "Container has an invalid lifecycle hook (postStart, preStop)")

PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
HOOKS = ("postStart", "preStop")
# In the order of the API server: the first one is used.
_OF_PROBES = ("exec", "httpGet", "tcpSocket", "grpc")
_OF_HOOKS = ("exec", "httpGet", "tcpSocket", "sleep")
_DEFAULT_GRACE = 30
_ZERO = "PodLifecycleSleepActionAllowZero"

# The API server does not check stopSignal on its own.
_unread = Constraint(lifecycle_hook, lambda node: None, closed=True)

# The fields of an action are checked below, because the API server does not check a second action.
tables = [
    fields(
        "core/v1 Probe",
        initialDelaySeconds=non_negative,
        timeoutSeconds=non_negative,
        periodSeconds=non_negative,
        successThreshold=non_negative,
        failureThreshold=non_negative,
        terminationGracePeriodSeconds=positive,
    ),
    fields(("core/v1 HTTPGetAction", "core/v1 TCPSocketAction", "core/v1 GRPCAction"), port=()),
    fields("core/v1 HTTPHeader", name=(), value=()),
    fields("core/v1 SleepAction", seconds=()),
    fields("core/v1 Lifecycle", stopSignal=_unread),
]


@validator("core/v1 Container", rule=probe, fields=("livenessProbe", "readinessProbe", "startupProbe"))
def probes_can_be_run(container: Container) -> Iterator[Problem]:
    """Probes have one action. Some fields are only for some probes."""
    if not container.runs_on:
        return
    for name in PROBES:
        node = container[name]
        if not node:
            continue
        yield from _actions(node, _OF_PROBES, 0)
        threshold = node["successThreshold"]
        if name != "readinessProbe" and threshold.integer not in (None, 0, 1):
            message = f"successThreshold: {threshold.value} is not allowed in {name}, which requires 1"
            yield Problem(threshold, message, help=Suggestion("use successThreshold: 1", "1", safe=True), reason="Invalid")
        grace = node["terminationGracePeriodSeconds"]
        if name == "readinessProbe" and grace:
            message = "terminationGracePeriodSeconds is not allowed in readinessProbe"
            yield Problem(grace, message, help=remove("terminationGracePeriodSeconds"), reason="Invalid", at="key")


@validator("core/v1 Container", rule=lifecycle_hook, fields="lifecycle")
def hooks_can_be_run(container: Container) -> Iterator[Problem]:
    """Lifecycle hooks have one action and must not sleep longer than the grace period of the Pod."""
    if not container.runs_on:
        return
    for name in HOOKS:
        node = container["lifecycle"][name]
        if node:
            grace = container.pod["terminationGracePeriodSeconds"].integer
            if grace is None:
                grace = _DEFAULT_GRACE
            elif grace < 0 and not container.pod.is_template:
                # The API server sets a negative grace period of a Pod to 1.
                grace = 1
            yield from _actions(node, _OF_HOOKS, grace)
            if node["sleep"] and not node["sleep"]["seconds"].integer and not container.resource.enables(_ZERO):
                message = "sleep.seconds: 0 requires Kubernetes 1.33"
                yield Problem(node["sleep"]["seconds"], message, help="use 1 or more", reason="Invalid", field=node["sleep"])


def _actions(node: Node, known: tuple[str, ...], grace: int) -> Iterator[Problem]:
    """What is wrong with the actions of a probe or hook: the first one is checked, further ones are rejected."""
    first = ""
    for name in known:
        action = node[name]
        if not action:
            continue
        if first:
            yield Problem(action, f"{node.name} has both {first} and {name}", help="remove one of the two", reason="Forbidden", at="key")
            continue
        first = name
        yield from _ACTIONS[name](action, grace)
    if not first:
        yield require(node, Complaint(f"{node.name} has no action", f"add {enumeration(known, 'or')}"))


def _exec(action: Node, grace: int) -> Iterator[Problem]:
    if not len(action["command"]):
        yield require(action["command"], Complaint("exec has no command", "add command as a list of strings"))


def _http_get(action: Node, grace: int) -> Iterator[Problem]:
    yield from _port(action["port"])
    headers = action["httpHeaders"]
    for header in headers:
        name = header["name"]
        wrong = names.http_header(name.text) if name.text else Complaint("name of the HTTP header is missing", "add name")
        if wrong:
            yield Problem(name, wrong, reason="Invalid", field=headers)


def _tcp_socket(action: Node, grace: int) -> Iterator[Problem]:
    yield from _port(action["port"])


def _grpc(action: Node, grace: int) -> Iterator[Problem]:
    yield from _port(action["port"])


def _sleep(action: Node, grace: int) -> Iterator[Problem]:
    seconds = action["seconds"].integer or 0
    if seconds < 0 or seconds > grace:
        limit = f"exceeds terminationGracePeriodSeconds ({grace})" if seconds > grace else "is negative"
        message = f"sleep.seconds: {seconds} {limit}"
        yield Problem(action["seconds"], message, help=f"use a value from 0 to {grace}", reason="Invalid", field=action)


def _port(port: Node) -> Iterator[Problem]:
    """A port by number or name. The API server reads a missing one as 0, which is invalid."""
    value = port.value
    if not port:
        action = port.parent.name if port.parent is not None else ""
        yield Problem(port, f"{action} has no port", help="add port", reason="Invalid")
    elif value.__class__ is str or value.__class__ is int:
        wrong = ports.reference(value)
        if wrong:
            help = help_of(wrong) or "use a number from 1 to 65535, or the name of a port of the container"
            yield Problem(port, wrong, help=help, reason="Invalid")


_ACTIONS: dict[str, Callable[[Node, int], Iterator[Problem]]] = {
    "exec": _exec,
    "httpGet": _http_get,
    "tcpSocket": _tcp_socket,
    "grpc": _grpc,
    "sleep": _sleep,
}

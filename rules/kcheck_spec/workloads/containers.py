"""Containers of all lists of a Pod: names, images and restart policies.

Source: validateContainers, validateInitContainers, validateEphemeralContainers and validateContainerRestartPolicy of
pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Container, Node, Pod, Problem, declare, did_you_mean, fields, nearest, remove, validator
from kcheck_spec.objects.common_constraints import dns_label, not_supported, one_of, require, required

container_name = declare("duplicate-container-name", "Container name is used twice, or targetContainerName does not exist", fixable=True)
image_whitespace = declare("image-whitespace", "Container image starts or ends with whitespace")
container_kind = declare("unsupported-container-field", "Field is not allowed in initContainers or ephemeralContainers", fixable=True)
container_restart = declare(
    "invalid-container-restart-policy", "Container has an invalid restartPolicy or restartPolicyRules", fixable=True
)

CONTAINERS = ("core/v1 Container", "core/v1 EphemeralContainer")
LISTS = ("initContainers", "containers", "ephemeralContainers")

_RUNNING = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
_NOT_EPHEMERAL = ("ports", "resources", *_RUNNING, "resizePolicy", "restartPolicy", "restartPolicyRules")
_ACTIONS = ("Restart", "RestartAllContainers")
_MAX_RULES = 20
_MAX_EXIT_CODES = 255

# The API server reports absent fields of a restart rule as unsupported values, not as missing ones.
tables = [
    fields(
        CONTAINERS,
        name=(required, dns_label),
        image=required,
        restartPolicy=one_of("Always", "OnFailure", "Never", of=container_restart, empty=False),
    ),
    fields("core/v1 ContainerRestartRule", action=()),
    fields("core/v1 ContainerRestartRuleOnExitCodes", operator=()),
]


def containers(spec: Node) -> Iterator[Node]:
    """All containers of a Pod spec in the order of the API server: init containers first. A null item is an empty container."""
    for name in LISTS:
        yield from spec[name]


def title(container: Node, role: str = "") -> str:
    """How a message names a container: `container "web"`, `init container "web"`, or `containers[0]` for one without a name."""
    name = container["name"].text
    owner = container.parent
    return f'{role} container "{name}"'.lstrip() if name or owner is None else f"{owner.name}[{container.key}]"


@validator("core/v1 PodSpec", rule=container_name)
def container_names_differ(pod: Pod) -> Iterator[Problem]:
    """Container names that occur twice, and targets of ephemeral containers that are not containers or init containers of the Pod."""
    seen: set[str] = set()
    for listed in ("containers", "initContainers", "ephemeralContainers"):
        others = set(seen)
        for container in pod[listed]:
            name = container["name"].text
            target = container["targetContainerName"]
            if listed == "ephemeralContainers" and target.text and target.text not in others:
                message = f'targetContainerName "{target.text}" does not match any container of the Pod'
                yield Problem(target, message, help=_target_hint(target.text, others), reason="NotFound")
            if not name:
                continue
            if name in seen:
                message = f'container name "{name}" is used twice in the Pod'
                yield Problem(container["name"], message, help="use a different name for each container", reason="Duplicate")
            seen.add(name)


def _target_hint(target: str, names: set[str]) -> str:
    near = nearest(target, sorted(names))
    if near:
        return did_you_mean(near)
    return f"use {', '.join(sorted(names))}" if len(names) == 1 else f"use one of {', '.join(sorted(names))}" if names else ""


@validator(CONTAINERS, rule=image_whitespace, fields="image")
def image_has_no_whitespace(container: Container) -> Iterator[Problem]:
    """Images with whitespace around them. Templates may have one, because some tools replace such images later."""
    image = container["image"]
    bare = image.text.strip()
    if bare != image.text and (container.role == "ephemeral" or not container.pod.is_template):
        hint = f"use {bare}" if bare else "use the name of an image"
        yield Problem(image, f'image "{image.text}" starts or ends with whitespace', help=hint, reason="Invalid")


@validator("core/v1 PodSpec", rule=container_kind, fields="ephemeralContainers")
def no_ephemeral_containers(pod: Pod) -> Iterator[Problem]:
    """Ephemeral containers are only added to running Pods, through a separate subresource."""
    listed = pod["ephemeralContainers"]
    if len(listed):
        message = "ephemeralContainers can only be added to a running Pod"
        yield Problem(listed, message, help="remove ephemeralContainers and use kubectl debug", reason="Forbidden", at="key")


@validator(CONTAINERS, rule=container_kind)
def settings_fit_the_kind(container: Container) -> Iterator[Problem]:
    """Fields that init containers and ephemeral containers do not support."""
    if container.runs_on:
        return
    if container.role == "init":
        for name in _RUNNING:
            if container[name]:
                message = f"{name} is not allowed in {title(container.node, 'init')}"
                hint = f"remove {name}, or set restartPolicy: Always to run the container as a sidecar"
                yield Problem(container[name], message, help=hint, reason="Forbidden", at="key")
    else:
        for name in _NOT_EPHEMERAL:
            setting = container[name]
            if setting and (name != "resources" or any(setting)):
                message = f"{name} is not allowed in {title(container.node, 'ephemeral')}"
                yield Problem(setting, message, help=remove(name), reason="Forbidden", at="key")


@validator("core/v1 Container", rule=container_kind, fields="restartPolicy")
def restart_policy_fits_older_versions(container: Container) -> Iterator[Problem]:
    """Before 1.35 only init containers had a restartPolicy, with the only value Always (sidecars)."""
    policy = container["restartPolicy"]
    if policy and container.resource.is_before(35) and not container.is_sidecar:
        if container.role == "init":
            message = f'restartPolicy "{policy.text}" of {title(container.node, "init")} requires Kubernetes 1.35'
            hint = "remove restartPolicy, or use Always to run the container as a sidecar"
            yield Problem(policy, message, help=hint, reason="NotSupported")
        else:
            message = f"restartPolicy of {title(container.node)} requires Kubernetes 1.35"
            yield Problem(policy, message, help=remove("restartPolicy"), reason="Forbidden", at="key")


@validator("core/v1 Container", rule=container_restart, fields="restartPolicyRules")
def restart_rules_are_complete(container: Container) -> Iterator[Problem]:
    """Restart rules are exceptions from the restartPolicy of the same container, which must be set."""
    rules = container["restartPolicyRules"]
    if not len(rules):
        return
    if not container["restartPolicy"]:
        message = f"restartPolicyRules requires restartPolicy in {title(container.node)}"
        yield Problem(container["restartPolicy"], message, help="add restartPolicy, for example restartPolicy: Never", reason="Required")
    if len(rules) > _MAX_RULES:
        message = f"restartPolicyRules has {len(rules)} entries, but the maximum is {_MAX_RULES}"
        yield Problem(rules, message, reason="TooMany", at="key")
    for rule in rules:
        yield from _restart_rule(rule)


def _restart_rule(rule: Node) -> Iterator[Problem]:
    if rule["action"].text not in _ACTIONS:
        yield not_supported(rule["action"], _ACTIONS)
    codes = rule["exitCodes"]
    if not codes:
        yield require(codes, Complaint("exitCodes of the restart rule is missing", "add exitCodes with operator and values"))
        return
    if codes["operator"].text not in ("In", "NotIn"):
        yield not_supported(codes["operator"], ("In", "NotIn"))
    values = codes["values"]
    if len(values) > _MAX_EXIT_CODES:
        message = f"exitCodes.values has {len(values)} entries, but the maximum is {_MAX_EXIT_CODES}"
        yield Problem(values, message, reason="TooMany", at="key")

"""Containers of a pod, whatever list they stand in: names, images, and how they are restarted.

Source: validateContainers, validateInitContainers, validateEphemeralContainers and validateContainerRestartPolicy of
pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Container, Node, Pod, Problem, declare, fields, validator
from kcheck_spec.objects.common_constraints import dns_label, not_supported, one_of, require, required

container_name = declare(
    "duplicate-container-name",
    "Container name is used twice, or targetContainerName does not exist",
)
image_blank = declare("image-whitespace", "Container image starts or ends with whitespace")
container_kind = declare("unsupported-container-field", "Field is not allowed in initContainers or ephemeralContainers")
container_restart = declare("invalid-container-restart-policy", "Container has an invalid restartPolicy or restartPolicyRules")

CONTAINERS = ("core/v1 Container", "core/v1 EphemeralContainer")
LISTS = ("initContainers", "containers", "ephemeralContainers")

_RUNNING = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
_NOT_EPHEMERAL = ("ports", "resources", *_RUNNING, "resizePolicy", "restartPolicy", "restartPolicyRules")
_ACTIONS = ("Restart", "RestartAllContainers")
_MOST_RULES = 20
_MOST_EXIT_CODES = 255

# The API server's own lists of required fields do not fit here: a rule without its parts is a wrong word to it, not a missing one.
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
    """All containers of a pod spec in the order of the server: init containers first. A null among them is an empty container."""
    for name in LISTS:
        yield from spec[name]


@validator("core/v1 PodSpec", rule=container_name)
def container_names_differ(pod: Pod) -> Iterator[Problem]:
    """No two containers share a name, and an ephemeral one targets a container that is none itself."""
    seen: set[str] = set()
    for listed in ("containers", "initContainers", "ephemeralContainers"):
        others = set(seen)
        for container in pod[listed]:
            name = container["name"].text
            target = container["targetContainerName"]
            if listed == "ephemeralContainers" and target.text and target.text not in others:
                yield Problem(
                    target, f"this pod has no container {target.text} to target", help=f"write one of {_listed(others)}", reason="NotFound"
                )
            if not name:
                continue
            if name in seen:
                message = f"a container of this pod is called {name} already"
                yield Problem(container["name"], message, help="give every container a name of its own", reason="Duplicate")
            seen.add(name)


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "its containers"


@validator(CONTAINERS, rule=image_blank, fields="image")
def image_has_no_blanks(container: Container) -> Iterator[Problem]:
    """Templates may have an image with blanks, which some tools replace later; a pod may not."""
    image = container["image"]
    bare = image.text.strip()
    if bare != image.text and (container.role == "ephemeral" or not container.pod.is_template):
        hint = f"write {bare}" if bare else "name an image"
        yield Problem(image, f"{image.text!r} begins or ends with a blank", help=hint, reason="Invalid")


@validator("core/v1 PodSpec", rule=container_kind, fields="ephemeralContainers")
def no_ephemeral_containers(pod: Pod) -> Iterator[Problem]:
    """Ephemeral containers come with an update of a running pod only, through a subresource of their own."""
    listed = pod["ephemeralContainers"]
    if len(listed):
        message = "ephemeral containers can be added to a running pod only (kubectl debug)"
        yield Problem(listed, message, help="take them away, or move them to containers", reason="Forbidden", at="key")


@validator(CONTAINERS, rule=container_kind)
def settings_fit_the_kind(container: Container) -> Iterator[Problem]:
    """What needs a container that keeps running is not for init containers, and still less for ephemeral ones."""
    if container.runs_on:
        return
    if container.role == "init":
        for name in _RUNNING:
            if container[name]:
                message = f"an init container ends before the pod starts, so it has no {name}"
                yield Problem(container[name], message, help="take it away, or set restartPolicy: Always", reason="Forbidden", at="key")
    else:
        for name in _NOT_EPHEMERAL:
            setting = container[name]
            if setting and (name != "resources" or any(setting)):
                yield Problem(setting, f"an ephemeral container has no {name}", help="take it away", reason="Forbidden", at="key")


@validator("core/v1 Container", rule=container_kind, fields="restartPolicy")
def restart_policy_fits_older_versions(container: Container) -> Iterator[Problem]:
    """Before 1.35 a container had a policy of its own to be a sidecar, and for nothing else."""
    policy = container["restartPolicy"]
    if policy and container.resource.is_before(35) and not container.is_sidecar:
        if container.role == "init":
            yield Problem(
                policy, f"before Kubernetes 1.35 an init container could not have {policy.text}", help="write Always", reason="NotSupported"
            )
        else:
            message = "before Kubernetes 1.35 only init containers could have a restartPolicy"
            yield Problem(policy, message, help="take it away", reason="Forbidden", at="key")


@validator("core/v1 Container", rule=container_restart, fields="restartPolicyRules")
def restart_rules_are_complete(container: Container) -> Iterator[Problem]:
    """Rules by exit code are exceptions from a policy that is written beside them."""
    rules = container["restartPolicyRules"]
    if not len(rules):
        return
    if not container["restartPolicy"]:
        message = "restartPolicyRules are exceptions from a restartPolicy of this container"
        yield Problem(container["restartPolicy"], message, help="add one, such as restartPolicy: Never", reason="Required")
    if len(rules) > _MOST_RULES:
        yield Problem(rules, f"{len(rules)} restart rules are too many", help=f"write {_MOST_RULES} at most", reason="TooMany", at="key")
    for rule in rules:
        yield from _restart_rule(rule)


def _restart_rule(rule: Node) -> Iterator[Problem]:
    if rule["action"].text not in _ACTIONS:
        yield not_supported(rule["action"], _ACTIONS)
    codes = rule["exitCodes"]
    if not codes:
        yield require(codes, Complaint("a restart rule says which exit codes it is for", "add exitCodes with operator and values"))
        return
    if codes["operator"].text not in ("In", "NotIn"):
        yield not_supported(codes["operator"], ("In", "NotIn"))
    values = codes["values"]
    if len(values) > _MOST_EXIT_CODES:
        yield Problem(
            values, f"{len(values)} exit codes are too many", help=f"write {_MOST_EXIT_CODES} at most", reason="TooMany", at="key"
        )

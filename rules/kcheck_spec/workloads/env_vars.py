"""Environment variables of containers and where their values come from.

Source: ValidateEnv, ValidateEnvFrom, validateEnvVarValueFrom (pkg/apis/core/validation/validation.go) and the warning about hidden
variables of pkg/api/pod/warnings.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import WARNING, Complaint, Constraint, Container, Node, Pod, Problem, declare, fields, help_of, names, validator
from kcheck_spec._support import file_paths as paths
from kcheck_spec.objects.common_constraints import dns_label, required, text
from kcheck_spec.storage.volumes import claimed_names, is_empty_dir
from kcheck_spec.workloads.containers import CONTAINERS, containers
from kcheck_spec.workloads.field_refs import field_problems, resource_problems

env_name = declare("invalid-env-var-name", "Invalid environment variable name or envFrom prefix")
env_source = declare("invalid-env-var-source", "Environment variable has several sources, or an empty valueFrom")
env_reference = declare("invalid-env-var-reference", "Invalid configMapKeyRef, secretKeyRef or fileKeyRef of an environment variable")
field_path = declare("invalid-field-ref", "Invalid fieldRef or resourceFieldRef")
hidden_variable = declare(
    "duplicate-env-var",
    "Environment variable is defined twice in a container; the last one wins",
    severity=WARNING,
)

_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_SETS = ("configMapRef", "secretRef")
# What a variable may be told of its pod: labels and annotations one by one only.
_FIELDS = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip


def _name_of_set(name: str) -> str:
    # The server judges it as if more were to follow, so that a final '-' passes.
    return names.dns_subdomain(names.masked(name))


def _owner_of_key(node: Node) -> Problem | None:
    if not node.text:
        return Problem(node, "this does not say which object the key is in", help="give its name", reason="Invalid")
    wrong = names.dns_subdomain(node.text)
    return Problem(node, wrong, reason="Invalid") if wrong else None


tables = [
    fields("core/v1 EnvVar", name=(required, text(names.env_name, env_name))),
    fields("core/v1 EnvFromSource", prefix=text(names.env_name, env_name)),
    fields(("core/v1 ConfigMapEnvSource", "core/v1 SecretEnvSource"), name=(required, text(_name_of_set, env_reference))),
    fields(
        ("core/v1 ConfigMapKeySelector", "core/v1 SecretKeySelector"),
        name=Constraint(env_reference, _owner_of_key, of_absent=True),
        key=(required, text(names.config_key, env_reference)),
    ),
    # Both are asked for below: volumes refer to fields in the same way, and other words of the server go with that.
    fields("core/v1 ObjectFieldSelector", fieldPath=()),
    fields("core/v1 ResourceFieldSelector", resource=()),
    fields(
        "core/v1 FileKeySelector",
        volumeName=(required, dns_label),
        key=(required, text(names.env_name, env_reference)),
        path=(required, text(paths.no_backsteps, env_reference)),
    ),
]


@validator(CONTAINERS, rule=env_name, fields=("env", "envFrom"))
def names_fit_older_versions(container: Container) -> Iterator[Problem]:
    """Before 1.32 names were those that every shell takes."""
    if container.resource.is_before(32):
        for name in (*(each["name"] for each in container["env"]), *(each["prefix"] for each in container["envFrom"])):
            wrong = names.env_name_strict(name.text) if name.text and not names.env_name(name.text) else ""
            if wrong:
                yield Problem(name, f"{wrong} (before Kubernetes 1.32)", help=help_of(wrong), reason="Invalid")


@validator("core/v1 EnvVar", rule=env_source, fields="valueFrom")
def variable_has_one_value(variable: Node) -> Iterator[Problem]:
    """A text or one source."""
    source = variable["valueFrom"]
    if not source:
        return
    given = [name for name in _SOURCES if source[name]]
    if not given:
        yield Problem(source, "valueFrom names no source", help=f"add one of {', '.join(_SOURCES)}", reason="Invalid", at="key")
    elif variable["value"].text:
        yield Problem(source, "value and valueFrom exclude each other", help="take one away", reason="Invalid", at="key")
    elif len(given) > 1:
        yield Problem(source, f"valueFrom has {len(given)} sources, {' and '.join(given)}", help="keep one", reason="Invalid", at="key")


@validator("core/v1 EnvFromSource", rule=env_source)
def variables_come_from_one_set(source: Node) -> Iterator[Problem]:
    """The server names the whole list here."""
    given = [name for name in _SETS if source[name]]
    if len(given) != 1:
        message = Complaint("a source of variables is either a configMapRef or a secretRef", "keep one of the two" if given else "add one")
        yield Problem(source, message, reason="Invalid", field=source.parent)


@validator("core/v1 PodSpec", rule=env_reference)
def files_lie_in_volumes(pod: Pod) -> Iterator[Problem]:
    """A value from a file needs the volume that the file is in: an emptyDir that another container writes to."""
    volumes = {volume["name"].text: volume for volume in pod["volumes"]}
    for container in containers(pod.node):
        for variable in container["env"]:
            name = variable["valueFrom"]["fileKeyRef"]["volumeName"]
            if name.text in claimed_names(pod) or (name.text in volumes and not is_empty_dir(volumes[name.text])):
                yield Problem(
                    name, f"{name.text} is no emptyDir, and files with variables lie in one", help="name another volume", reason="Invalid"
                )
            elif name.text and name.text not in volumes:
                yield Problem(name, f"this pod has no volume {name.text}", help="add it to volumes", reason="NotFound")


@validator("core/v1 EnvVarSource", rule=field_path, fields=("fieldRef", "resourceFieldRef"))
def field_and_resource_are_known(source: Node) -> Iterator[Problem]:
    """The field of the pod that fieldRef names, the amount that resourceFieldRef names and what it is counted in."""
    if source["fieldRef"]:
        yield from field_problems(source, _FIELDS)
    if source["resourceFieldRef"]:
        yield from resource_problems(source)


@validator(CONTAINERS, rule=hidden_variable, fields="env")
def variables_are_defined_once(container: Container) -> Iterator[Problem]:
    """The last of several variables of one name wins; that is meant only where it builds upon the one before."""
    seen: set[str] = set()
    for variable in container["env"]:
        name = variable["name"].text
        value = variable["value"].text
        reference = f"$({name})"
        if name in seen and (variable["valueFrom"] or value == reference or reference not in value):
            message = f"{name} is set before, and this hides it"
            yield Problem(variable["name"], message, help="keep one of the two", field=variable)
        seen.add(name)

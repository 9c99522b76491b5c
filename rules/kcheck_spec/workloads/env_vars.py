"""Environment variables of containers and the sources of their values.

Source: ValidateEnv, ValidateEnvFrom, validateEnvVarValueFrom (pkg/apis/core/validation/validation.go) and the warning about duplicate
variables in pkg/api/pod/warnings.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import WARNING, Complaint, Constraint, Container, Node, Pod, Problem, TypedValue, declare, fields, help_of, names, validator
from kcheck_spec._support import file_paths as paths
from kcheck_spec.objects.common_constraints import dns_label, required, text
from kcheck_spec.storage.volumes import claimed_names, is_empty_dir
from kcheck_spec.workloads.containers import CONTAINERS, containers, title
from kcheck_spec.workloads.field_refs import field_problems, resource_problems

env_name = declare("invalid-env-var-name", "Invalid environment variable name or envFrom prefix", fixable=True)
env_source = declare("invalid-env-var-source", "Environment variable has several sources, or an empty valueFrom")
env_reference = declare(
    "invalid-env-var-reference", "Invalid configMapKeyRef, secretKeyRef or fileKeyRef of an environment variable", fixable=True
)
field_path = declare("invalid-field-ref", "Invalid fieldRef or resourceFieldRef", fixable=True)
hidden_variable = declare(
    "duplicate-env-var",
    "Environment variable is defined twice in a container; the last one wins",
    severity=WARNING,
)

_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_SETS = ("configMapRef", "secretRef")
# Fields that fieldRef of a variable supports, besides single labels and annotations.
_FIELDS = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip


def _name_of_set(name: str) -> str:
    # The API server checks the name as a prefix, so a final '-' is allowed.
    return names.dns_subdomain(names.masked(name))


def _owner_of_key(node: Node) -> Problem | None:
    if not node.text:
        reference = node.parent.name if node.parent is not None else ""
        kind = "ConfigMap" if reference == "configMapKeyRef" else "Secret"
        return Problem(node, f"{reference}.name is missing", help=f"add the name of the {kind}", reason="Invalid")
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
    # Both are checked below, because volumes use the same types with other messages.
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
    """Names have to be valid in every shell, unless a gate relaxes the check."""
    if not container.resource.enables("RelaxedEnvironmentVariableValidation"):
        for name in (*(each["name"] for each in container["env"]), *(each["prefix"] for each in container["envFrom"])):
            wrong = names.env_name_strict(name.text) if name.text and not names.env_name(name.text) else ""
            if wrong:
                yield Problem(name, f"{wrong} (before Kubernetes 1.32)", help=help_of(wrong), reason="Invalid")


@validator("core/v1 EnvVar", rule=env_source, fields="valueFrom")
def variable_has_one_value(variable: Node) -> Iterator[Problem]:
    """A variable has a value or exactly one source."""
    source = variable["valueFrom"]
    if not source:
        return
    given = [name for name in _SOURCES if source[name]]
    if not given:
        message, hint = f"valueFrom of {_title(variable)} has no source", f"add one of {', '.join(_SOURCES)}"
    elif variable["value"].text:
        message, hint = f"{_title(variable)} has both value and valueFrom", "remove one of the two"
    elif len(given) > 1:
        message, hint = f"valueFrom of {_title(variable)} has {len(given)} sources: {', '.join(given)}", "keep one source"
    else:
        return
    yield Problem(source, message, help=hint, reason="Invalid", at="key")


def _title(variable: Node) -> str:
    return f'environment variable "{variable["name"].text}"'


@validator("core/v1 EnvFromSource", rule=env_source)
def variables_come_from_one_set(source: Node) -> Iterator[Problem]:
    """An envFrom entry has one source. The API server names the whole list."""
    given = [name for name in _SETS if source[name]]
    if len(given) != 1:
        message = (
            Complaint("envFrom entry has both configMapRef and secretRef", "use a separate entry for each")
            if given
            else Complaint("envFrom entry has neither configMapRef nor secretRef", "add one of the two")
        )
        yield Problem(source, message, reason="Invalid", field=source.parent)


@validator("core/v1 PodSpec", rule=env_reference)
def files_are_in_volumes(pod: Pod) -> Iterator[Problem]:
    """The volume of a fileKeyRef must be an emptyDir volume, to which another container writes."""
    volumes = {volume["name"].text: volume for volume in pod["volumes"]}
    for container in containers(pod.node):
        for variable in container["env"]:
            name = variable["valueFrom"]["fileKeyRef"]["volumeName"]
            if name.text in claimed_names(pod) or (name.text in volumes and not is_empty_dir(volumes[name.text])):
                message = f'volume "{name.text}" of fileKeyRef is not an emptyDir volume'
                yield Problem(name, message, help="use an emptyDir volume", reason="Invalid")
            elif name.text and name.text not in volumes:
                message = f'volume "{name.text}" of fileKeyRef is not defined in the Pod'
                yield Problem(name, message, help=f'add an emptyDir volume named "{name.text}" to volumes', reason="NotFound")


@validator("core/v1 EnvVarSource", rule=field_path, fields=("fieldRef", "resourceFieldRef"))
def field_and_resource_are_known(value: TypedValue) -> Iterator[Problem]:
    """Fields of fieldRef, resources and divisors of resourceFieldRef."""
    source = value.node
    if source["fieldRef"]:
        yield from field_problems(source, _FIELDS)
        path = source["fieldRef"]["fieldPath"]
        if path.text == "status.hostIPs" and not value.resource.enables("PodHostIPs"):
            message = "fieldPath status.hostIPs requires Kubernetes 1.29"
            yield Problem(path, message, help="use status.hostIP", reason="Forbidden", field=source["fieldRef"])
    if source["resourceFieldRef"]:
        yield from resource_problems(source)


@validator(CONTAINERS, rule=hidden_variable, fields="env")
def variables_are_defined_once(container: Container) -> Iterator[Problem]:
    """The last of several variables of one name wins. That is intended only where its value refers to the one before."""
    seen: set[str] = set()
    for variable in container["env"]:
        name = variable["name"].text
        value = variable["value"].text
        reference = f"$({name})"
        if name and name in seen and (variable["valueFrom"] or value == reference or reference not in value):
            message = f'environment variable "{name}" is defined twice in {title(container.node)}, and the last one wins'
            yield Problem(variable["name"], message, help="remove one of the two", field=variable)
        seen.add(name)

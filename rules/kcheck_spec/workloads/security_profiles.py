"""seccomp and AppArmor profiles in fields and in the annotations that preceded these fields.

Source: validateSeccompProfileField, ValidateAppArmorProfileField, ValidateSeccompPodAnnotations, ValidateAppArmorPodAnnotations,
validateSeccompAnnotationsAndFields and validateAppArmorAnnotationsAndFieldsMatchOnCreate (pkg/apis/core/validation/validation.go),
applyAppArmorVersionSkew (pkg/registry/core/pod/strategy.go), the warnings of pkg/api/pod/warnings.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Pod, Problem, declare, did_you_mean, fields, nearest, validator
from kcheck_spec._support import file_paths as paths
from kcheck_spec.objects.common_constraints import deprecated_field, one_of, require, required
from kcheck_spec.workloads.containers import containers
from kcheck_spec.workloads.pods import annotation_field, beside

security_profile = declare("invalid-security-profile", "Invalid seccompProfile or appArmorProfile", fixable=True)

SECCOMP_OF_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
APPARMOR = "container.apparmor.security.beta.kubernetes.io/"

_TYPES = ("Localhost", "RuntimeDefault", "Unconfined")
_LOCAL = "localhost/"
_MAX_NAME_BYTES = 4095
Values = dict[str, tuple[str, ...]]
# The annotation values that mean the same as each type, except for Localhost, which has a file.
_SECCOMP_VALUES: Values = {"Unconfined": ("unconfined",), "RuntimeDefault": ("runtime/default", "docker/default")}
_APPARMOR_VALUES: Values = {"Unconfined": ("unconfined",), "RuntimeDefault": ("runtime/default",)}

tables = [fields(("core/v1 SeccompProfile", "core/v1 AppArmorProfile"), type=(required, one_of(*_TYPES)))]


@validator("core/v1 SeccompProfile", rule=security_profile)
def seccomp_file_fits(profile: Node) -> Iterator[Problem]:
    """localhostProfile is required for type Localhost and not allowed for other types."""
    file = profile["localhostProfile"]
    if profile["type"].text != "Localhost":
        if file:
            yield _not_localhost(file)
    elif not file:
        hint = "add localhostProfile with the path of a profile on the node"
        yield require(file, Complaint("type: Localhost requires localhostProfile", hint))
    elif wrong := paths.descending(file.text):
        yield Problem(file, wrong, reason="Invalid")


@validator("core/v1 AppArmorProfile", rule=security_profile)
def apparmor_name_fits(profile: Node) -> Iterator[Problem]:
    """localhostProfile, the name of a loaded profile, is required for type Localhost and not allowed for other types."""
    name = profile["localhostProfile"]
    if profile["type"].text in _TYPES[1:]:
        if name:
            yield _not_localhost(name)
    elif profile["type"].text == "Localhost":
        if not name.text:
            hint = "add localhostProfile with the name of a profile that is loaded on the node"
            yield require(name, Complaint("type: Localhost requires localhostProfile", hint))
        elif name.text != name.text.strip():
            message = f'localhostProfile "{name.text}" starts or ends with whitespace'
            yield Problem(name, message, help=f"use {name.text.strip() or 'the name of a profile'}", reason="Invalid")
        size = len(name.text.encode())
        if size > _MAX_NAME_BYTES:
            yield Problem(name, f"localhostProfile is {size:,} bytes long, but the maximum is {_MAX_NAME_BYTES:,}", reason="TooLong")


def _not_localhost(profile: Node) -> Problem:
    message = "localhostProfile requires type: Localhost"
    return Problem(profile, message, help="remove localhostProfile, or use type: Localhost", reason="Invalid", at="key")


@validator("core/v1 PodSpec", rule=security_profile)
def annotated_profiles_are_known(pod: Pod) -> Iterator[Problem]:
    """Invalid profiles in annotations, which the API server still validates."""
    annotations = pod.metadata["annotations"]
    if not len(annotations):
        return
    known = {container["name"].text for container in containers(pod.node)}
    for key, value in annotations.entries:
        if key == SECCOMP_OF_POD or key.startswith(SECCOMP):
            wrong = _seccomp(value.text)
            if wrong:
                yield Problem(value, wrong, reason="Invalid", field=beside(pod, f"annotations.{key}"))
        elif key.startswith(APPARMOR):
            name = key.removeprefix(APPARMOR)
            if name not in known:
                near = nearest(name, sorted(known))
                hint = did_you_mean(near, "use the name of a container of the Pod")
                message = Complaint(f'AppArmor annotation names container "{name}", which the Pod does not have', hint)
                yield Problem(value, message, reason="Invalid", at="key", field=annotation_field(pod, key))
            if value.text not in ("", "runtime/default", "unconfined") and not value.text.startswith(_LOCAL):
                hint = "use runtime/default, unconfined or localhost/<name>"
                message = Complaint(f'"{value.text}" is not a valid AppArmor profile', hint)
                yield Problem(value, message, reason="Invalid", field=annotation_field(pod, key))


def _seccomp(value: str) -> str:
    if value.startswith(_LOCAL):
        return paths.descending(value.removeprefix(_LOCAL))
    if value in ("runtime/default", "docker/default", "unconfined"):
        return ""
    return Complaint(f'"{value}" is not a valid seccomp profile', "use runtime/default, unconfined or localhost/<path>")


@validator("core/v1 PodSpec", rule=security_profile)
def annotations_and_fields_agree(pod: Pod) -> Iterator[Problem]:
    """A profile in an annotation and in its field must be equal."""
    annotations = pod.annotations
    if not any(key == SECCOMP_OF_POD or key.startswith((SECCOMP, APPARMOR)) for key in annotations):
        return
    whole = pod["securityContext"]
    yield from _differs(annotations.get(SECCOMP_OF_POD), whole["seccompProfile"], whole["seccompProfile"], _SECCOMP_VALUES)
    apparmor = not pod.is_template and pod["os"]["name"].text != "windows"
    for container in containers(pod.node):
        context, name = container["securityContext"], container["name"].text
        yield from _differs(annotations.get(f"{SECCOMP}{name}"), context["seccompProfile"], context["seccompProfile"], _SECCOMP_VALUES)
        if not apparmor:
            continue
        annotation = annotations.get(f"{APPARMOR}{name}")
        own = context["appArmorProfile"]
        # Where only the Pod-level field is set, a valid annotation becomes the profile of the container.
        if own or not _is_apparmor(annotation):
            yield from _differs(annotation, own if own else whole["appArmorProfile"], own, _APPARMOR_VALUES)


def _differs(annotation: str | None, profile: Node, field: Node, values: Values) -> Iterator[Problem]:
    """The difference between an annotation and the effective `profile`. `field`: the profile that the API server names."""
    kind = profile["type"].text
    if annotation is None or not profile:
        return
    if (kind in values and annotation not in values[kind]) or (kind == "Localhost" and not annotation.startswith(_LOCAL)):
        message = Complaint(f'{profile.name}.type "{kind}" differs from annotation value "{annotation}"', "remove the annotation")
        yield Problem(profile["type"], message, reason="Forbidden", field=field["type"])
    elif kind == "Localhost" and annotation.removeprefix(_LOCAL) != profile["localhostProfile"].text:
        value = profile["localhostProfile"].text
        message = Complaint(f'localhostProfile "{value}" differs from annotation value "{annotation}"', "remove the annotation")
        yield Problem(profile["localhostProfile"], message, reason="Forbidden", field=field["localhostProfile"])


def _is_apparmor(annotation: str | None) -> bool:
    """Whether a field can express the value of the annotation."""
    if annotation is None:
        return False
    name = annotation.removeprefix(_LOCAL)
    return annotation in ("runtime/default", "unconfined") or (name != annotation and bool(name) and name == name.strip())


@validator("core/v1 PodSpec", rule=deprecated_field)
def annotated_profiles_are_old(pod: Pod) -> Iterator[Problem]:
    """Annotations that have no effect any more or are deprecated."""
    annotations = pod.metadata["annotations"]
    if not len(annotations):
        return
    context = pod["securityContext"]
    if SECCOMP_OF_POD in annotations and not context["seccompProfile"]:
        yield _old(annotations[SECCOMP_OF_POD], "has had no effect since Kubernetes 1.27", "securityContext.seccompProfile")
    for container in containers(pod.node):
        name, own = container["name"].text, container["securityContext"]
        if f"{SECCOMP}{name}" in annotations and not own["seccompProfile"]:
            yield _old(annotations[f"{SECCOMP}{name}"], "has had no effect since Kubernetes 1.27", "securityContext.seccompProfile")
        apparmor = annotations[f"{APPARMOR}{name}"]
        if apparmor and not own["appArmorProfile"] and not pod.resource.is_before(30) and _differs_from_pod(apparmor.text, pod):
            yield _old(apparmor, "is deprecated since Kubernetes 1.30", "securityContext.appArmorProfile")


def _differs_from_pod(annotation: str, pod: Pod) -> bool:
    """Whether an AppArmor annotation differs from the Pod-level field. In a template every value of the field counts as equal."""
    profile = pod["securityContext"]["appArmorProfile"]
    if not pod.is_template and pod["os"]["name"].text == "windows":
        return False
    if pod.is_template or not profile:
        return not profile
    return not _is_apparmor(annotation) or any(_differs(annotation, profile, profile, _APPARMOR_VALUES))


def _old(annotation: Node, status: str, field: str) -> Problem:
    return Problem(annotation, f'annotation "{annotation.name}" {status}', help=f"use {field}", at="key")

"""Profiles of seccomp and AppArmor: in fields, in the annotations that came before them, and in both.

Source: validateSeccompProfileField, ValidateAppArmorProfileField, ValidateSeccompPodAnnotations, ValidateAppArmorPodAnnotations,
validateSeccompAnnotationsAndFields and validateAppArmorAnnotationsAndFieldsMatchOnCreate (pkg/apis/core/validation/validation.go),
applyAppArmorVersionSkew (pkg/registry/core/pod/strategy.go), the warnings of pkg/api/pod/warnings.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Pod, Problem, declare, fields, validator
from kcheck_spec._support import file_paths as paths
from kcheck_spec.objects.common_constraints import deprecated_field, one_of, require, required
from kcheck_spec.workloads.containers import containers
from kcheck_spec.workloads.pods import annotation_field, beside

security_profile = declare("invalid-security-profile", "Invalid seccompProfile or appArmorProfile")

SECCOMP_OF_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
APPARMOR = "container.apparmor.security.beta.kubernetes.io/"

_TYPES = ("Localhost", "RuntimeDefault", "Unconfined")
_LOCAL = "localhost/"
_MOST_PATH = 4095
Values = dict[str, tuple[str, ...]]
# The annotation values that mean the same as each type, the file of a Localhost profile aside.
_SECCOMP_VALUES: Values = {"Unconfined": ("unconfined",), "RuntimeDefault": ("runtime/default", "docker/default")}
_APPARMOR_VALUES: Values = {"Unconfined": ("unconfined",), "RuntimeDefault": ("runtime/default",)}

tables = [fields(("core/v1 SeccompProfile", "core/v1 AppArmorProfile"), type=(required, one_of(*_TYPES)))]


@validator("core/v1 SeccompProfile", rule=security_profile)
def seccomp_file_fits(profile: Node) -> Iterator[Problem]:
    """A file for Localhost and for nothing else."""
    file = profile["localhostProfile"]
    if profile["type"].text != "Localhost":
        if file:
            yield Problem(
                file, f"only a profile of type Localhost has a file, not {_type(profile)}", help="take it away", reason="Invalid", at="key"
            )
    elif not file:
        yield require(file, Complaint("a profile of type Localhost needs its file on the node", "add localhostProfile"))
    elif wrong := paths.descending(file.text):
        yield Problem(file, wrong, reason="Invalid")


@validator("core/v1 AppArmorProfile", rule=security_profile)
def apparmor_name_fits(profile: Node) -> Iterator[Problem]:
    """The name of a loaded profile for Localhost and for nothing else."""
    name = profile["localhostProfile"]
    if profile["type"].text in _TYPES[1:]:
        if name:
            yield Problem(
                name, f"only a profile of type Localhost has a name, not {_type(profile)}", help="take it away", reason="Invalid", at="key"
            )
    elif profile["type"].text == "Localhost":
        if not name.text:
            yield require(name, Complaint("a profile of type Localhost needs its name on the node", "add localhostProfile"))
        elif name.text != name.text.strip():
            yield Problem(
                name, f"{name.text!r} begins or ends with a blank", help=f"write {name.text.strip() or 'a name'}", reason="Invalid"
            )
        if len(name.text.encode()) > _MOST_PATH:
            yield Problem(name, f"the name has {len(name.text):,} characters", help=f"write {_MOST_PATH:,} at most", reason="TooLong")


def _type(profile: Node) -> str:
    return profile["type"].text or "one without type"


@validator("core/v1 PodSpec", rule=security_profile)
def annotated_profiles_are_known(pod: Pod) -> Iterator[Problem]:
    """Profiles in annotations, which the server still reads."""
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
                message = Complaint(f"this pod has no container {name}", "write the annotation for one that it has")
                yield Problem(value, message, reason="Invalid", at="key", field=annotation_field(pod, key))
            if value.text not in ("", "runtime/default", "unconfined") and not value.text.startswith(_LOCAL):
                message = Complaint(f"{value.text} is no AppArmor profile", "write runtime/default, unconfined or localhost/ and a name")
                yield Problem(value, message, reason="Invalid", field=annotation_field(pod, key))


def _seccomp(value: str) -> str:
    if value.startswith(_LOCAL):
        return paths.descending(value.removeprefix(_LOCAL))
    if value in ("runtime/default", "docker/default", "unconfined"):
        return ""
    return Complaint(f"{value or 'nothing'} is no seccomp profile", "write runtime/default, unconfined or localhost/ and a file")


@validator("core/v1 PodSpec", rule=security_profile)
def annotations_and_fields_agree(pod: Pod) -> Iterator[Problem]:
    """A profile in an annotation and in its field must be the same."""
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
        # Where only the whole pod has a field, a usable annotation becomes the container's own profile.
        if own or not _is_apparmor(annotation):
            yield from _differs(annotation, own if own else whole["appArmorProfile"], own, _APPARMOR_VALUES)


def _differs(annotation: str | None, profile: Node, field: Node, values: Values) -> Iterator[Problem]:
    """`field`: the profile that the server names, which need not be the one that counts."""
    kind = profile["type"].text
    if annotation is None or not profile:
        return
    if (kind in values and annotation not in values[kind]) or (kind == "Localhost" and not annotation.startswith(_LOCAL)):
        message = Complaint(f"{kind} differs from the annotation, {annotation}", "take the annotation away")
        yield Problem(profile["type"], message, reason="Forbidden", field=field["type"])
    elif kind == "Localhost" and annotation.removeprefix(_LOCAL) != profile["localhostProfile"].text:
        message = Complaint(
            f"{profile['localhostProfile'].text or 'nothing'} differs from the annotation, {annotation}", "take the annotation away"
        )
        yield Problem(profile["localhostProfile"], message, reason="Forbidden", field=field["localhostProfile"])


def _is_apparmor(annotation: str | None) -> bool:
    """Whether the annotation says the same as some field could."""
    if annotation is None:
        return False
    name = annotation.removeprefix(_LOCAL)
    return annotation in ("runtime/default", "unconfined") or (name != annotation and bool(name) and name == name.strip())


@validator("core/v1 PodSpec", rule=deprecated_field)
def annotated_profiles_are_old(pod: Pod) -> Iterator[Problem]:
    """Annotations that nobody reads any more, or soon will not."""
    annotations = pod.metadata["annotations"]
    if not len(annotations):
        return
    context = pod["securityContext"]
    if SECCOMP_OF_POD in annotations and not context["seccompProfile"]:
        yield _old(annotations[SECCOMP_OF_POD], "does nothing since 1.27", "seccompProfile in securityContext")
    for container in containers(pod.node):
        name, own = container["name"].text, container["securityContext"]
        if f"{SECCOMP}{name}" in annotations and not own["seccompProfile"]:
            yield _old(annotations[f"{SECCOMP}{name}"], "does nothing since 1.27", "seccompProfile in securityContext")
        apparmor = annotations[f"{APPARMOR}{name}"]
        if apparmor and not own["appArmorProfile"] and _is_news(apparmor.text, pod):
            yield _old(apparmor, "is deprecated since 1.30", "appArmorProfile in securityContext")


def _is_news(annotation: str, pod: Pod) -> bool:
    """Whether an AppArmor annotation says something else than the field of the pod; in a template any field will do."""
    profile = pod["securityContext"]["appArmorProfile"]
    if not pod.is_template and pod["os"]["name"].text == "windows":
        return False
    if pod.is_template or not profile:
        return not profile
    return not _is_apparmor(annotation) or any(_differs(annotation, profile, profile, _APPARMOR_VALUES))


def _old(annotation: Node, what: str, instead: str) -> Problem:
    return Problem(annotation, f"{annotation.name} {what}", help=f"write {instead}", at="key")

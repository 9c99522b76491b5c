"""What containers are told of their pod: fields by fieldRef, amounts of resources by resourceFieldRef.

Source: validateObjectFieldSelector, validateContainerResourceFieldSelector (pkg/apis/core/validation/validation.go) and
ConvertDownwardAPIFieldLabel (pkg/apis/core/pods/helpers.go).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kcheck.api import Node, Problem, fields, labels, missing
from kcheck_spec.objects.common_constraints import amount, not_supported

_MAPS = ("metadata.labels", "metadata.annotations")
# The fields of a pod that have names at all; each use of them takes some.
_NAMED = (
    "metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels", "metadata.annotations", "spec.nodeName", "spec.host",
    "spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName", "status.phase", "status.hostIP", "status.hostIPs",
    "status.podIP", "status.podIPs",
)  # fmt: skip
_RESOURCES = tuple(f"{kind}.{name}" for kind in ("limits", "requests") for name in ("cpu", "memory", "ephemeral-storage"))
_HUGE_PAGES = ("requests.hugepages-", "limits.hugepages-")
_CPU_DIVISORS = ("1m", "1")
_SIZE_DIVISORS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")

tables = [fields("core/v1 ObjectFieldSelector", fieldPath=()), fields("core/v1 ResourceFieldSelector", resource=())]


def field_problems(owner: Node, allowed: Collection[str]) -> Iterator[Problem]:
    """What is wrong with the fieldRef of a variable or a file, which may be one of these fields."""
    reference = owner["fieldRef"]
    path, version = reference["fieldPath"], reference["apiVersion"].text or "v1"
    if not path.text:
        yield missing(path)
        return
    if version != "v1":
        yield Problem(path, f"fields of {version} are not known", help="write apiVersion: v1 or leave it out", reason="Invalid")
        return
    outer, bracket, key = path.text.removesuffix("']").partition("['")
    if bracket and outer and path.text.endswith("']"):
        yield from _entry_problems(reference, path, outer, key)
    elif ("spec.nodeName" if path.text == "spec.host" else path.text) not in allowed:
        hint = f"write {path.text}['the-key'] for one of them" if path.text in _MAPS else ""
        message = f"{path.text} as a whole does not fit here"
        problem = Problem(path, message, help=hint) if hint else not_supported(path, sorted(allowed))
        yield problem.replace(reason="NotSupported" if path.text in _NAMED else "Invalid")


def _entry_problems(reference: Node, path: Node, outer: str, key: str) -> Iterator[Problem]:
    """A label or annotation by its key. The server names the reference, not the path, where the key is wrong."""
    if outer not in _MAPS:
        yield Problem(path, f"{outer} has no keys", help=f"write {outer} alone, or a label as metadata.labels['key']", reason="Invalid")
        return
    wrong = labels.key(key) if outer == "metadata.labels" else labels.annotation_key(key)
    if wrong:
        yield Problem(path, wrong, reason="Invalid", field=reference)


def resource_problems(owner: Node, *, container: bool = False) -> Iterator[Problem]:
    """What is wrong with the resourceFieldRef of a variable or a file. `container`: it must say of which container."""
    reference = owner["resourceFieldRef"]
    resource, divisor = reference["resource"], reference["divisor"]
    if container and not reference["containerName"].text:
        yield missing(reference["containerName"])
    elif not resource.text:
        yield missing(resource)
    elif resource.text not in _RESOURCES and not resource.text.startswith(_HUGE_PAGES):
        yield not_supported(resource, _RESOURCES)
    number = amount(divisor)
    if number is None or number.is_zero or not (resource.text in _RESOURCES or resource.text.startswith(_HUGE_PAGES)):
        return
    allowed = _CPU_DIVISORS if resource.text.endswith(".cpu") else _SIZE_DIVISORS
    if str(number) not in allowed:
        yield Problem(
            divisor, f"{resource.text} cannot be counted in {divisor.value}", help=f"write one of {', '.join(allowed)}", reason="Invalid"
        )

"""References of variables and files to the Pod: fieldRef to its fields, resourceFieldRef to resource quantities.

Source: validateObjectFieldSelector, validateContainerResourceFieldSelector (pkg/apis/core/validation/validation.go) and
ConvertDownwardAPIFieldLabel (pkg/apis/core/pods/helpers.go).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kcheck.api import Node, Problem, fields, labels, missing
from kcheck_spec.objects.common_constraints import amount, not_supported

_MAPS = ("metadata.labels", "metadata.annotations")
# All fields that fieldRef can name. Each use supports some of them.
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
    """What is wrong with the fieldRef of a variable or file. `allowed`: the fields that are supported there."""
    reference = owner["fieldRef"]
    path, version = reference["fieldPath"], reference["apiVersion"].text or "v1"
    if not path.text:
        yield missing(path)
        return
    if version != "v1":
        message = f'apiVersion "{version}" of fieldRef is not supported'
        yield Problem(path, message, help="use apiVersion: v1 or remove apiVersion", reason="Invalid")
        return
    outer, bracket, key = path.text.removesuffix("']").partition("['")
    if bracket and outer and path.text.endswith("']"):
        yield from _entry_problems(reference, path, outer, key)
    elif ("spec.nodeName" if path.text == "spec.host" else path.text) not in allowed:
        hint = f"select one entry with {path.text}['<key>']" if path.text in _MAPS else ""
        message = f'fieldPath "{path.text}" is a map, but an environment variable needs one entry'
        problem = Problem(path, message, help=hint) if hint else not_supported(path, sorted(allowed))
        yield problem.replace(reason="NotSupported" if path.text in _NAMED else "Invalid")


def _entry_problems(reference: Node, path: Node, outer: str, key: str) -> Iterator[Problem]:
    """A label or annotation by its key. Where the key is wrong, the API server names the reference, not the path."""
    if outer not in _MAPS:
        message = f'fieldPath "{path.text}" has a subscript, which only {" and ".join(_MAPS)} support'
        yield Problem(path, message, help="use metadata.labels['<key>'] or metadata.annotations['<key>']", reason="Invalid")
        return
    wrong = labels.key(key) if outer == "metadata.labels" else labels.annotation_key(key)
    if wrong:
        yield Problem(path, wrong, reason="Invalid", field=reference)


def resource_problems(owner: Node, *, container: bool = False) -> Iterator[Problem]:
    """What is wrong with the resourceFieldRef of a variable or file. `container`: whether containerName is required."""
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
        message = f"divisor: {divisor.value} is not supported for {resource.text}"
        yield Problem(divisor, message, help=f"use one of {', '.join(allowed)}", reason="Invalid")

"""APIServices. Source: pkg/apis/apiregistration/validation of k8s.io/kube-aggregator."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, constraint, declare, fields, help_of, names, validator
from kcheck_spec.objects.common_constraints import dns_subdomain, port, require, required
from kcheck_spec.objects.object_names import is_stored

api_service = declare("invalid-api-service", "Invalid APIService (name, caBundle, groupPriorityMinimum, versionPriority)", fixable=True)

_MAX_GROUP_PRIORITY, _MAX_VERSION_PRIORITY = 20_000, 1000


@constraint(api_service, of_absent=True)
def _version(node: Node) -> Problem | None:
    wrong = names.dns1035_label(node.text)
    return Problem(node, f"invalid API version: {wrong}", help=help_of(wrong), reason="Invalid") if wrong else None


def _priority(node: Node, maximum: int) -> Problem | None:
    number = node.integer or 0
    if 1 <= number <= maximum:
        return None
    if node:
        return Problem(node, f"{node.name} {number} is out of range (1-{maximum})", reason="Invalid")
    return Problem(node, f"{node.name} is required", help=f"set {node.name} to a number from 1 to {maximum}", reason="Invalid")


@constraint(api_service, of_absent=True)
def _group_priority(node: Node) -> Problem | None:
    return _priority(node, _MAX_GROUP_PRIORITY)


@constraint(api_service, of_absent=True)
def _version_priority(node: Node) -> Problem | None:
    return _priority(node, _MAX_VERSION_PRIORITY)


tables = [
    fields(
        "apiregistration/v1 APIServiceSpec",
        group=dns_subdomain,
        version=_version,
        groupPriorityMinimum=_group_priority,
        versionPriority=_version_priority,
    ),
    fields("apiregistration/v1 ServiceReference", name=required, namespace=required, port=port),
]


@validator("apiregistration/v1 APIService", rule=api_service)
def names_say_version_and_group(service: Resource) -> Iterator[Problem]:
    """metadata.name must be <version>.<group>, so it cannot be generated."""
    metadata, spec = service["metadata"], service["spec"]
    # A patch need not repeat the version and the group.
    if not is_stored(service) or (service.part and not (spec["version"] and spec["group"])):
        return
    right = f"{spec['version'].text}.{spec['group'].text}"
    for key in ("name", "generateName"):
        node = metadata[key]
        if node.text and node.text != right and not names.path_segment(node.text):
            message = "an APIService must be named <version>.<group>"
            yield Problem(node, message, help=f'set metadata.name to "{right}"', reason="Invalid")
    if metadata["generateName"].text and not metadata["name"].text:
        message = "generateName is not allowed for an APIService"
        help = f'set metadata.name to "{right}"'
        yield Problem(metadata["generateName"], message, help=help, reason="Invalid", field=metadata["name"])


@validator("apiregistration/v1 APIServiceSpec", rule=api_service)
def trust_is_for_other_servers(spec: Node) -> Iterator[Problem]:
    """An API without a Service is served by the API server itself, which needs no caBundle."""
    bundle, insecure = spec["caBundle"], spec["insecureSkipTLSVerify"]
    if not spec["group"].text and spec["version"].text != "v1":
        yield require(spec["group"], Complaint("spec.group is missing: only version v1 of the core group has no group name", "add group"))
    if not spec["service"]:
        for node in (bundle, insecure):
            if node.value:
                message = f"{node.name} is not allowed without service"
                yield Problem(node, message, help=f"remove {node.name} or add service", reason="Invalid", at="key")
    elif bundle.value and insecure.boolean:
        message = "insecureSkipTLSVerify: true is not allowed together with caBundle"
        yield Problem(insecure, message, help="remove insecureSkipTLSVerify", reason="Invalid", at="key")

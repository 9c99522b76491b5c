"""APIServices. Source: pkg/apis/apiregistration/validation of k8s.io/kube-aggregator."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, constraint, declare, fields, help_of, names, validator
from kcheck_spec.objects.common_constraints import dns_subdomain, port, require, required
from kcheck_spec.objects.object_names import is_stored

api_service = declare("invalid-api-service", "Invalid APIService (name, caBundle, groupPriorityMinimum, versionPriority)")

_MOST_GROUP, _MOST_VERSION = 20_000, 1000


@constraint(api_service, of_absent=True)
def _version(node: Node) -> Problem | None:
    wrong = names.dns1035_label(node.text)
    return Problem(node, f"no API has such a version: {wrong}", help=help_of(wrong), reason="Invalid") if wrong else None


def _order(node: Node, most: int) -> Problem | None:
    number = node.integer or 0
    if 1 <= number <= most:
        return None
    shown = f"{number} is out of range" if node else f"{node.name} has no default"
    return Problem(node, f"{shown}", help=f"write a number from 1 to {most}", reason="Invalid")


@constraint(api_service, of_absent=True)
def _group_order(node: Node) -> Problem | None:
    return _order(node, _MOST_GROUP)


@constraint(api_service, of_absent=True)
def _version_order(node: Node) -> Problem | None:
    return _order(node, _MOST_VERSION)


tables = [
    fields(
        "apiregistration/v1 APIServiceSpec",
        group=dns_subdomain,
        version=_version,
        groupPriorityMinimum=_group_order,
        versionPriority=_version_order,
    ),
    fields("apiregistration/v1 ServiceReference", name=required, namespace=required, port=port),
]


@validator("apiregistration/v1 APIService", rule=api_service)
def names_say_version_and_group(service: Resource) -> Iterator[Problem]:
    """An APIService is called after what it serves, so its name cannot be made up."""
    metadata, spec = service["metadata"], service["spec"]
    if not is_stored(service):
        return
    right = f"{spec['version'].text}.{spec['group'].text}"
    for key in ("name", "generateName"):
        node = metadata[key]
        if node.text and node.text != right and not names.path_segment(node.text):
            yield Problem(node, "an APIService is called after its version and group", help=f"write name: {right}", reason="Invalid")
    if metadata["generateName"].text and not metadata["name"].text:
        message = "the name of an APIService is not made up"
        yield Problem(metadata["generateName"], message, help=f"write name: {right}", reason="Invalid", field=metadata["name"])


@validator("apiregistration/v1 APIServiceSpec", rule=api_service)
def trust_is_for_other_servers(spec: Node) -> Iterator[Problem]:
    """An API without a Service is the server's own, and needs no trust."""
    bundle, insecure = spec["caBundle"], spec["insecureSkipTLSVerify"]
    if not spec["group"].text and spec["version"].text != "v1":
        yield require(spec["group"], Complaint("only the core group has no name, and that has v1", "add group"))
    if not spec["service"]:
        for node in (bundle, insecure):
            if node.value:
                message = "without service the API is the server's own"
                yield Problem(node, message, help=f"take {node.name} away, or add service", reason="Invalid", at="key")
    elif bundle.value and insecure.flag:
        yield Problem(
            insecure, "what is verified by caBundle is not skipped", help="take insecureSkipTLSVerify away", reason="Invalid", at="key"
        )

"""ResourceClaim and ResourceClaimTemplate. Source: validateDeviceClaim (pkg/apis/resource/validation/validation.go),
SetDefaults_ExactDeviceRequest and SetDefaults_DeviceSubRequest (pkg/apis/resource/v1/defaults.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, declare, fields, labels, missing, names, remove, validator
from kcheck_spec.devices._names import duplicates, full_attribute, is_flat, too_many, types
from kcheck_spec.devices.selectors import configuration, selectors
from kcheck_spec.objects.common_constraints import require

device_claim = declare(
    "invalid-resource-claim", "Invalid ResourceClaim or ResourceClaimTemplate (requests, constraints, config)", fixable=True
)

_MAX_ITEMS = 32
_MAX_ALTERNATIVES = 8
_MAX_LISTED = 4
_FLAT = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity")

tables = [
    fields(types("ResourceClaim", "ResourceClaimTemplate", "ResourceClaimTemplateSpec"), spec=()),
    fields(types("DeviceRequest"), name=()),
    fields(("resource/v1 ExactDeviceRequest", "resource/v1beta2 ExactDeviceRequest"), deviceClassName=()),
    fields(types("DeviceSubRequest"), name=(), deviceClassName=()),
]


@validator(types("ResourceClaim"), rule=device_claim)
def claim_is_sound(resource: Resource) -> Iterator[Problem]:
    """Yield problems of the claimed devices."""
    yield from _devices(resource["spec"]["devices"], resource)


@validator(types("ResourceClaimTemplate"), rule=device_claim)
def template_is_sound(resource: Resource) -> Iterator[Problem]:
    """Yield problems of the claimed devices of a template."""
    yield from _devices(resource["spec"]["spec"]["devices"], resource)


def _devices(claim: Node, resource: Resource) -> Iterator[Problem]:
    requests, constraints, config = claim["requests"], claim["constraints"], claim["config"]
    known = _names(requests)
    yield from too_many(requests, _MAX_ITEMS)
    yield from duplicates(requests, "name", "request")
    for request in requests:
        yield from _request(request, resource)
    yield from too_many(constraints, _MAX_ITEMS)
    for constraint in constraints:
        yield from _references(constraint["requests"], known)
        yield from _constraint(constraint)
    yield from too_many(config, _MAX_ITEMS)
    for item in config:
        yield from _references(item["requests"], known)
        yield from configuration(item)


def _names(requests: Node) -> set[str]:
    """The names of requests, and of alternatives as `request/alternative`."""
    known = {request["name"].text for request in requests}
    known.update(f"{request['name'].text}/{each['name'].text}" for request in requests for each in request["firstAvailable"])
    return known


def _request(request: Node, resource: Resource) -> Iterator[Problem]:
    """Yield problems of a request, which has either one class of devices or alternatives in order of preference."""
    yield from _name(request["name"], request)
    alternatives = request["firstAvailable"]
    exact = _exact(request, resource)
    if not len(alternatives) and not exact:
        one = "deviceClassName" if is_flat(resource) else "exactly"
        message = f"the request has neither {one} nor firstAvailable"
        yield Problem(request, message, help="add one of them", reason="Required", field=request)
    elif len(alternatives) and exact:
        one = "deviceClassName" if is_flat(resource) else "exactly"
        message = f"{one} and firstAvailable are mutually exclusive"
        yield Problem(alternatives, message, help="remove one of them", reason="Invalid", at="key", field=request)
    elif exact:
        yield from _wanted(exact, resource)
    else:
        yield from too_many(alternatives, _MAX_ALTERNATIVES)
        yield from duplicates(alternatives, "name", "firstAvailable name")
        for each in alternatives:
            yield from _name(each["name"], each)
            yield from _wanted(each, resource)


def _exact(request: Node, resource: Resource) -> Node | None:
    """The node that describes the devices of a request without alternatives: in v1beta1 the request itself."""
    if is_flat(resource):
        return request if any(key in request for key in _FLAT) else None
    return request["exactly"] or None


def _name(name: Node, owner: Node) -> Iterator[Problem]:
    if not name.text:
        message = "name of the request is required"
        yield Problem(name if name else owner, message, help="set it to a unique name", reason="Invalid", field=name)
    elif wrong := names.dns_label(name.text):
        yield Problem(name, wrong, reason="Invalid")


def _wanted(request: Node, resource: Resource) -> Iterator[Problem]:
    """Yield problems of the class, selectors, number and tolerations of the requested devices."""
    owner = request["deviceClassName"]
    if not owner.text:
        yield missing(owner)
    elif wrong := names.dns_subdomain(owner.text):
        yield Problem(owner, wrong, reason="Invalid")
    yield from selectors(request["selectors"], resource)
    mode, count = request["allocationMode"].text or "ExactCount", request["count"]
    number = count.integer or 0
    if mode == "All" and number:
        message = "count is not allowed for allocationMode: All"
        yield Problem(count, message, help="remove count, or set allocationMode: ExactCount", reason="Invalid")
    elif mode == "ExactCount" and number < 0:
        yield Problem(count, f"count {number} is negative", help="use 1 or more", reason="Invalid")
    for each in request["tolerations"]:
        yield from _toleration(each)


def _toleration(each: Node) -> Iterator[Problem]:
    """Yield an invalid key or value of a toleration. Source: validateDeviceToleration."""
    key, operator, value = each["key"], each["operator"].text or "Equal", each["value"]
    if key.text and (wrong := labels.key(key.text)):
        yield Problem(key, wrong, reason="Invalid")
    if operator == "Exists" and value.text:
        message = f'value "{value.text}" is not allowed for operator: Exists'
        yield Problem(value, message, help="remove value, or set operator: Equal", reason="Invalid")
    elif operator == "Equal" and (wrong := labels.value(value.text)):
        yield Problem(value, wrong, reason="Invalid")


def _constraint(constraint: Node) -> Iterator[Problem]:
    """Yield a constraint without a valid attribute. The API server only checks matchAttribute if there is also distinctAttribute."""
    same, other = constraint["matchAttribute"], constraint["distinctAttribute"]
    attribute = same if same else other
    if not attribute:
        help = "add one of them with an attribute such as example.com/numa"
        yield require(constraint, Complaint("the constraint has neither matchAttribute nor distinctAttribute", help))
    elif fault := full_attribute(attribute.text):
        yield Problem(attribute, fault[0], reason=fault[1])


def _references(items: Node, known: set[str]) -> Iterator[Problem]:
    """Yield unknown and duplicate names of requests. An empty list means all requests."""
    yield from too_many(items, _MAX_ITEMS)
    yield from duplicates(items, "", "requests entry", remove())
    for item in items:
        if item.text not in known:
            yield Problem(item, f'unknown request "{item.text}"', help=_known_names(known), reason="Invalid")
        elif wrong := next(filter(None, map(names.dns_label, item.text.split("/"))), ""):
            yield Problem(item, wrong, reason="Invalid")


def _known_names(known: set[str]) -> str:
    words = sorted(filter(None, known))
    return f"use {' or '.join(words)}" if 0 < len(words) <= _MAX_LISTED else "use the name of a request, or request/alternative"

"""ResourceClaim and ResourceClaimTemplate. Source: validateDeviceClaim (pkg/apis/resource/validation/validation.go),
SetDefaults_ExactDeviceRequest and SetDefaults_DeviceSubRequest (pkg/apis/resource/v1/defaults.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, declare, fields, labels, missing, names, validator
from kcheck_spec.devices._names import duplicates, full_attribute, is_flat, too_many, types
from kcheck_spec.devices.selectors import configuration, selectors
from kcheck_spec.objects.common_constraints import require

device_claim = declare("invalid-resource-claim", "Invalid ResourceClaim or ResourceClaimTemplate (requests, constraints, config)")

_MOST = 32
_MOST_ALTERNATIVES = 8
_FEW = 4
_FLAT = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity")

tables = [
    fields(types("ResourceClaim", "ResourceClaimTemplate", "ResourceClaimTemplateSpec"), spec=()),
    fields(types("DeviceRequest"), name=()),
    fields(("resource/v1 ExactDeviceRequest", "resource/v1beta2 ExactDeviceRequest"), deviceClassName=()),
    fields(types("DeviceSubRequest"), name=(), deviceClassName=()),
]


@validator(types("ResourceClaim"), rule=device_claim)
def claim_is_sound(resource: Resource) -> Iterator[Problem]:
    """What is claimed."""
    yield from _devices(resource["spec"]["devices"], resource)


@validator(types("ResourceClaimTemplate"), rule=device_claim)
def template_is_sound(resource: Resource) -> Iterator[Problem]:
    """What the claims made of it claim."""
    yield from _devices(resource["spec"]["spec"]["devices"], resource)


def _devices(claim: Node, resource: Resource) -> Iterator[Problem]:
    requests, constraints, config = claim["requests"], claim["constraints"], claim["config"]
    known = _names(requests)
    yield from too_many(requests, _MOST, "requests in a claim")
    yield from duplicates(requests, "name", "a request")
    for request in requests:
        yield from _request(request, resource)
    yield from too_many(constraints, _MOST, "constraints in a claim")
    for constraint in constraints:
        yield from _references(constraint["requests"], known)
        yield from _constraint(constraint)
    yield from too_many(config, _MOST, "configurations in a claim")
    for item in config:
        yield from _references(item["requests"], known)
        yield from configuration(item)


def _names(requests: Node) -> set[str]:
    """How requests can be referred to: by name, and where there are alternatives also by `request/alternative`."""
    known = {request["name"].text for request in requests}
    known.update(f"{request['name'].text}/{each['name'].text}" for request in requests for each in request["firstAvailable"])
    return known


def _request(request: Node, resource: Resource) -> Iterator[Problem]:
    """Devices of one class, or alternatives of which the first is taken that can be had."""
    yield from _name(request["name"], request)
    alternatives = request["firstAvailable"]
    exact = _exact(request, resource)
    if not len(alternatives) and not exact:
        message = Complaint("nothing is requested", "add exactly with a deviceClassName, or firstAvailable with alternatives")
        yield Problem(request, message, reason="Required", field=request)
    elif len(alternatives) and exact:
        message = Complaint("a request has exactly or firstAvailable, not both", "take one of the two away")
        yield Problem(alternatives, message, reason="Invalid", at="key", field=request)
    elif exact:
        yield from _wanted(exact, resource)
    else:
        yield from too_many(alternatives, _MOST_ALTERNATIVES, "alternatives in a request")
        yield from duplicates(alternatives, "name", "an alternative")
        for each in alternatives:
            yield from _name(each["name"], each)
            yield from _wanted(each, resource)


def _exact(request: Node, resource: Resource) -> Node | None:
    """Where it says what is wanted if there are no alternatives: in v1beta1 beside the name."""
    if is_flat(resource):
        return request if any(key in request for key in _FLAT) else None
    return request["exactly"] or None


def _name(name: Node, owner: Node) -> Iterator[Problem]:
    if not name.text:
        yield Problem(name if name else owner, "a request needs a name to be referred to", help="add name", reason="Invalid", field=name)
    elif wrong := names.dns_label(name.text):
        yield Problem(name, wrong, reason="Invalid")


def _wanted(request: Node, resource: Resource) -> Iterator[Problem]:
    """Which devices and how many."""
    owner = request["deviceClassName"]
    if not owner.text:
        yield missing(owner)
    elif wrong := names.dns_subdomain(owner.text):
        yield Problem(owner, wrong, reason="Invalid")
    yield from selectors(request["selectors"], resource)
    mode, count = request["allocationMode"].text or "ExactCount", request["count"]
    number = count.integer or 0
    if mode == "All" and number:
        yield Problem(
            count, f"allocationMode All takes all devices, not {number}", help="take count away, or write ExactCount", reason="Invalid"
        )
    elif mode == "ExactCount" and number < 0:
        yield Problem(count, f"{number} devices are less than one", help="write a number from 1 up", reason="Invalid")
    for each in request["tolerations"]:
        yield from _toleration(each)


def _toleration(each: Node) -> Iterator[Problem]:
    """A taint of a device that is borne. Source: validateDeviceToleration."""
    key, operator, value = each["key"], each["operator"].text or "Equal", each["value"]
    if key.text and (wrong := labels.key(key.text)):
        yield Problem(key, wrong, reason="Invalid")
    if operator == "Exists" and value.text:
        yield Problem(value, "Exists compares with no value", help=f"take {value.text} away, or write Equal", reason="Invalid")
    elif operator == "Equal" and (wrong := labels.value(value.text)):
        yield Problem(value, wrong, reason="Invalid")


def _constraint(constraint: Node) -> Iterator[Problem]:
    """An attribute that is the same in all devices, or another in each. The server looks at the first alone if there are both."""
    same, other = constraint["matchAttribute"], constraint["distinctAttribute"]
    attribute = same if same else other
    if not attribute:
        yield require(
            constraint, Complaint("a constraint compares an attribute", "add matchAttribute or distinctAttribute, such as example.com/numa")
        )
    elif fault := full_attribute(attribute.text):
        yield Problem(attribute, fault[0], reason=fault[1])


def _references(items: Node, known: set[str]) -> Iterator[Problem]:
    """Requests by name, each once. None at all stands for every request."""
    yield from too_many(items, _MOST, "requests in a list")
    yield from duplicates(items, "", "the request", "take it away")
    for item in items:
        if item.text not in known:
            yield Problem(item, f"{item.text or 'an empty text'} is no request of this claim", help=_hint(known), reason="Invalid")
        elif wrong := next(filter(None, map(names.dns_label, item.text.split("/"))), ""):
            yield Problem(item, wrong, reason="Invalid")


def _hint(known: set[str]) -> str:
    words = sorted(filter(None, known))
    return f"write {' or '.join(words)}" if 0 < len(words) <= _FEW else "write the name of one, or request/alternative"

"""Node. Source: ValidateNode (pkg/apis/core/validation), the warnings of pkg/registry/core/node."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kcheck.api import Complaint, Constraint, Node, Problem, Resource, addresses, declare, enumeration, fields, labels, remove, validator
from kcheck_spec.networking.ip_addresses import wrong_network
from kcheck_spec.objects.common_constraints import deprecated_field, dubious_setting, given, not_supported, unique
from kcheck_spec.objects.labels import label_syntax
from kcheck_spec.workloads.resources import read_amounts, resource_amount, wrong_amount

taint = declare("invalid-taint", "Node has an invalid taint", fixable=True)
pod_network = declare("invalid-pod-cidr", "Node has invalid podCIDR or podCIDRs")

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

# The first version that does not report duplicate networks in addition to their number.
_DUPLICATES_UNTIL = 33
_TAINTS = "scheduler.alpha.kubernetes.io/taints"

# Taints are checked below, with the field names that the server uses in its errors.
_checked_below = Constraint(taint, lambda _: None, closed=True)
tables = [
    fields("core/v1 Taint", key=_checked_below, effect=_checked_below),
    # No longer read by any component.
    fields("core/v1 ConfigMapNodeConfigSource", kubeletConfigKey=(), name=(), namespace=()),
]


@validator("core/v1 Node", rule=taint)
def taints_have_an_effect(node: Node) -> Iterator[Problem]:
    """Each taint has an effect and occurs once. The server writes metadata.taints for spec.taints in its errors."""
    named = node["metadata"].virtual("taints")
    taints = node.at("spec", "taints")
    for index, each in enumerate(taints):
        effect = each["effect"]
        if not given(effect):
            help = f"set effect to {enumeration(EFFECTS, 'or')}"
            yield Problem(effect, "taint has no effect", help=help, reason="Required", field=named.virtual(index, "effect"))
        elif effect.text not in EFFECTS:
            yield not_supported(effect, EFFECTS).replace(reason="NotSupported", field=named.virtual(index, "effect"))
    places = {id(each): index for index, each in enumerate(taints)}
    for problem in unique(taints, lambda each: (each["key"].text, each["effect"].text), _same_taint):
        yield problem.replace(reason="Duplicate", field=named.virtual(places[id(problem.node)]))


def _same_taint(each: Node) -> str:
    return Complaint(f'duplicate taint "{each["key"].text}" with effect {each["effect"].text}', "remove one")


@validator("core/v1 Node", rule=label_syntax)
def taints_are_labels(node: Node) -> Iterator[Problem]:
    """Keys and values of taints have the format of label keys and values."""
    for index, each in enumerate(node.at("spec", "taints")):
        named = node["metadata"].virtual("taints", index)
        for part, wrong in (("key", labels.key(each["key"].text)), ("value", labels.value(each["value"].text))):
            if wrong:
                yield Problem(each[part], wrong, reason="Invalid", field=named.virtual(part))


@validator("core/v1 Node", rule=taint)
def annotated_taints_are_json(node: Node) -> Iterator[Problem]:
    """The annotation for taints before spec.taints existed."""
    annotation = node.at("metadata", "annotations", _TAINTS)
    try:
        taints = json.loads(annotation.text or "[]")
    except (ValueError, RecursionError):
        taints = ""
    if taints is not None and not isinstance(taints, list):
        message = f"annotation {_TAINTS} must be a JSON list of taints"
        yield Problem(annotation, message, help="use spec.taints", reason="Invalid", field=node["metadata"]["annotations"])


@validator("core/v1 Node", rule=pod_network)
def pod_networks_are_one_a_family(resource: Resource) -> Iterator[Problem]:
    """One network, or one IPv4 and one IPv6 network. Before 1.36 the server accepted other notations."""
    networks = _networks(resource["spec"])
    field = resource["spec"]["podCIDRs"]
    for index, each in enumerate(networks):
        wrong = wrong_network(each.text, resource)
        if wrong:
            yield Problem(each, wrong, reason="Invalid", field=field[index])
    if len(networks) > 1 and sorted(map(_family, networks)) != [4, 6]:
        message = "podCIDRs must contain at most one IPv4 and one IPv6 network"
        yield Problem(field, message, help="remove the other networks", reason="Invalid")
    if resource.is_before(_DUPLICATES_UNTIL):
        yield from unique(networks, lambda each: each.text, lambda each: Complaint(f'network "{each.text}" is listed twice', remove("one")))


def _networks(spec: Node) -> list[Node]:
    """podCIDRs, or podCIDR where it differs from the first item of podCIDRs."""
    one, several = spec["podCIDR"], list(spec["podCIDRs"])
    return [one] if one.text and (not several or several[0].text != one.text) else several


def _family(network: Node) -> int:
    address = addresses.parse(network.text.partition("/")[0])
    return 0 if address is None else 4 if len(address) == 4 else 6


@validator("core/v1 Node", rule=resource_amount)
def capacities_can_be(node: Node) -> Iterator[Problem]:
    """The status of a Node is kept on creation, unlike that of most objects."""
    for place in ("capacity", "allocatable"):
        amounts = node.at("status", place)
        for name, amount in read_amounts(amounts).items():
            wrong = wrong_amount(name, amount)
            if wrong:
                yield Problem(amounts[name], wrong, reason="Invalid", field=f"status.{place}.{name}")


@validator("core/v1 Node", rule=deprecated_field)
def node_is_up_to_date(node: Node) -> Iterator[Problem]:
    """spec.externalID, which no component reads. (configSource is dropped silently.)"""
    external = node["spec"]["externalID"]
    if external.text:
        yield Problem(external, "spec.externalID is deprecated and has no effect", help=remove(), at="key")


@validator("core/v1 Node", rule=dubious_setting)
def pod_networks_are_canonical(node: Resource) -> Iterator[Problem]:
    """IPv6 has a canonical form (RFC 5952), which comparisons rely on. The API server has warned since 1.33."""
    for each in () if node.is_before(33) else _networks(node["spec"]):
        usual = addresses.usual_network(each.text)
        if usual and not addresses.network(each.text):
            yield Problem(each, f'"{each.text}" is not the canonical form of this IPv6 network', help=f"use {usual}")

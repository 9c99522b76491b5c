"""Node. Source: ValidateNode (pkg/apis/core/validation), the warnings of pkg/registry/core/node."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kcheck.api import Complaint, Constraint, Node, Problem, Resource, addresses, declare, fields, labels, validator
from kcheck_spec.objects.common_constraints import deprecated_field, dubious_setting, given, not_supported, unique
from kcheck_spec.objects.labels import label_syntax
from kcheck_spec.workloads.resources import read_amounts, resource_amount, wrong_amount

taint = declare("invalid-taint", "Node has an invalid taint")
pod_network = declare("invalid-pod-cidr", "Node has invalid podCIDR or podCIDRs")

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

_TAINTS = "scheduler.alpha.kubernetes.io/taints"

# All that is asked of taints is asked below, under the names that the server uses.
_asked_below = Constraint(taint, lambda _: None, closed=True)
tables = [
    fields("core/v1 Taint", key=_asked_below, effect=_asked_below),
    # Nobody reads it any more.
    fields("core/v1 ConfigMapNodeConfigSource", kubeletConfigKey=(), name=(), namespace=()),
]


@validator("core/v1 Node", rule=taint)
def taints_have_an_effect(node: Node) -> Iterator[Problem]:
    """An effect, and the same taint once. The server says metadata.taints where it means spec.taints."""
    named = node["metadata"].imaginary("taints")
    taints = node.at("spec", "taints")
    for index, each in enumerate(taints):
        effect = each["effect"]
        if not given(effect):
            message = "a taint needs its effect"
            yield Problem(
                effect,
                message,
                help=f"add {', '.join(EFFECTS[:-1])} or {EFFECTS[-1]}",
                reason="Required",
                field=named.imaginary(index, "effect"),
            )
        elif effect.text not in EFFECTS:
            yield not_supported(effect, EFFECTS).replace(reason="NotSupported", field=named.imaginary(index, "effect"))
    places = {id(each): index for index, each in enumerate(taints)}
    for problem in unique(taints, lambda each: (each["key"].text, each["effect"].text), _same_taint):
        yield problem.replace(reason="Duplicate", field=named.imaginary(places[id(problem.node)]))


def _same_taint(each: Node) -> str:
    return Complaint(f"the node has a taint {each['key'].text} with the effect {each['effect'].text} already", "take one away")


@validator("core/v1 Node", rule=label_syntax)
def taints_are_labels(node: Node) -> Iterator[Problem]:
    """Keys and values of taints are spelt like those of labels."""
    for index, each in enumerate(node.at("spec", "taints")):
        named = node["metadata"].imaginary("taints", index)
        for part, wrong in (("key", labels.key(each["key"].text)), ("value", labels.value(each["value"].text))):
            if wrong:
                yield Problem(each[part], wrong, reason="Invalid", field=named.imaginary(part))


@validator("core/v1 Node", rule=taint)
def annotated_taints_are_json(node: Node) -> Iterator[Problem]:
    """The way taints were written before they had a field."""
    annotation = node.at("metadata", "annotations", _TAINTS)
    try:
        taints = json.loads(annotation.text or "[]")
    except (ValueError, RecursionError):
        taints = ""
    if taints is not None and not isinstance(taints, list):
        message = "the value must be a JSON list of taints"
        yield Problem(annotation, message, help="write them to spec.taints", reason="Invalid", field=node["metadata"]["annotations"])


@validator("core/v1 Node", rule=pod_network)
def pod_networks_are_one_a_family(resource: Resource) -> Iterator[Problem]:
    """One network, or one of IPv4 and one of IPv6. Before 1.36 it did not matter how exactly they were written."""
    networks = _networks(resource["spec"])
    field = resource["spec"]["podCIDRs"]
    for index, each in enumerate(networks):
        wrong = addresses.network(each.text)
        if wrong and not (resource.is_before(36) and _family(each)):
            yield Problem(each, wrong, reason="Invalid", field=field[index])
    if len(networks) > 1 and sorted(map(_family, networks)) != [4, 6]:
        yield Problem(field, "a node has one network for IPv4 and one for IPv6 at most", help="take the others away", reason="Invalid")


def _networks(spec: Node) -> list[Node]:
    """podCIDRs, unless podCIDR says something else than its first one."""
    one, several = spec["podCIDR"], list(spec["podCIDRs"])
    return [one] if one.text and (not several or several[0].text != one.text) else several


def _family(network: Node) -> int:
    address = addresses.parse(network.text.partition("/")[0])
    return 0 if address is None else 4 if len(address) == 4 else 6


@validator("core/v1 Node", rule=resource_amount)
def capacities_can_be(node: Node) -> Iterator[Problem]:
    """The status of a node is kept on creation, other than that of most objects."""
    for place in ("capacity", "allocatable"):
        amounts = node.at("status", place)
        for name, amount in read_amounts(amounts).items():
            wrong = wrong_amount(name, amount)
            if wrong:
                yield Problem(amounts[name], wrong, reason="Invalid", field=f"status.{place}.{name}")


@validator("core/v1 Node", rule=deprecated_field)
def node_is_up_to_date(node: Node) -> Iterator[Problem]:
    """A field that nobody reads. (configSource is dropped without a word.)"""
    external = node["spec"]["externalID"]
    if external.text:
        yield Problem(external, "externalID is deprecated, nobody reads it", help="take it away", at="key")


@validator("core/v1 Node", rule=dubious_setting)
def pod_networks_are_canonical(node: Node) -> Iterator[Problem]:
    """IPv6 has one usual spelling (RFC 5952), which comparisons rely on."""
    for each in _networks(node["spec"]):
        usual = addresses.usual_network(each.text)
        if usual and not addresses.network(each.text):
            yield Problem(each, f"{each.text} is not the usual spelling of an IPv6 network", help=f"write {usual}")

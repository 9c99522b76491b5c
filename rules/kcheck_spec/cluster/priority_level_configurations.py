"""Levels of priority that requests to the API server are handled at.

Source: ValidatePriorityLevelConfiguration and what it calls (pkg/apis/flowcontrol/validation), pkg/apis/flowcontrol/v1/defaults.go,
RequiredEntropyBits (k8s.io/apiserver/pkg/util/shufflesharding), the mandatory objects of k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, log2

from kcheck.api import Complaint, Node, Problem, declare, fields, validator
from kcheck_spec.objects.common_constraints import in_range, non_negative, not_supported, require

flow_control = declare("invalid-flow-control", "Invalid FlowSchema or PriorityLevelConfiguration")

# Versions of the API: the older ones are of Kubernetes before 1.32.
VERSIONS = ("v1", "v1beta3", "v1beta2", "v1beta1")
# Those that say nominalConcurrencyShares.
_LATER = VERSIONS[:2]

_TYPES = ("Exempt", "Limited")
_RESPONSES = ("Reject", "Queue")
_MOST_QUEUES = 10_000_000
_HASH_BITS = 60
_QUEUES, _HAND = 64, 8


def of(kind: str, versions: tuple[str, ...] = VERSIONS) -> tuple[str, ...]:
    """A type of this API group in its versions."""
    return tuple(f"flowcontrol/{version} {kind}" for version in versions)


_percent = in_range(0, 100, flow_control)

tables = [
    fields(
        of("LimitedPriorityLevelConfiguration"),
        nominalConcurrencyShares=non_negative,
        assuredConcurrencyShares=non_negative,
        lendablePercent=_percent,
        borrowingLimitPercent=non_negative,
    ),
    fields(of("ExemptPriorityLevelConfiguration", VERSIONS[:3]), nominalConcurrencyShares=non_negative, lendablePercent=_percent),
    fields(of("LimitResponse"), type=()),
    fields(of("PriorityLevelConfigurationSpec"), type=()),
    fields(of("QueuingConfiguration"), queueLengthLimit=in_range(1, None, flow_control, zero=False)),
]


@validator(of("PriorityLevelConfiguration"), rule=flow_control)
def levels_fit_types(level: Node) -> Iterator[Problem]:
    """Exempt is the level of that name alone, and has no limit; every other level has one."""
    spec, name = level["spec"], level.at("metadata", "name").text
    type_, limited = spec["type"], spec["limited"]
    if (name == "exempt") != (type_.text == "Exempt"):
        yield Problem(
            type_, "the level called exempt has type Exempt, and no other", help="write Limited, or name: exempt", reason="Invalid"
        )
    if not type_.text:
        yield require(type_, Complaint("a level needs its type", "add type: Limited"))
    elif type_.text not in _TYPES:
        yield not_supported(type_, _TYPES)
    if type_.text == "Exempt" and limited:
        yield Problem(limited, "an exempt level has no limit", help="take limited away", reason="Forbidden", at="key")
    if type_.text == "Limited" and not limited:
        yield require(limited, Complaint("type: Limited needs the limit", "add limited"))


@validator(of("PriorityLevelConfiguration", _LATER), rule=flow_control)
def limited_levels_are_not_exempt(level: Node) -> Iterator[Problem]:
    """Shares of a level without limit are for that level."""
    spec = level["spec"]
    if spec["type"].text == "Limited" and spec["exempt"]:
        yield Problem(spec["exempt"], "exempt is for type: Exempt", help="take it away", reason="Forbidden", at="key")


@validator(of("PriorityLevelConfiguration", _LATER), rule=flow_control)
def levels_of_the_server_stay_as_they_are(level: Node) -> Iterator[Problem]:
    """Two levels always exist. Of exempt, its shares may be changed; of catch-all nothing."""
    spec, name = level["spec"], level.at("metadata", "name").text
    if name == "exempt" and (spec["type"].text != "Exempt" or spec["limited"]):
        yield Problem(
            spec, "the level exempt is fixed but for spec.exempt", help="write type: Exempt and no limited", reason="Invalid", at="key"
        )
    if name == "catch-all" and not _is_catch_all(spec):
        message = "the level catch-all is fixed"
        yield Problem(
            spec,
            message,
            help="write type: Limited, nominalConcurrencyShares: 5 and limitResponse: {type: Reject}",
            reason="Invalid",
            at="key",
        )


def _is_catch_all(spec: Node) -> bool:
    limited = spec["limited"]
    shares, response = limited["nominalConcurrencyShares"].integer, limited["limitResponse"]
    return (
        spec["type"].text == "Limited"
        and not spec["exempt"]
        and (shares, limited["lendablePercent"].integer or 0, limited["borrowingLimitPercent"].integer) == (5, 0, None)
        and response["type"].text == "Reject"
        and not response["queuing"]
    )


@validator(of("LimitResponse"), rule=flow_control)
def responses_are_known(response: Node) -> Iterator[Problem]:
    """What becomes of a request above the limit. It waits in a queue, for which there are settings, or is refused."""
    type_, queuing = response["type"], response["queuing"]
    if not type_.text:
        yield require(type_, Complaint("a limit needs to say what becomes of requests above it", "add type: Reject or Queue"))
    elif type_.text not in _RESPONSES:
        yield not_supported(type_, _RESPONSES)
    elif type_.text == "Reject" and queuing:
        yield Problem(
            queuing, "what is rejected does not queue", help="take queuing away, or write type: Queue", reason="Forbidden", at="key"
        )
    elif type_.text == "Queue" and not queuing:
        yield require(queuing, Complaint("type: Queue needs the queues", "add queuing, {} for the usual ones"))


@validator(of("QueuingConfiguration"), rule=flow_control)
def queues_can_be_dealt(queuing: Node) -> Iterator[Problem]:
    """A flow is dealt a hand of queues. There are defaults, and the hash that deals has 60 bits."""
    if queuing.parent is None or queuing.parent["type"].text != "Queue":
        return
    queues, hand = queuing["queues"].integer or _QUEUES, queuing["handSize"].integer or _HAND
    if not 1 <= queues <= _MOST_QUEUES:
        yield Problem(queuing["queues"], f"{queues} is out of range", help=f"write a number from 1 to {_MOST_QUEUES:,}", reason="Invalid")
    if hand < 1:
        yield Problem(queuing["handSize"], f"{hand} is out of range", help="write a number from 1 up", reason="Invalid")
    elif hand > queues:
        message = f"a hand of {hand} needs as many queues, there are {queues}"
        yield Problem(queuing["handSize"], message, help="write a smaller handSize, or more queues", reason="Invalid")
    elif ceil(log2(queues) * hand) > _HASH_BITS:
        most = int(_HASH_BITS / log2(queues))
        yield Problem(
            queuing["handSize"], f"a hand of {hand} out of {queues} queues is too large", help=f"write {most} at most", reason="Invalid"
        )

"""PriorityLevelConfigurations, which limit the requests that the API server handles at the same time.

Source: ValidatePriorityLevelConfiguration and what it calls (pkg/apis/flowcontrol/validation), pkg/apis/flowcontrol/v1/defaults.go,
RequiredEntropyBits (k8s.io/apiserver/pkg/util/shufflesharding), the mandatory objects of k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, log2

from kcheck.api import Complaint, Node, Problem, declare, fields, validator
from kcheck_spec.objects.common_constraints import in_range, non_negative, not_supported, require

flow_control = declare("invalid-flow-control", "Invalid FlowSchema or PriorityLevelConfiguration", fixable=True)

# Versions of the API; Kubernetes 1.32 removed all but v1.
VERSIONS = ("v1", "v1beta3", "v1beta2", "v1beta1")
# The versions with nominalConcurrencyShares.
_LATER = VERSIONS[:2]

_TYPES = ("Exempt", "Limited")
_RESPONSES = ("Reject", "Queue")
_MAX_QUEUES = 10_000_000
_HASH_BITS = 60
_DEFAULT_QUEUES, _DEFAULT_HAND_SIZE = 64, 8


def of(kind: str, versions: tuple[str, ...] = VERSIONS) -> tuple[str, ...]:
    """The names of a type of this API group in its versions."""
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
    """Only the level "exempt" has type Exempt and no limit; every other level has type Limited."""
    spec, name = level["spec"], level.at("metadata", "name").text
    type_, limited = spec["type"], spec["limited"]
    if (name == "exempt") != (type_.text == "Exempt"):
        if name == "exempt":
            message, help = 'PriorityLevelConfiguration "exempt" must have type: Exempt', "set type to Exempt"
        else:
            message, help = 'type: Exempt is only allowed for PriorityLevelConfiguration "exempt"', "use type: Limited and add limited"
        yield Problem(type_, message, help=help, reason="Invalid")
    if not type_.text:
        yield require(type_, Complaint("PriorityLevelConfiguration has no type", "add type: Limited"))
    elif type_.text not in _TYPES:
        yield not_supported(type_, _TYPES)
    if type_.text == "Exempt" and limited:
        yield Problem(limited, "limited is not allowed with type: Exempt", help="remove limited", reason="Forbidden", at="key")
    if type_.text == "Limited" and not limited:
        yield require(limited, Complaint("type: Limited requires field limited", "add limited"))


@validator(of("PriorityLevelConfiguration", _LATER), rule=flow_control)
def limited_levels_are_not_exempt(level: Node) -> Iterator[Problem]:
    """spec.exempt is only allowed with type Exempt."""
    spec = level["spec"]
    if spec["type"].text == "Limited" and spec["exempt"]:
        yield Problem(spec["exempt"], "exempt is only allowed with type: Exempt", help="remove exempt", reason="Forbidden", at="key")


@validator(of("PriorityLevelConfiguration", _LATER), rule=flow_control)
def levels_of_the_server_stay_as_they_are(level: Node) -> Iterator[Problem]:
    """Two levels always exist: of "exempt" only spec.exempt may be changed, of "catch-all" nothing."""
    spec, name = level["spec"], level.at("metadata", "name").text
    if name == "exempt" and (spec["type"].text != "Exempt" or spec["limited"]):
        message = 'of PriorityLevelConfiguration "exempt" only spec.exempt may be changed'
        yield Problem(spec, message, help="set type to Exempt and remove limited", reason="Invalid", at="key")
    if name == "catch-all" and not _is_catch_all(spec):
        message = 'spec of the mandatory PriorityLevelConfiguration "catch-all" differs from that of the API server'
        help = "use type: Limited, nominalConcurrencyShares: 5 and limitResponse: {type: Reject}"
        yield Problem(spec, message, help=help, reason="Invalid", at="key")


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
    """Requests above the limit wait in a queue, which has settings, or are rejected."""
    limited = response.parent
    if limited is None or limited.parent is None or limited.parent["type"].text != "Limited":
        # The API server judges the limit only of the type Limited.
        return
    type_, queuing = response["type"], response["queuing"]
    if not type_.text:
        yield require(type_, Complaint("limitResponse has no type", "set type to Reject or Queue"))
    elif type_.text not in _RESPONSES:
        yield not_supported(type_, _RESPONSES)
    elif type_.text == "Reject" and queuing:
        message = "queuing is not allowed with type: Reject"
        yield Problem(queuing, message, help="remove queuing or use type: Queue", reason="Forbidden", at="key")
    elif type_.text == "Queue" and not queuing:
        yield require(queuing, Complaint("type: Queue requires field queuing", "add queuing, such as {} for the defaults"))


@validator(of("QueuingConfiguration"), rule=flow_control)
def queues_can_be_dealt(queuing: Node) -> Iterator[Problem]:
    """Shuffle sharding: each flow gets a hand of queues, chosen by a hash of 60 bits."""
    if queuing.parent is None or queuing.parent["type"].text != "Queue":
        return
    queues, hand = queuing["queues"].integer or _DEFAULT_QUEUES, queuing["handSize"].integer or _DEFAULT_HAND_SIZE
    if not 1 <= queues <= _MAX_QUEUES:
        yield Problem(queuing["queues"], f"queues {queues} is out of range (1-{_MAX_QUEUES})", reason="Invalid")
    if hand < 1:
        yield Problem(queuing["handSize"], f"handSize {hand} is out of range (1 or more)", reason="Invalid")
    elif hand > queues:
        message = f"handSize {hand} is greater than queues {queues}"
        yield Problem(queuing["handSize"], message, help="lower handSize or raise queues", reason="Invalid")
    elif ceil(log2(queues) * hand) > _HASH_BITS:
        maximum = int(_HASH_BITS / log2(queues))
        message = f"handSize {hand} is too large for {queues} queues"
        yield Problem(queuing["handSize"], message, help=f"use {maximum} or less", reason="Invalid")

"""CSI drivers, what they say of nodes, and how much storage there is. Source: pkg/apis/storage/validation, SetDefaults_CSIDriver."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, Resource, declare, fields, help_of, missing, names, validator
from kcheck_spec.objects.common_constraints import amount, deprecated_field, not_supported, one_of
from kcheck_spec.storage.volume_sources import driver_name
from kcheck_spec.workloads.affinity_terms import deprecated_label

csi = declare("invalid-csi-object", "Invalid CSIDriver, CSINode or CSIStorageCapacity")

_CAPACITIES = ("storage/v1 CSIStorageCapacity", "storage/v1beta1 CSIStorageCapacity")
_LIFECYCLES = ("Persistent", "Ephemeral")
_SHORTEST_TOKEN, _LONGEST_TOKEN = 600, 1 << 32
_SHORTEST_PERIOD = 10
_LONGEST_NODE_ID = 256

tables = [
    fields("storage/v1 CSIDriver", spec=()),
    fields(
        "storage/v1 CSIDriverSpec",
        fsGroupPolicy=one_of("ReadWriteOnceWithFSType", "File", "None", of=csi, empty=False),
        nodeAllocatableUpdatePeriodSeconds=(),
    ),
    fields("storage/v1 TokenRequest", audience=()),
    fields("storage/v1 CSINode", spec=()),
    fields("storage/v1 CSINodeSpec", drivers=()),
    fields("storage/v1 CSINodeDriver", name=(), nodeID=()),
    fields(_CAPACITIES, storageClassName=()),
]


@validator("storage/v1 CSIDriver", rule=csi)
def driver_is_sound(driver: Resource) -> Iterator[Problem]:
    """What the driver can do and what it is told."""
    spec = driver["spec"]
    modes, requests = spec["volumeLifecycleModes"], spec["tokenRequests"]
    for mode in modes:
        if mode.text not in _LIFECYCLES:
            yield not_supported(mode, _LIFECYCLES).replace(reason="NotSupported", field=modes)
    yield from _token_requests(requests)
    period, flag = spec["nodeAllocatableUpdatePeriodSeconds"], spec["serviceAccountTokenInSecrets"]
    if period.integer is not None and period.integer < _SHORTEST_PERIOD:
        yield Problem(period, f"{period.integer} seconds are too short", help=f"write {_SHORTEST_PERIOD} or more", reason="Invalid")
    if flag and not len(requests):
        yield Problem(flag, "there are no tokens to hand over", help="add tokenRequests, or take it away", reason="Invalid", at="key")


def _token_requests(requests: Node) -> Iterator[Problem]:
    """Tokens for several audiences, each once."""
    seen: set[str] = set()
    for request in requests:
        audience, seconds = request["audience"], request["expirationSeconds"]
        if audience.text in seen:
            yield Problem(
                audience,
                f"{audience.text or 'the default audience'} has a token already",
                help="take one of the two away",
                reason="Duplicate",
            )
            continue
        seen.add(audience.text)
        number = seconds.integer
        if number is not None and not _SHORTEST_TOKEN <= number <= _LONGEST_TOKEN:
            yield Problem(
                seconds, f"a token cannot live {number} seconds", help=f"write {_SHORTEST_TOKEN} to {_LONGEST_TOKEN}", reason="Invalid"
            )


@validator("storage/v1 CSINode", rule=csi)
def drivers_of_a_node_are_sound(node: Resource) -> Iterator[Problem]:
    """Each driver once, with the name that it has for the node."""
    seen: set[str] = set()
    for driver in node["spec"]["drivers"]:
        name, identity, count = driver["name"], driver["nodeID"], driver["allocatable"]["count"]
        yield from driver_name(name)
        if name.text in seen:
            yield Problem(
                name, f"{name.text or 'a driver without a name'} is listed already", help="take one of the two away", reason="Duplicate"
            )
        seen.add(name.text)
        length = len(identity.text.encode())
        if not length:
            yield missing(identity)
        elif length > _LONGEST_NODE_ID:
            yield Problem(
                identity, f"a node ID has at most {_LONGEST_NODE_ID} bytes, this has {length}", help="shorten it", reason="Invalid"
            )
        if count.integer is not None and count.integer < 0:
            yield Problem(
                count, f"{count.integer} volumes are less than none", help="write a number that is not negative", reason="Invalid"
            )
        yield from _topology_keys(driver)


def _topology_keys(driver: Node) -> Iterator[Problem]:
    """Labels of nodes, each once. The server names the driver that they stand in."""
    seen: set[str] = set()
    for key in driver["topologyKeys"]:
        if not key.text:
            yield Problem(
                key, "an empty key is no label", help="write one such as topology.kubernetes.io/zone", reason="Required", field=driver
            )
        elif wrong := names.qualified_name(key.text):
            yield Problem(key, wrong, reason="Invalid", field=driver)
        if key.text in seen:
            yield Problem(
                key, f"{key.text or 'an empty key'} is listed already", help="take one of the two away", reason="Duplicate", field=driver
            )
        seen.add(key.text)


@validator(_CAPACITIES, rule=csi)
def capacity_is_sound(capacity: Resource) -> Iterator[Problem]:
    """Which class has how much left."""
    name, size = capacity["storageClassName"], capacity["capacity"]
    if wrong := names.dns_subdomain(name.text):
        yield Problem(name, f"storageClassName says what the capacity is of: {wrong}", help=help_of(wrong), reason="Invalid")
    number = amount(size)
    if number is not None and number.sign < 0:
        yield Problem(size, f"{size.value} is less than nothing", help="write a size such as 10Gi", reason="Invalid")


@validator(_CAPACITIES, rule=deprecated_field)
def topology_is_up_to_date(capacity: Resource) -> Iterator[Problem]:
    """Labels of nodes that have been renamed."""
    topology = capacity["nodeTopology"]
    for each in topology["matchExpressions"]:
        yield from deprecated_label(each["key"])
    for key, value in topology["matchLabels"].entries:
        yield from deprecated_label(value, key)

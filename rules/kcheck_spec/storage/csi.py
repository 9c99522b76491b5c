"""CSIDriver, CSINode and CSIStorageCapacity. Source: pkg/apis/storage/validation, SetDefaults_CSIDriver."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, Resource, declare, fields, help_of, missing, names, validator
from kcheck_spec.objects.common_constraints import amount, deprecated_field, dubious_setting, not_supported, one_of
from kcheck_spec.storage.volume_sources import driver_name
from kcheck_spec.workloads.affinity_terms import deprecated_label

csi = declare("invalid-csi-object", "Invalid CSIDriver, CSINode or CSIStorageCapacity", fixable=True)

_CAPACITIES = ("storage/v1 CSIStorageCapacity", "storage/v1beta1 CSIStorageCapacity")
_LIFECYCLES = ("Persistent", "Ephemeral")
_MIN_TOKEN, _MAX_TOKEN = 600, 1 << 32
_MIN_PERIOD = 10
_MAX_NODE_ID = 256

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
    """Yield problems of a CSIDriver."""
    spec = driver["spec"]
    modes, requests = spec["volumeLifecycleModes"], spec["tokenRequests"]
    for mode in modes:
        if mode.text not in _LIFECYCLES:
            yield not_supported(mode, _LIFECYCLES).replace(reason="NotSupported", field=modes)
    yield from _token_requests(requests)
    period, flag = spec["nodeAllocatableUpdatePeriodSeconds"], spec["serviceAccountTokenInSecrets"]
    if period.integer is not None and period.integer < _MIN_PERIOD:
        message = f"nodeAllocatableUpdatePeriodSeconds {period.integer} is less than {_MIN_PERIOD}"
        yield Problem(period, message, help=f"use {_MIN_PERIOD} or more", reason="Invalid")
    if flag and not len(requests):
        message = "serviceAccountTokenInSecrets requires tokenRequests"
        yield Problem(flag, message, help="add tokenRequests, or remove serviceAccountTokenInSecrets", reason="Invalid", at="key")


@validator("storage/v1 CSIDriver", rule=dubious_setting)
def tokens_are_kept_secret(driver: Resource) -> Iterator[Problem]:
    """Tokens that the driver gets as volume attributes, which may be logged. Source: WarningsOnCreate of CSIDrivers."""
    spec = driver["spec"]
    if len(spec["tokenRequests"]) and not spec["serviceAccountTokenInSecrets"] and driver.enables("CSIServiceAccountTokenSecrets"):
        message = "tokens of tokenRequests are passed as volume attributes, which may be logged"
        help = "set serviceAccountTokenInSecrets: true if the driver supports it"
        yield Problem(spec["tokenRequests"], message, help=help, at="key")


def _token_requests(requests: Node) -> Iterator[Problem]:
    """Yield duplicate audiences and invalid expirations of tokens."""
    seen: set[str] = set()
    for request in requests:
        audience, seconds = request["audience"], request["expirationSeconds"]
        if audience.text in seen:
            yield Problem(audience, f'duplicate audience "{audience.text}"', help="remove one of them", reason="Duplicate")
            continue
        seen.add(audience.text)
        number = seconds.integer
        if number is not None and not _MIN_TOKEN <= number <= _MAX_TOKEN:
            message = f"expirationSeconds {number} is out of range ({_MIN_TOKEN}-{_MAX_TOKEN})"
            yield Problem(seconds, message, reason="Invalid")


@validator("storage/v1 CSINode", rule=csi)
def drivers_of_a_node_are_sound(node: Resource) -> Iterator[Problem]:
    """Yield problems of the drivers of a CSINode."""
    seen: set[str] = set()
    for driver in node["spec"]["drivers"]:
        name, identity, count = driver["name"], driver["nodeID"], driver["allocatable"]["count"]
        yield from driver_name(name)
        if name.text in seen:
            yield Problem(name, f'duplicate driver "{name.text}"', help="remove one of them", reason="Duplicate")
        seen.add(name.text)
        length = len(identity.text.encode())
        if not length:
            yield missing(identity)
        elif length > _MAX_NODE_ID:
            message = f"nodeID has {length} bytes, more than the maximum of {_MAX_NODE_ID}"
            yield Problem(identity, message, help="shorten it", reason="Invalid")
        if count.integer is not None and count.integer < 0:
            yield Problem(count, f"allocatable.count {count.integer} is negative", help="use 0 or more", reason="Invalid")
        yield from _topology_keys(driver)


def _topology_keys(driver: Node) -> Iterator[Problem]:
    """Yield invalid and duplicate topologyKeys. The API server reports the driver that contains them."""
    seen: set[str] = set()
    for key in driver["topologyKeys"]:
        if not key.text:
            message = "topologyKeys has an empty entry"
            yield Problem(key, message, help="use a label key such as topology.kubernetes.io/zone", reason="Required", field=driver)
        elif wrong := names.qualified_name(key.text):
            yield Problem(key, wrong, reason="Invalid", field=driver)
        if key.text in seen:
            yield Problem(key, f'duplicate topologyKeys entry "{key.text}"', help="remove one of them", reason="Duplicate", field=driver)
        seen.add(key.text)


@validator(_CAPACITIES, rule=csi)
def capacity_is_sound(capacity: Resource) -> Iterator[Problem]:
    """Yield problems of a CSIStorageCapacity."""
    name, size = capacity["storageClassName"], capacity["capacity"]
    if wrong := names.dns_subdomain(name.text):
        yield Problem(name, f'storageClassName "{name.text}" is not valid: {wrong}', help=help_of(wrong), reason="Invalid")
    number = amount(size)
    if number is not None and number.sign < 0:
        yield Problem(size, f"capacity {size.value} is negative", help="use a quantity such as 10Gi", reason="Invalid")


@validator(_CAPACITIES, rule=deprecated_field)
def topology_is_up_to_date(capacity: Resource) -> Iterator[Problem]:
    """Yield deprecated node labels in nodeTopology."""
    topology = capacity["nodeTopology"]
    for each in topology["matchExpressions"]:
        yield from deprecated_label(each["key"])
    for key, value in topology["matchLabels"].entries:
        yield from deprecated_label(value, key)

"""ResourceSlice: the devices of a driver, and the nodes that can access them.

Source: ValidateResourceSlice (pkg/apis/resource/validation/validation.go) and the warnings of pkg/registry/resource/resourceslice.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, declare, fields, validator
from kcheck_spec.devices._names import driver, duplicates, is_flat, pool_name, too_many, types
from kcheck_spec.devices._slice_devices import counters, device_problems, given_places, many_selections, place_problems
from kcheck_spec.objects.common_constraints import dubious_setting, require

resource_slice = declare("invalid-resource-slice", "Invalid ResourceSlice (driver, pool, node selection, devices)", fixable=True)

_MAX_DEVICES = 128
_MAX_TAINTED = 64
_MAX_COUNTER_SETS = 8
_WARNS_SINCE = 35
_PLACES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")

tables = [
    fields(types("ResourceSlice"), spec=()),
    fields(types("ResourceSliceSpec"), driver=(), pool=()),
    fields(types("ResourcePool"), name=(), generation=(), resourceSliceCount=()),
    fields(types("Device"), name=()),
    fields(types("DeviceCapacity", "Counter"), value=()),
    fields(types("CapacityRequestPolicyRange"), min=()),
    fields(types("CounterSet"), name=(), counters=()),
    fields(types("DeviceCounterConsumption"), counterSet=(), counters=()),
    fields(types("DeviceTaint"), key=()),
]


@validator(types("ResourceSlice"), rule=resource_slice)
def slice_is_sound(resource: Resource) -> Iterator[Problem]:
    """Yield problems of driver, pool, node selection, devices and sharedCounters."""
    spec = resource["spec"]
    yield from driver(spec["driver"])
    yield from _pool(spec["pool"])
    yield from _places(spec)
    devices, shared = spec["devices"], spec["sharedCounters"]
    if shared and devices:
        message = "spec.devices and spec.sharedCounters are mutually exclusive"
        help = "move one of them to another ResourceSlice of the pool"
        yield Problem(shared, message, help=help, reason="Invalid", at="key", field=spec)
    yield from _devices(devices, resource)
    yield from too_many(shared, _MAX_COUNTER_SETS)
    yield from duplicates(shared, "name", "sharedCounters name")
    for each in shared:
        yield from counters(each, "name")


def _pool(pool: Node) -> Iterator[Problem]:
    """Yield problems of spec.pool, which groups ResourceSlices."""
    count, generation = pool["resourceSliceCount"], pool["generation"]
    yield from pool_name(pool["name"])
    if (count.integer or 0) <= 0:
        message = f"resourceSliceCount {count.integer} is less than 1" if count else "pool.resourceSliceCount is required"
        yield Problem(count, message, help="set it to the number of ResourceSlices in the pool", reason="Invalid")
    if (generation.integer or 0) < 0:
        yield Problem(generation, f"generation {generation.integer} is negative", help="use 0 or more", reason="Invalid")


def _places(spec: Node) -> Iterator[Problem]:
    """Yield a slice that does not select nodes in exactly one of four ways."""
    selector = spec["nodeSelector"]
    terms = selector["nodeSelectorTerms"]
    if selector and len(terms) != 1:
        message = f"nodeSelectorTerms has {len(terms)} terms instead of 1"
        yield Problem(terms, message, help="use exactly one term", reason="Invalid", at="key")
    yield from place_problems(spec, _PLACES)
    given = given_places(spec, _PLACES)
    if not given:
        yield require(spec, Complaint("the ResourceSlice does not select nodes", f"add one of {', '.join(_PLACES)}"))
    elif len(given) > 1:
        yield Problem(given[1], many_selections(given, "the ResourceSlice"), reason="Invalid", at="key", field=spec)


def _devices(devices: Node, resource: Resource) -> Iterator[Problem]:
    contents = [device["basic"] if is_flat(resource) else device for device in devices]
    costly = any(len(each["taints"]) or len(each["consumesCounters"]) for each in contents)
    condition = " for devices with taints or counters" if costly else ""
    yield from too_many(devices, _MAX_TAINTED if costly else _MAX_DEVICES, condition)
    yield from duplicates(devices, "name", "device name")
    for device, inside in zip(devices, contents, strict=True):
        yield from device_problems(device, inside, resource)


@validator(types("ResourceSlice"), rule=dubious_setting)
def driver_is_lower_case(resource: Resource) -> Iterator[Problem]:
    """Yield driver names with uppercase letters. The API server accepts them with a warning and compares names case-sensitively."""
    name = resource["spec"]["driver"]
    if name.text != name.text.lower() and not resource.is_before(_WARNS_SINCE):
        message = f'driver "{name.text}" has uppercase letters and differs from driver "{name.text.lower()}"'
        yield Problem(name, message, help=f"use {name.text.lower()}")

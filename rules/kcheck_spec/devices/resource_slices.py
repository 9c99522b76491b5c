"""ResourceSlice: devices that a driver offers, and which nodes reach them.

Source: ValidateResourceSlice (pkg/apis/resource/validation/validation.go) and the warnings of pkg/registry/resource/resourceslice.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, declare, fields, validator
from kcheck_spec.devices._names import driver, duplicates, is_flat, pool_name, too_many, types
from kcheck_spec.devices._slice_devices import counters, device_problems, given_places, place_problems
from kcheck_spec.objects.common_constraints import dropped, dubious_setting, require

resource_slice = declare("invalid-resource-slice", "Invalid ResourceSlice (driver, pool, node selection, devices)")

_MOST_DEVICES = 128
_MOST_TAINTED = 64
_MOST_COUNTER_SETS = 8
_WARNS_SINCE = 35
_PLACES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")

tables = [
    fields(types("ResourceSlice"), spec=()),
    fields(types("ResourceSliceSpec"), driver=(), pool=()),
    fields(types("ResourcePool"), name=(), generation=(), resourceSliceCount=()),
    fields(types("Device"), name=(), nodeAllocatableResourceMappings=dropped),
    fields("resource/v1beta1 BasicDevice", nodeAllocatableResourceMappings=dropped),
    fields(types("DeviceCapacity", "Counter"), value=()),
    fields(types("CapacityRequestPolicyRange"), min=()),
    fields(types("CounterSet"), name=(), counters=()),
    fields(types("DeviceCounterConsumption"), counterSet=(), counters=()),
    fields(types("DeviceTaint"), key=()),
]


@validator(types("ResourceSlice"), rule=resource_slice)
def slice_is_sound(resource: Resource) -> Iterator[Problem]:
    """Who offers what, to which nodes."""
    spec = resource["spec"]
    yield from driver(spec["driver"])
    yield from _pool(spec["pool"])
    yield from _places(spec)
    devices, shared = spec["devices"], spec["sharedCounters"]
    if shared and devices:
        message = "a slice has devices or sharedCounters, not both"
        yield Problem(shared, message, help="move one of the two to another slice of the pool", reason="Invalid", at="key", field=spec)
    yield from _devices(devices, resource)
    yield from too_many(shared, _MOST_COUNTER_SETS, "sets of counters in a slice")
    yield from duplicates(shared, "name", "a set of counters")
    for each in shared:
        yield from counters(each, "name")


def _pool(pool: Node) -> Iterator[Problem]:
    """The slices that belong together."""
    count, generation = pool["resourceSliceCount"], pool["generation"]
    yield from pool_name(pool["name"])
    if (count.integer or 0) <= 0:
        message = f"a pool of {count.integer} slices has no devices" if count else "it is not said how many slices make up the pool"
        yield Problem(count, message, help="write resourceSliceCount, from 1 up", reason="Invalid")
    if (generation.integer or 0) < 0:
        yield Problem(generation, f"{generation.integer} is no generation", help="write a number that is not negative", reason="Invalid")


def _places(spec: Node) -> Iterator[Problem]:
    """Which nodes reach the devices is said in one of four ways."""
    selector = spec["nodeSelector"]
    terms = selector["nodeSelectorTerms"]
    if selector and len(terms) != 1:
        message = Complaint(f"the selector of a slice has one term, not {len(terms)}", "write all conditions into one")
        yield Problem(terms, message, reason="Invalid", at="key")
    yield from place_problems(spec, _PLACES)
    given = given_places(spec, _PLACES)
    if not given:
        yield require(spec, Complaint("it is not said which nodes reach the devices", f"add one of {', '.join(_PLACES)}"))
    elif len(given) > 1:
        message = Complaint(f"{' and '.join(each.name for each in given)} both say which nodes reach the devices", "keep one")
        yield Problem(given[1], message, reason="Invalid", at="key", field=spec)


def _devices(devices: Node, resource: Resource) -> Iterator[Problem]:
    contents = [device["basic"] if is_flat(resource) else device for device in devices]
    costly = any(len(each["taints"]) or len(each["consumesCounters"]) for each in contents)
    yield from too_many(devices, _MOST_TAINTED if costly else _MOST_DEVICES, "devices in a slice" + costly * " with taints or counters")
    yield from duplicates(devices, "name", "a device")
    for device, inside in zip(devices, contents, strict=True):
        yield from device_problems(device, inside, resource)


@validator(types("ResourceSlice"), rule=dubious_setting)
def driver_is_lower_case(resource: Resource) -> Iterator[Problem]:
    """Drivers are told apart by every letter, so capitals are accepted and make a driver of their own."""
    name = resource["spec"]["driver"]
    if name.text != name.text.lower() and not resource.is_before(_WARNS_SINCE):
        yield Problem(name, f"{name.text} and {name.text.lower()} are two drivers", help="write it in lower case")

"""The devices of a ResourceSlice. Source: validateDevice and what it calls (pkg/apis/resource/validation/validation.go)."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, labels, missing, names, pattern
from kcheck_spec.devices._capacity import capacity_problems
from kcheck_spec.devices._names import attribute, duplicates, too_many

_MOST_PROPERTIES = 32
_LONGEST_VALUE = 64
_MOST_TAINTS = 16
_MOST_CONDITIONS = 4
_MOST_CONSUMED_SETS = 2
_MOST_COUNTERS = 32
_PLACES = ("nodeName", "nodeSelector", "allNodes")
_SCALARS = ("bool", "int", "string", "version")
_LISTS = ("bools", "ints", "strings", "versions")
_LISTS_SINCE = 37

_NUMBER = "(?:0|[1-9][0-9]*)"
_PRERELEASE = rf"(?:{_NUMBER}|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_SEMVER = pattern(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_PRERELEASE}(?:\.{_PRERELEASE})*)?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?")


def device_problems(device: Node, contents: Node, resource: Resource) -> Iterator[Problem]:
    """`contents`: where the fields of the device stand, which is beside the name but in v1beta1."""
    name = device["name"]
    if not name.text:
        yield Problem(name if name else device, "a device needs a name", help="add one, such as gpu-0", reason="Invalid", field=name)
    elif wrong := names.dns_label(name.text):
        yield Problem(name, wrong, reason="Invalid")
    attributes, capacity = contents["attributes"], contents["capacity"]
    count = len(attributes) + len(capacity)
    if count > _MOST_PROPERTIES:
        message = f"a device has at most {_MOST_PROPERTIES} attributes and capacities, this has {count}"
        yield Problem(attributes if attributes else capacity, message, help="take some away", reason="Invalid", at="key", field=device)
    for key, value in attributes.entries:
        yield from _property_name(key, value, attributes)
        yield from _attribute(value, resource)
    for key, value in capacity.entries:
        yield from _property_name(key, value, capacity)
        yield from capacity_problems(value, contents["allowMultipleAllocations"].flag is True, resource)
    yield from too_many(contents["taints"], _MOST_TAINTS, "taints of a device")
    for taint in contents["taints"]:
        yield from _taint(taint)
    consumed = contents["consumesCounters"]
    yield from too_many(consumed, _MOST_CONSUMED_SETS, "sets of counters that a device draws on")
    yield from duplicates(consumed, "counterSet", "a set of counters", "draw on each once")
    for each in consumed:
        yield from counters(each, "counterSet")
    yield from _places(device, contents, resource["spec"]["perDeviceNodeSelection"].flag is True)
    yield from _conditions(contents)


def _property_name(key: str, value: Node, owner: Node) -> Iterator[Problem]:
    """The server names the map, whichever entry it means."""
    fault = attribute(key)
    if fault:
        yield Problem(value, fault.message, reason=fault.reason, at="key", field=owner)


def _attribute(value: Node, resource: Resource) -> Iterator[Problem]:
    """One value of one type. Lists are switched off in servers with default feature gates, and taken away before all else."""
    text, version = value["string"], value["version"]
    if len(text.text.encode()) > _LONGEST_VALUE:
        yield _long(text)
    if version and len(version.text.encode()) > _LONGEST_VALUE:
        yield _long(version)
    elif version and not _SEMVER.fullmatch(version.text):
        message = Complaint(f"{version.text or 'an empty text'} is no semantic version", "write one such as 1.2.3 or 1.2.3-rc.1")
        yield Problem(version, message, reason="Invalid")
    kinds = [key for key in _SCALARS if value[key]]
    lists = [key for key in _LISTS if value[key]]
    if len(kinds) > 1:
        message = Complaint(f"an attribute has one value, not {' and '.join(kinds)}", "keep one")
        yield Problem(value[kinds[1]], message, reason="Invalid", at="key", field=value)
    elif not kinds and lists and resource.is_before(_LISTS_SINCE):
        message = Complaint(
            "lists are switched off in servers with default feature gates", f"write {lists[0].removesuffix('s')} with one value"
        )
        yield Problem(value[lists[0]], message, reason="Invalid", at="key", field=value)
    elif not kinds and not lists:
        yield Problem(value, "an attribute needs a value", help=f"add {', '.join(_SCALARS[:-1])} or version", reason="Invalid", at="key")


def _long(node: Node) -> Problem:
    message = f"the value of an attribute has at most {_LONGEST_VALUE} bytes, this has {len(node.text.encode())}"
    return Problem(node, message, help="shorten it", reason="TooLong")


def _taint(taint: Node) -> Iterator[Problem]:
    """What keeps claims away that do not bear it. Source: validateDeviceTaint."""
    key, value = taint["key"], taint["value"]
    if wrong := labels.key(key.text):
        yield Problem(key, wrong if key.text else Complaint("a taint needs a key", "add one, such as example.com/broken"), reason="Invalid")
    if wrong := labels.value(value.text):
        yield Problem(value, wrong, reason="Invalid")


def counters(each: Node, key: str) -> Iterator[Problem]:
    """A set of counters, by name: what there is of them, or what a device takes of it. Source: validateCounterSet."""
    name, values = each[key], each["counters"]
    if not name.text:
        yield missing(name)
    elif wrong := names.dns_label(name.text):
        yield Problem(name, wrong, reason="Invalid")
    if not len(values):
        yield missing(values)
    yield from too_many(values, _MOST_COUNTERS, "counters in a set")
    for label, value in values.entries:
        if wrong := names.dns_label(label):
            yield Problem(value, wrong, reason="Invalid", at="key", field=values)


def given_places(owner: Node, keys: tuple[str, ...]) -> list[Node]:
    """The fields that say which nodes reach the devices."""
    return [owner[key] for key in keys if owner[key] and owner[key].value not in ("", False)]


def place_problems(owner: Node, keys: tuple[str, ...]) -> Iterator[Problem]:
    """A name that no node can have, and flags that are false, which says nothing."""
    name = owner["nodeName"]
    if name and (wrong := names.dns_subdomain(name.text)):
        yield Problem(
            name, wrong if name.text else Complaint("an empty text names no node", "write a name, or take nodeName away"), reason="Invalid"
        )
    for key in keys:
        if owner[key].flag is False:
            yield Problem(owner[key], f"{key} is true or is not there", help="write true, or take it away", reason="Invalid")


def _places(device: Node, contents: Node, single: bool) -> Iterator[Problem]:
    """`single`: each device says for itself which nodes reach it."""
    if not single:
        present = next((contents[key] for key in _PLACES if contents[key]), None)
        if present is not None:
            message = Complaint(f"{present.name} of a device needs perDeviceNodeSelection: true in the slice", "add that, or take it away")
            yield Problem(present, message, reason="Invalid", at="key", field=device)
        return
    yield from place_problems(contents, _PLACES)
    given = given_places(contents, _PLACES)
    if not given:
        yield Problem(device, "it is not said which nodes reach this device", help=f"add one of {', '.join(_PLACES)}", reason="Required")
    elif len(given) > 1:
        message = Complaint(f"{' and '.join(each.name for each in given)} both say which nodes reach this device", "keep one")
        yield Problem(given[1], message, reason="Invalid", at="key", field=device)


def _conditions(contents: Node) -> Iterator[Problem]:
    """What must become true before pods are bound, and what says that it will not. Source: validateDeviceBindingParameters."""
    wanted, failed = contents["bindingConditions"], contents["bindingFailureConditions"]
    for items in (wanted, failed):
        yield from too_many(items, _MOST_CONDITIONS, "conditions in a list")
        yield from duplicates(items, "", "the condition", "take it away")
        for item in items:
            if wrong := labels.key(item.text):
                yield Problem(item, wrong, reason="Invalid")
    known = {item.text for item in wanted}
    for item in failed:
        if item.text in known:
            yield Problem(
                item, f"{item.text} stands in bindingConditions as well", help="take it away from one of the two", reason="Invalid"
            )
    for items, others in ((wanted, failed), (failed, wanted)):
        if len(others) and not len(items):
            message = f"{others.name} need {items.name} as well"
            yield Problem(others, message, help=f"add them, or take {others.name} away", reason="Invalid", at="key", field=items)

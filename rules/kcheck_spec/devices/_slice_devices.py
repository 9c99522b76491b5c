"""The devices of a ResourceSlice. Source: validateDevice and its callees (pkg/apis/resource/validation/validation.go)."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Resource, labels, missing, names, pattern, remove
from kcheck_spec.devices._capacity import capacity_problems
from kcheck_spec.devices._names import attribute, duplicates, too_many

_MAX_PROPERTIES = 32
_MAX_VALUE = 64
_MAX_TAINTS = 16
_MAX_CONDITIONS = 4
_MAX_CONSUMED_SETS = 2
_MAX_COUNTERS = 32
_PLACES = ("nodeName", "nodeSelector", "allNodes")
_SCALARS = ("bool", "int", "string", "version")
_LISTS = ("bools", "ints", "strings", "versions")
_LISTS_SINCE = 37

_NUMBER = "(?:0|[1-9][0-9]*)"
_PRERELEASE = rf"(?:{_NUMBER}|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_SEMVER = pattern(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_PRERELEASE}(?:\.{_PRERELEASE})*)?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?")


def device_problems(device: Node, contents: Node, resource: Resource) -> Iterator[Problem]:
    """Yield problems of a device. `contents`: the node with its fields, which is `device` except in v1beta1."""
    name = device["name"]
    if not name.text:
        message = "name of the device is required"
        yield Problem(name if name else device, message, help="set it to a unique name such as gpu-0", reason="Invalid", field=name)
    elif wrong := names.dns_label(name.text):
        yield Problem(name, wrong, reason="Invalid")
    attributes, capacity = contents["attributes"], contents["capacity"]
    count = len(attributes) + len(capacity)
    if count > _MAX_PROPERTIES:
        message = f"attributes and capacity have {count} entries, more than the maximum of {_MAX_PROPERTIES}"
        yield Problem(attributes if attributes else capacity, message, help="remove some", reason="Invalid", at="key", field=device)
    for key, value in attributes.entries:
        yield from _property_name(key, value, attributes)
        yield from _attribute(value, resource)
    for key, value in capacity.entries:
        yield from _property_name(key, value, capacity)
        yield from capacity_problems(value, contents["allowMultipleAllocations"].boolean is True, resource)
    yield from too_many(contents["taints"], _MAX_TAINTS)
    for taint in contents["taints"]:
        yield from _taint(taint)
    consumed = contents["consumesCounters"]
    yield from too_many(consumed, _MAX_CONSUMED_SETS)
    yield from duplicates(consumed, "counterSet", "counterSet", "merge the counters of both entries")
    for each in consumed:
        yield from counters(each, "counterSet")
    yield from _places(device, contents, resource["spec"]["perDeviceNodeSelection"].boolean is True)
    yield from _conditions(contents)


def _property_name(key: str, value: Node, owner: Node) -> Iterator[Problem]:
    """Yield an invalid name of an attribute or capacity. The API server reports the map, not the entry."""
    fault = attribute(key)
    if fault:
        yield Problem(value, fault.message, reason=fault.reason, at="key", field=owner)


def _attribute(value: Node, resource: Resource) -> Iterator[Problem]:
    """Yield attributes without exactly one value. With the default feature gates the API server drops lists before validation."""
    text, version = value["string"], value["version"]
    if len(text.text.encode()) > _MAX_VALUE:
        yield _too_long(text)
    if version and len(version.text.encode()) > _MAX_VALUE:
        yield _too_long(version)
    elif version and not _SEMVER.fullmatch(version.text):
        message = f'version "{version.text}" is not a valid semantic version'
        yield Problem(version, message, help="use the form 1.2.3 or 1.2.3-rc.1", reason="Invalid")
    kinds = [key for key in _SCALARS if value[key]]
    lists = [key for key in _LISTS if value[key]]
    if len(kinds) > 1:
        message = f'attribute "{value.name}" has several values: {" and ".join(kinds)}'
        yield Problem(value[kinds[1]], message, help="keep only one", reason="Invalid", at="key", field=value)
    elif not kinds and lists and resource.is_before(_LISTS_SINCE):
        message = f"{lists[0]} is ignored by API servers with default feature gates"
        help = f"use {lists[0].removesuffix('s')} with a single value"
        yield Problem(value[lists[0]], message, help=help, reason="Invalid", at="key", field=value)
    elif not kinds and not lists:
        message = f'attribute "{value.name}" has no value'
        yield Problem(value, message, help=f"add {', '.join(_SCALARS[:-1])} or version", reason="Invalid", at="key")


def _too_long(node: Node) -> Problem:
    message = f"{node.name} has {len(node.text.encode())} bytes, more than the maximum of {_MAX_VALUE}"
    return Problem(node, message, help="shorten it", reason="TooLong")


def _taint(taint: Node) -> Iterator[Problem]:
    """Yield an invalid key or value of a taint. Source: validateDeviceTaint."""
    key, value = taint["key"], taint["value"]
    if wrong := labels.key(key.text):
        missing_key = Complaint("key of the taint is required", "set it to a label key such as example.com/broken")
        yield Problem(key, wrong if key.text else missing_key, reason="Invalid")
    if wrong := labels.value(value.text):
        yield Problem(value, wrong, reason="Invalid")


def counters(each: Node, key: str) -> Iterator[Problem]:
    """Yield problems of a counter set, or of what a device consumes of one. `key`: the field with its name. Source: validateCounterSet."""
    name, values = each[key], each["counters"]
    if not name.text:
        yield missing(name)
    elif wrong := names.dns_label(name.text):
        yield Problem(name, wrong, reason="Invalid")
    if not len(values):
        yield missing(values)
    yield from too_many(values, _MAX_COUNTERS)
    for label, value in values.entries:
        if wrong := names.dns_label(label):
            yield Problem(value, wrong, reason="Invalid", at="key", field=values)


def given_places(owner: Node, keys: tuple[str, ...]) -> list[Node]:
    """The fields that select nodes and are set."""
    return [owner[key] for key in keys if owner[key] and owner[key].value not in ("", False)]


def place_problems(owner: Node, keys: tuple[str, ...]) -> Iterator[Problem]:
    """Yield an invalid nodeName, and flags that are false."""
    name = owner["nodeName"]
    if name and (wrong := names.dns_subdomain(name.text)):
        empty = Complaint("nodeName is empty", "set it to the name of a node, or remove it")
        yield Problem(name, wrong if name.text else empty, reason="Invalid")
    for key in keys:
        if owner[key].boolean is False:
            yield Problem(owner[key], f"{key}: false is not allowed", help=f"remove it, or set {key}: true", reason="Invalid")


def many_selections(given: list[Node], what: str) -> str:
    """The complaint about several fields that select the nodes of `what`."""
    return Complaint(f"{what} selects nodes in several ways: {' and '.join(each.name for each in given)}", "keep only one")


def _places(device: Node, contents: Node, single: bool) -> Iterator[Problem]:
    """Yield problems of the node selection of a device. `single`: whether the slice has perDeviceNodeSelection: true."""
    if not single:
        present = next((contents[key] for key in _PLACES if contents[key]), None)
        if present is not None:
            message = f"{present.name} of a device requires spec.perDeviceNodeSelection: true"
            help = f"remove {present.name}, or set perDeviceNodeSelection: true"
            yield Problem(present, message, help=help, reason="Invalid", at="key", field=device)
        return
    yield from place_problems(contents, _PLACES)
    given = given_places(contents, _PLACES)
    if not given:
        message = f'device "{device["name"].text}" does not select nodes'
        yield Problem(device, message, help=f"add one of {', '.join(_PLACES)}", reason="Required")
    elif len(given) > 1:
        message = many_selections(given, f'device "{device["name"].text}"')
        yield Problem(given[1], message, reason="Invalid", at="key", field=device)


def _conditions(contents: Node) -> Iterator[Problem]:
    """Yield problems of bindingConditions and bindingFailureConditions. Source: validateDeviceBindingParameters."""
    wanted, failed = contents["bindingConditions"], contents["bindingFailureConditions"]
    for items in (wanted, failed):
        yield from too_many(items, _MAX_CONDITIONS)
        yield from duplicates(items, "", f"{items.name} entry", remove())
        for item in items:
            if wrong := labels.key(item.text):
                yield Problem(item, wrong, reason="Invalid")
    known = {item.text for item in wanted}
    for item in failed:
        if item.text in known:
            message = f'condition "{item.text}" is in bindingConditions and bindingFailureConditions'
            yield Problem(item, message, help="remove it from one of them", reason="Invalid")
    for items, others in ((wanted, failed), (failed, wanted)):
        if len(others) and not len(items):
            message = f"{others.name} requires {items.name}"
            yield Problem(others, message, help=f"add {items.name}, or remove {others.name}", reason="Invalid", at="key", field=items)

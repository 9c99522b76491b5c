"""What claims and classes of devices have in common: selectors in CEL, and what is passed on to the driver.

Source: validateSelector, validateOpaqueConfiguration and validateRawExtension (pkg/apis/resource/validation/validation.go).
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Reason, Resource, check_device_selector, fields, help_of, missing
from kcheck_spec.devices._names import driver, too_many, types
from kcheck_spec.objects.common_constraints import require

_MOST_SELECTORS = 32
_LONGEST_EXPRESSION = 10 * 1024
_LONGEST_PARAMETERS = 10 * 1024
# A program that cannot be made of a sound expression is the server's own fault to it, and a costly one is forbidden.
_REASONS: tuple[tuple[str, Reason], ...] = (("program instantiation", "Internal"), ("too complex", "Forbidden"))
_ESCAPES = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})

tables = [
    fields(types("CELDeviceSelector"), expression=()),
    fields(types("OpaqueDeviceConfiguration"), driver=(), parameters=()),
]


def selectors(items: Node, resource: Resource) -> Iterator[Problem]:
    """Conditions that a device must meet, all of them."""
    yield from too_many(items, _MOST_SELECTORS, "selectors")
    for item in items:
        cel = item["cel"]
        if not cel:
            yield require(cel, Complaint("a selector needs a condition", "add cel.expression, such as device.driver == 'gpu.example.com'"))
        else:
            yield from _expression(cel["expression"], resource)


def _expression(node: Node, resource: Resource) -> Iterator[Problem]:
    text = node.text
    size = len(text.encode())
    if size > _LONGEST_EXPRESSION:
        yield Problem(node, f"an expression has at most {_LONGEST_EXPRESSION} bytes, this has {size}", help="shorten it", reason="TooLong")
        return
    if not text:
        yield Problem(
            node, "the expression is empty", help="write a condition, such as device.driver == 'gpu.example.com'", reason="Invalid"
        )
        return
    for wrong in check_device_selector(text, resource.minor):
        reason: Reason = next((reason for start, reason in _REASONS if start in wrong), "Invalid")
        yield Problem(node, f"the API server refuses this expression: {wrong}", help=help_of(wrong), reason=reason)


def configuration(item: Node) -> Iterator[Problem]:
    """What is passed on to the driver as it stands: a JSON object."""
    opaque = item["opaque"]
    if not opaque:
        yield require(opaque, Complaint("a configuration needs opaque, with the driver that it is for and its parameters", "add it"))
        return
    yield from driver(opaque["driver"])
    parameters = opaque["parameters"]
    if not parameters:
        yield missing(parameters)
    elif (size := _size(parameters)) > _LONGEST_PARAMETERS:
        yield Problem(
            parameters, f"parameters have at most {_LONGEST_PARAMETERS} bytes as JSON, these {size}", help="shorten them", reason="TooLong"
        )
    elif not parameters.is_map:
        yield Problem(parameters, "parameters are a map", help="write names and values", reason="Invalid")


def _size(node: Node) -> int:
    """The size as the server's JSON, which escapes what HTML gives a meaning."""
    text = json.dumps(node.plain(), separators=(",", ":"), ensure_ascii=False)
    return len(text.translate(_ESCAPES).encode("utf-8", "surrogatepass"))

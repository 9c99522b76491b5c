"""CEL selectors and opaque configurations, which ResourceClaims and DeviceClasses have in common.

Source: validateSelector, validateOpaqueConfiguration and validateRawExtension (pkg/apis/resource/validation/validation.go).
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, Reason, Resource, check_device_selector, fields, help_of, missing
from kcheck_spec.devices._names import driver, too_many, types
from kcheck_spec.objects.common_constraints import require

_MAX_SELECTORS = 32
_MAX_EXPRESSION = 10 * 1024
_MAX_PARAMETERS = 10 * 1024
# The reasons of the API server for messages that are not plain compile errors.
_REASONS: tuple[tuple[str, Reason], ...] = (("program instantiation", "Internal"), ("too complex", "Forbidden"))
_EXAMPLE = 'device.driver == "gpu.example.com"'
# The suffix of messages about unknown names.
_CONTAINER = " (in container '')"
_ESCAPES = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})

tables = [
    fields(types("CELDeviceSelector"), expression=()),
    fields(types("OpaqueDeviceConfiguration"), driver=(), parameters=()),
]


def selectors(items: Node, resource: Resource) -> Iterator[Problem]:
    """Yield problems of selectors: too many of them, and missing or invalid CEL expressions."""
    yield from too_many(items, _MAX_SELECTORS)
    for item in items:
        cel = item["cel"]
        if not cel:
            yield require(cel, Complaint("the selector has no cel", f"add cel.expression, such as {_EXAMPLE}"))
        else:
            yield from _expression(cel["expression"], resource)


def _expression(node: Node, resource: Resource) -> Iterator[Problem]:
    text = node.text
    size = len(text.encode())
    if size > _MAX_EXPRESSION:
        message = f"cel.expression has {size} bytes, more than the maximum of {_MAX_EXPRESSION}"
        yield Problem(node, message, help="shorten it", reason="TooLong")
        return
    if not text:
        help = f"set it to a condition such as {_EXAMPLE}"
        yield Problem(node, "cel.expression is missing or empty", help=help, reason="Invalid")
        return
    for wrong in check_device_selector(text, resource.minor):
        reason: Reason = next((reason for start, reason in _REASONS if start in wrong), "Invalid")
        message = f"the API server rejects cel.expression: {wrong.removesuffix(_CONTAINER)}"
        yield Problem(node, message, help=help_of(wrong), reason=reason)


def configuration(item: Node) -> Iterator[Problem]:
    """Yield problems of an opaque configuration, a JSON object that is passed to the driver unchanged."""
    opaque = item["opaque"]
    if not opaque:
        yield require(opaque, Complaint("opaque is required", "add opaque with driver and parameters"))
        return
    yield from driver(opaque["driver"])
    parameters = opaque["parameters"]
    if not parameters:
        yield missing(parameters)
    elif (size := _size(parameters)) > _MAX_PARAMETERS:
        message = f"parameters has {size} bytes as JSON, more than the maximum of {_MAX_PARAMETERS}"
        yield Problem(parameters, message, help="shorten it", reason="TooLong")
    elif not parameters.is_map:
        yield Problem(parameters, "parameters must be a map", help="use a map of names and values", reason="Invalid")


def _size(node: Node) -> int:
    """The number of bytes as JSON of the API server, which escapes HTML characters."""
    text = json.dumps(node.plain(), separators=(",", ":"), ensure_ascii=False)
    return len(text.translate(_ESCAPES).encode("utf-8", "surrogatepass"))

"""DeviceClass. Source: ValidateDeviceClass (pkg/apis/resource/validation/validation.go)."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Problem, Resource, declare, fields, validator
from kcheck_spec.devices._names import too_many, types
from kcheck_spec.devices.selectors import configuration, selectors
from kcheck_spec.workloads._resource_names import is_extended

device_class = declare("invalid-device-class", "Invalid DeviceClass (selectors, config, extendedResourceName)")

_MAX_CONFIGURATIONS = 32

tables = [fields(types("DeviceClass"), spec=())]


@validator(types("DeviceClass"), rule=device_class)
def device_class_is_sound(resource: Resource) -> Iterator[Problem]:
    """Yield problems of selectors, config and extendedResourceName."""
    spec = resource["spec"]
    yield from selectors(spec["selectors"], resource)
    yield from too_many(spec["config"], _MAX_CONFIGURATIONS)
    for item in spec["config"]:
        yield from configuration(item)
    name = spec["extendedResourceName"]
    if name and not is_extended(name.text):
        message = f'extendedResourceName "{name.text}" is not an extended resource'
        yield Problem(name, message, help="use a name with a domain, such as example.com/gpu", reason="Invalid")

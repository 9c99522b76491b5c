"""Metrics of HorizontalPodAutoscalers: sources and targets.

Source: validateMetrics, validateMetricSpec and the functions of the sources (pkg/apis/autoscaling/validation). The API server
checks only the first source of a metric, in a fixed order, so field tables would report too much here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kcheck.api import Complaint, Node, Problem, declare, fields, names, validator
from kcheck_spec.objects.common_constraints import amount, not_supported, require
from kcheck_spec.workloads._resource_names import of_container

autoscaler_metric = declare("invalid-hpa-metric", "HorizontalPodAutoscaler has an invalid metric (type, source or target)", fixable=True)

_V2 = ("v2", "v2beta2")
_TARGETS = ("Utilization", "Value", "AverageValue")
# These fields are checked below, and only where the API server checks them.
_CHECKED_BELOW = {
    "MetricSpec": ("type",),
    "MetricIdentifier": ("name",),
    "MetricTarget": ("type",),
    "ResourceMetricSource": ("name",),
    "ContainerResourceMetricSource": ("name", "container"),
}
tables = [
    fields(tuple(f"autoscaling/{version} {name}" for version in _V2), **dict.fromkeys(keys, ()))
    for name, keys in _CHECKED_BELOW.items()
]  # fmt: skip


@validator(tuple(f"autoscaling/{version} MetricSpec" for version in _V2), rule=autoscaler_metric)
def metrics_have_one_source(metric: Node) -> Iterator[Problem]:
    """A metric has the source of its type and no other."""
    kind = metric["type"]
    wanted = f"{kind.text[:1].lower()}{kind.text[1:]}"
    written = [name for name in _SOURCES if metric[name]]
    if not kind.text:
        hint = f"add {_type(written[0])}" if written else f"add type, one of {', '.join(map(_type_name, _SOURCES))}"
        yield require(kind, Complaint("type of the metric is missing", hint))
    elif wanted not in _SOURCES or kind.text != _type_name(wanted):
        yield not_supported(kind, list(map(_type_name, _SOURCES)))
        wanted = ""
    elif wanted not in written:
        hint = f"use {_type(written[0])}, or replace {written[0]} with {wanted}" if written else f"add {wanted}"
        yield require(metric[wanted], Complaint(f'metric of type "{kind.text}" has no field {wanted}', hint))
    if written:
        yield from _SOURCES[written[0]](metric[written[0]])
    for name in written if len(written) > 1 else ():
        if name != wanted:
            message = f'{name} is not allowed in a metric of type "{kind.text}"' if wanted else f"metric has {len(written)} sources"
            yield Problem(metric[name], message, help=f"remove {name}, or move it to a separate metric", reason="Forbidden", at="key")


def _type_name(source: str) -> str:
    return f"{source[:1].upper()}{source[1:]}"


def _type(source: str) -> str:
    return f"type: {_type_name(source)}"


def _identifier(metric: Node) -> Iterator[Problem]:
    name = metric["name"]
    if not name.text:
        yield require(name, Complaint("name of the metric is missing", "add metric.name"))
    elif wrong := names.path_segment(name.text):
        yield Problem(name, wrong, reason="Invalid")


def _target(target: Node) -> Iterator[Problem]:
    kind, utilization = target["type"], target["averageUtilization"]
    if not kind.text:
        yield require(kind, Complaint("type of the target is missing", f"add type, one of {', '.join(_TARGETS)}"))
    elif kind.text not in _TARGETS:
        yield not_supported(kind, _TARGETS).replace(reason="Invalid")
    for name in ("value", "averageValue"):
        quantity = amount(target[name])
        if quantity is not None and quantity.sign <= 0:
            yield Problem(target[name], f"{name}: {target[name].value} is not greater than 0", reason="Invalid")
    if utilization and (utilization.integer or 0) < 1:
        yield Problem(utilization, f"averageUtilization: {utilization.integer} is less than 1", reason="Invalid")


def _value(target: Node) -> Iterator[Problem]:
    if not target["value"] and not target["averageValue"]:
        yield require(target["averageValue"], Complaint("target has neither value nor averageValue", "add one of the two"))


def _utilization(target: Node) -> Iterator[Problem]:
    utilization, average = target["averageUtilization"], target["averageValue"]
    if not utilization and not average:
        hint = "add averageUtilization (percent of the request) or averageValue"
        yield require(utilization, Complaint("target has neither averageUtilization nor averageValue", hint))
    if utilization and average:
        message = "target has both averageUtilization and averageValue"
        yield Problem(average, message, help="remove one of the two", reason="Forbidden", at="key")


def _resource(source: Node) -> Iterator[Problem]:
    if not source["name"].text:
        yield require(source["name"], Complaint("name of the resource is missing", "add name, for example name: cpu"))
    yield from _target(source["target"])
    yield from _utilization(source["target"])


def _container_resource(source: Node) -> Iterator[Problem]:
    name, container = source["name"], source["container"]
    if wrong := of_container(name.text) if name.text else "":
        yield Problem(name, wrong, reason="Invalid")
    if not container.text:
        yield require(container, Complaint("container of the metric is missing", "add container with the name of a container"))
    elif wrong := names.dns_label(container.text):
        yield Problem(container, wrong, reason="Invalid")
    yield from _resource(source)


def _pods(source: Node) -> Iterator[Problem]:
    yield from _identifier(source["metric"])
    yield from _target(source["target"])
    if not source["target"]["averageValue"]:
        yield require(
            source["target"]["averageValue"], Complaint('target of a metric of type "Pods" has no averageValue', "add averageValue")
        )


def _object(source: Node) -> Iterator[Problem]:
    yield from _identifier(source["metric"])
    yield from _target(source["target"])
    yield from _value(source["target"])


def _external(source: Node) -> Iterator[Problem]:
    yield from _object(source)
    value = source["target"]["value"]
    if value and source["target"]["averageValue"]:
        yield Problem(value, "target has both value and averageValue", help="remove one of the two", reason="Forbidden", at="key")


# In the order in which the API server checks them.
_SOURCES: dict[str, Callable[[Node], Iterator[Problem]]] = {
    "object": _object,
    "external": _external,
    "pods": _pods,
    "resource": _resource,
    "containerResource": _container_resource,
}

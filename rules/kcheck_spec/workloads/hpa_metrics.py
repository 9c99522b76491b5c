"""What autoscalers measure, and which value they aim at.

Source: validateMetrics, validateMetricSpec and the functions of the sources (pkg/apis/autoscaling/validation). The server looks
into the first source of a metric alone, in an order of its own, so that tables would say too much here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kcheck.api import Complaint, Node, Problem, declare, fields, names, validator
from kcheck_spec.objects.common_constraints import amount, not_supported, require
from kcheck_spec.workloads._resource_names import of_container

autoscaler_metric = declare("invalid-hpa-metric", "HorizontalPodAutoscaler has an invalid metric (type, source or target)")

_V2 = ("v2", "v2beta2")
_TARGETS = ("Utilization", "Value", "AverageValue")
# Everything here is asked for below, and only where the server does.
_OWN = {
    "MetricSpec": ("type",),
    "MetricIdentifier": ("name",),
    "MetricTarget": ("type",),
    "ResourceMetricSource": ("name",),
    "ContainerResourceMetricSource": ("name", "container"),
}
tables = [
    fields(tuple(f"autoscaling/{version} {name}" for version in _V2), **dict.fromkeys(keys, ()))
    for name, keys in _OWN.items()
]  # fmt: skip


@validator(tuple(f"autoscaling/{version} MetricSpec" for version in _V2), rule=autoscaler_metric)
def metrics_have_one_source(metric: Node) -> Iterator[Problem]:
    """The source that the type names, and no other."""
    kind = metric["type"]
    wanted = f"{kind.text[:1].lower()}{kind.text[1:]}"
    written = [name for name in _SOURCES if metric[name]]
    if not kind.text:
        yield require(kind, Complaint("a metric has a type", f"add {(_type(written[0]) if written else 'type: Resource')}"))
    elif wanted not in _SOURCES or kind.text != _type(wanted).removeprefix("type: "):
        yield not_supported(kind, [_type(name).removeprefix("type: ") for name in _SOURCES])
        wanted = ""
    elif wanted not in written:
        yield require(metric[wanted], Complaint(f"a metric of type {kind.text} says what it measures", f"add {wanted}"))
    if written:
        yield from _SOURCES[written[0]](metric[written[0]])
    for name in written if len(written) > 1 else ():
        if name != wanted:
            message = f"a metric of type {kind.text or 'its own'} has one source"
            yield Problem(metric[name], message, help=f"take {name} away, or make another metric of it", reason="Forbidden", at="key")


def _type(source: str) -> str:
    return f"type: {source[:1].upper()}{source[1:]}"


def _identifier(metric: Node) -> Iterator[Problem]:
    name = metric["name"]
    if not name.text:
        yield require(name, Complaint("a metric is found by its name", "add it"))
    elif wrong := names.path_segment(name.text):
        yield Problem(name, wrong, reason="Invalid")


def _target(target: Node) -> Iterator[Problem]:
    kind, utilization = target["type"], target["averageUtilization"]
    if not kind.text:
        yield require(kind, Complaint("a target has a type", f"add one of {', '.join(_TARGETS)}"))
    elif kind.text not in _TARGETS:
        yield not_supported(kind, _TARGETS).replace(reason="Invalid")
    for name in ("value", "averageValue"):
        quantity = amount(target[name])
        if quantity is not None and quantity.sign <= 0:
            yield Problem(target[name], f"{target[name].value} cannot be kept", help="write more than 0", reason="Invalid")
    if utilization and (utilization.integer or 0) < 1:
        yield Problem(utilization, f"{utilization.integer} percent cannot be kept", help="write 1 or more", reason="Invalid")


def _value(target: Node) -> Iterator[Problem]:
    if not target["value"] and not target["averageValue"]:
        yield require(target["averageValue"], Complaint("a target has a number", "add value, or averageValue for every pod"))


def _utilization(target: Node) -> Iterator[Problem]:
    utilization, average = target["averageUtilization"], target["averageValue"]
    if not utilization and not average:
        yield require(utilization, Complaint("a target has a number", "add averageUtilization, in percent of the request, or averageValue"))
    if utilization and average:
        message = "averageUtilization and averageValue exclude each other"
        yield Problem(average, message, help="keep one", reason="Forbidden", at="key")


def _resource(source: Node) -> Iterator[Problem]:
    if not source["name"].text:
        yield require(source["name"], Complaint("the metric has no resource", "add its name, such as cpu"))
    yield from _target(source["target"])
    yield from _utilization(source["target"])


def _container_resource(source: Node) -> Iterator[Problem]:
    name, container = source["name"], source["container"]
    if wrong := of_container(name.text) if name.text else "":
        yield Problem(name, wrong, reason="Invalid")
    if not container.text:
        yield require(container, Complaint("the metric is of one container", "add its name"))
    elif wrong := names.dns_label(container.text):
        yield Problem(container, wrong, reason="Invalid")
    yield from _resource(source)


def _pods(source: Node) -> Iterator[Problem]:
    yield from _identifier(source["metric"])
    yield from _target(source["target"])
    if not source["target"]["averageValue"]:
        yield require(source["target"]["averageValue"], Complaint("a metric of pods is held at an average", "add averageValue"))


def _object(source: Node) -> Iterator[Problem]:
    yield from _identifier(source["metric"])
    yield from _target(source["target"])
    yield from _value(source["target"])


def _external(source: Node) -> Iterator[Problem]:
    yield from _object(source)
    value = source["target"]["value"]
    if value and source["target"]["averageValue"]:
        yield Problem(value, "value and averageValue exclude each other", help="keep one", reason="Forbidden", at="key")


# In the order in which the server looks.
_SOURCES: dict[str, Callable[[Node], Iterator[Problem]]] = {
    "object": _object,
    "external": _external,
    "pods": _pods,
    "resource": _resource,
    "containerResource": _container_resource,
}

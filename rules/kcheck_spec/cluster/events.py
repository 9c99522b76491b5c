"""Events, of the core group and of events.k8s.io. Source: ValidateEventCreate (pkg/apis/core/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, declare, fields, names, remove, validator

event = declare("invalid-event", "Invalid Event (reportingController, action, type, namespace)", fixable=True)

# The required fields depend on the API group and on eventTime.
tables = [
    fields("core/v1 Event", involvedObject=(), metadata=()),
    fields("events/v1 Event", eventTime=()),
    fields("events/v1 EventSeries", count=(), lastObservedTime=()),
]

# The server names the fields of the core group in its errors for both groups, except for the reporter.
_LIMITS = (("reportingInstance", 128), ("action", 128), ("reason", 128))
_NOTE_LIMIT = 1024
_DEPRECATED = {
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
    "deprecatedSource": "source",
}


@validator("core/v1 Event", rule=event)
def core_events_make_sense(root: Node) -> Iterator[Problem]:
    """Events without eventTime have the old form, which has few requirements."""
    yield from _about(root, root["involvedObject"]["namespace"])
    if root["eventTime"]:
        yield from _new_event(root, "reportingComponent", "message")


@validator("events/v1 Event", rule=event)
def events_make_sense(root: Node) -> Iterator[Problem]:
    """Fields of the old form are rejected."""
    yield from _about(root, root["regarding"]["namespace"])
    if root["eventTime"]:
        yield from _new_event(root, "reportingController", "note")
    else:
        yield Problem(root["eventTime"], 'missing required field "eventTime"', help="add eventTime", reason="Required")
    if root["type"].text not in ("Normal", "Warning"):
        kind = root["type"]
        message = f'type "{kind.text}" is not supported' if kind.text else "Event has no type"
        yield Problem(kind, message, help="set type to Normal or Warning", reason="Invalid")
    series = root["series"]
    if series:
        if (series["count"].integer or 0) < 2:
            message = "series.count must be at least 2"
            yield Problem(series["count"], message, help="set series.count to 2 or more, or remove series", reason="Invalid")
        if not series["lastObservedTime"]:
            yield Problem(series["lastObservedTime"], "series has no lastObservedTime", help="add lastObservedTime", reason="Required")
    for name, old in _DEPRECATED.items():
        value = root[name]
        given = value["component"].text or value["host"].text if name == "deprecatedSource" else value and value.value != 0
        if given:
            message = f"{name} is not allowed when an Event is created"
            yield Problem(value, message, help=remove(), reason="Invalid", at="key", field=root.virtual(old))


def _about(root: Node, subject: Node) -> Iterator[Problem]:
    """An Event must be in the namespace of its object, "default" for cluster-scoped ones. Unknown without metadata.namespace."""
    own = root.at("metadata", "namespace").text
    if not own:
        return
    if root["eventTime"]:
        wrong = not subject.text and own not in ("default", "kube-system")
    else:
        wrong = own != (subject.text or "default")
    if wrong:
        other = f'namespace "{subject.text}"' if subject.text else "no namespace"
        message = f'Event is in namespace "{own}", but its object is in {other}'
        help = "set both namespaces to the same value"
        yield Problem(subject, message, help=help, reason="Invalid", field=root.virtual("involvedObject", "namespace"))


def _new_event(root: Node, reporter: str, note: str) -> Iterator[Problem]:
    """The required fields of Events with an eventTime."""
    component = root[reporter]
    if not component.text:
        help = f"set {reporter} to the name of the controller, such as example.com/controller"
        yield Problem(component, f"Event has no {reporter}", help=help, reason="Required")
    else:
        wrong = names.qualified_name(component.text, noun="reporter name")
        if wrong:
            yield Problem(component, wrong, reason="Invalid")
    for name, limit in _LIMITS:
        if not root[name].text:
            yield Problem(root[name], f"Event has no {name}", help=f"add {name}", reason="Required")
        yield from _too_long(root[name], limit, root[name])
    yield from _too_long(root[note], _NOTE_LIMIT, root.virtual("message"))


def _too_long(node: Node, limit: int, field: Node) -> Iterator[Problem]:
    size = len(node.text.encode("utf-8", "surrogatepass"))
    if size > limit:
        message = f"{node.name} has {size} bytes, but at most {limit} are allowed"
        yield Problem(node, message, help=f"shorten it to {limit} bytes or less", reason="Invalid", field=field)

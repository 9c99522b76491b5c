"""Events, of the core group and of events.k8s.io. Source: ValidateEventCreate (pkg/apis/core/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Node, Problem, declare, fields, names, validator

event = declare("invalid-event", "Invalid Event (reportingController, action, type, namespace)")

# What is required depends on the group and on eventTime.
tables = [
    fields("core/v1 Event", involvedObject=(), metadata=()),
    fields("events/v1 Event", eventTime=()),
    fields("events/v1 EventSeries", count=(), lastObservedTime=()),
]

# The server names the fields of the core group, whichever group is asked, but for the reporter.
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
    """Events without eventTime are of the old kind, of which little is asked."""
    yield from _about(root, root["involvedObject"]["namespace"])
    if root["eventTime"]:
        yield from _new_event(root, "reportingComponent", "message")


@validator("events/v1 Event", rule=event)
def events_make_sense(root: Node) -> Iterator[Problem]:
    """Fields that the old events had are refused here."""
    yield from _about(root, root["regarding"]["namespace"])
    if root["eventTime"]:
        yield from _new_event(root, "reportingController", "note")
    else:
        yield Problem(root["eventTime"], "eventTime is required", help="add it", reason="Required")
    if root["type"].text not in ("Normal", "Warning"):
        kind = root["type"]
        yield Problem(
            kind, f"an event is Normal or Warning, not {kind.text or 'without a type'}", help="write one of the two", reason="Invalid"
        )
    series = root["series"]
    if series:
        if (series["count"].integer or 0) < 2:
            yield Problem(
                series["count"], "a series has two events at least", help="write 2 or more, or take series away", reason="Invalid"
            )
        if not series["lastObservedTime"]:
            yield Problem(series["lastObservedTime"], "a series needs lastObservedTime", help="add it", reason="Required")
    for name, old in _DEPRECATED.items():
        value = root[name]
        given = value["component"].text or value["host"].text if name == "deprecatedSource" else value and value.value != 0
        if given:
            yield Problem(
                value, f"new events do not have {name}", help="take it away", reason="Invalid", at="key", field=root.imaginary(old)
            )


def _about(root: Node, subject: Node) -> Iterator[Problem]:
    """An event stands in the namespace of its subject; those about cluster-wide objects in default. Unknown where it says none."""
    own = root.at("metadata", "namespace").text
    if not own:
        return
    if root["eventTime"]:
        wrong = not subject.text and own not in ("default", "kube-system")
    else:
        wrong = own != (subject.text or "default")
    if wrong:
        message = f"the event is in namespace {own}, what it is about in {subject.text or 'none'}"
        yield Problem(
            subject, message, help="write the same in both", reason="Invalid", field=root.imaginary("involvedObject", "namespace")
        )


def _new_event(root: Node, reporter: str, note: str) -> Iterator[Problem]:
    """What events with an eventTime must have."""
    component = root[reporter]
    if not component.text:
        yield Problem(component, f"an event needs {reporter}", help="add who reports it, such as example.com/controller", reason="Required")
    else:
        wrong = names.qualified_name(component.text, noun="the name of a reporter")
        if wrong:
            yield Problem(component, wrong, reason="Invalid")
    for name, limit in _LIMITS:
        if not root[name].text:
            yield Problem(root[name], f"an event needs {name}", help="add it", reason="Required")
        yield from _too_long(root[name], limit, root[name])
    yield from _too_long(root[note], _NOTE_LIMIT, root.imaginary("message"))


def _too_long(node: Node, limit: int, field: Node) -> Iterator[Problem]:
    size = len(node.text.encode("utf-8", "surrogatepass"))
    if size > limit:
        yield Problem(node, f"{node.name} of {size} bytes", help=f"shorten it to {limit}", reason="Invalid", field=field)

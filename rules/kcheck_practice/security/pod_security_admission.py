"""Pods held to the Pod Security Standards that the labels of their namespace name. Sources: the documentation's pages "Pod Security
Admission" and "Pod Security Standards"; k8s.io/pod-security-admission.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

from kcheck.api import (
    ERROR,
    INFO,
    WARNING,
    Bundle,
    Facts,
    PodFact,
    PodSecurityViolation,
    Problem,
    Related,
    Resource,
    Rule,
    Severity,
    nearest,
    rule,
)
from kcheck.api import pod_security as standards

_GROUPS = ("security", "pod-security-admission", "namespaces")
_KEYS = tuple(f"{standards.PREFIX}{mode}{ending}" for mode in standards.MODES for ending in ("", "-version"))
_MOST = 3
"""Containers that a message names."""


def _rule_of(mode: str, id: str, title: str, severity: Severity, tell: Callable[[Facts, Facts, str], str]) -> Rule:
    """The rule about a mode. `tell`: how a workload and a namespace of a level are told of."""

    @rule(id, title, severity=severity, facts="pods", groups=_GROUPS)
    def held(
        workload: Facts,
        bundle: Bundle,
        *,
        runtime_classes: Annotated[tuple[str, ...], "runtime classes that the API server's configuration exempts"] = (),
        namespaces: Annotated[tuple[str, ...], "namespaces that it exempts"] = (),
    ) -> Iterator[Problem]:
        if not workload.whole or not any(pod.breaches for pod in workload.pods) or workload.id.namespace in namespaces:
            return
        if any(r.kind == "RuntimeClass" and r.name in runtime_classes for r in workload.references):
            return
        space = _namespace(workload, bundle)
        if space is None:
            return
        before = standards.MODES[: standards.MODES.index(mode)]
        for pod in workload.pods:
            told = {each for stronger in before for each in _held_to(pod, space, stronger)}
            found = [each for each in _held_to(pod, space, mode) if each not in told]
            if found:
                level = space.labels[standards.PREFIX + mode]
                yield _problem(workload, space, found, tell(workload, space, level))

    return held


def _refused(workload: Facts, space: Facts, level: str) -> str:
    if workload.id.kind == "Pod":
        return f"namespace {space.id.name} enforces {level}, so the API server refuses {workload.title}"
    return f"namespace {space.id.name} enforces {level}, so {workload.title} is taken, but none of its pods"


pod_security_enforced = _rule_of(
    "enforce", "pod-security-enforce-violation", "Pod violates the Pod Security level that its namespace enforces", ERROR, _refused
)
pod_security_warned = _rule_of(
    "warn", "pod-security-warn-violation", "Pod violates the Pod Security level that its namespace warns about", WARNING,
    lambda workload, space, level: f"namespace {space.id.name} warns that {workload.title} is not {level}",
)  # fmt: skip
pod_security_audited = _rule_of(
    "audit", "pod-security-audit-violation", "Pod violates the Pod Security level that its namespace audits", INFO,
    lambda workload, space, level: f"namespace {space.id.name} notes for the audit that {workload.title} is not {level}",
)  # fmt: skip


@rule(
    "invalid-pod-security-label",
    "Namespace has an invalid pod-security.kubernetes.io label",
    severity=ERROR,
    kinds="core Namespace",
    groups=_GROUPS,
)
def pod_security_label(resource: Resource) -> Iterator[Problem]:
    """The server refuses a Namespace with a level or version that there is not, and passes over keys that it does not know."""
    for key, node in resource.node.at("metadata", "labels").entries:
        if not key.startswith(standards.PREFIX):
            continue
        if key not in _KEYS:
            near = nearest(key, _KEYS)
            hint = f"did you mean {near}?" if near else f"there are {', '.join(standards.MODES)}, each also with -version"
            yield Problem(node, f"{key} has no effect", help=hint, at="key")
        elif key.endswith("-version"):
            if standards.version_of(node.text) is None or not node.text:
                yield Problem(
                    node, f"{node.value!r} is no version of the Pod Security Standards", help="write latest, or one such as v1.36"
                )
        elif node.text not in standards.LEVELS:
            near = nearest(node.text, standards.LEVELS)
            hint = f"did you mean {near}?" if near else f"write {', '.join(standards.LEVELS[:-1])} or {standards.LEVELS[-1]}"
            yield Problem(node, f"{node.value!r} is no level of the Pod Security Standards", help=hint)


def _namespace(workload: Facts, bundle: Bundle) -> Facts | None:
    """The namespace that a workload says it is in, where the input has it with such labels and says one thing of it."""
    if not workload.id.namespace:
        return None
    spaces = [f for f in bundle.named("Namespace", workload.id.namespace) if any(key in f.labels for key in _KEYS)]
    spaces = [f for f in spaces if f.place.file == workload.place.file] or [f for f in spaces if bundle.together(f, workload)]
    said = {tuple(f.labels.get(key) for key in _KEYS) for f in spaces}
    return spaces[0] if len(said) == 1 else None


def _held_to(pod: PodFact, space: Facts, mode: str) -> list[PodSecurityViolation]:
    """What of a pod breaks the standard of a mode, in its version."""
    level = space.labels.get(standards.PREFIX + mode, "")
    version = standards.version_of(space.labels.get(f"{standards.PREFIX}{mode}-version", ""))
    if level not in standards.LEVELS[1:] or version is None:
        return []
    latest = version == standards.EVER
    return [
        each for each in pod.breaches
        if (level == "restricted" or not each.restricted) and (each.latest if latest else each.since <= version < each.until)
    ]  # fmt: skip


def _problem(workload: Facts, space: Facts, found: list[PodSecurityViolation], told: str) -> Problem:
    missing = dict.fromkeys(_wish(each) for each in found if each.place is None)
    written = {each.text: each.place for each in found if each.place is not None}
    hints = [f"add {_listed(list(missing))}"] if missing else []
    hints += [f"take away {_listed(list(written))}"] if written else []
    places = [place for place in written.values() if place is not None]
    related = [Related(space.place, f"Namespace {space.id.name}")]
    related += [Related(place, f"{text} stands here") for text, place in list(written.items())[1:] if place is not None]
    return Problem(places[0] if places else workload.place, f"{told}", help=" and ".join(hints), related=tuple(related))


def _wish(breach: PodSecurityViolation) -> str:
    """What is missing. Some of it can be said of the whole pod."""
    if breach.control in ("runAsNonRoot", "seccompProfile_restricted"):
        return breach.text
    more = len(breach.who) - _MOST
    who = _listed([*breach.who[:_MOST], *([f"{more} more"] if more > 0 else [])])
    return f"{breach.text} to {who}"


def _listed(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)

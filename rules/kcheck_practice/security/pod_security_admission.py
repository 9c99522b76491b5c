"""Pods checked against the Pod Security Standards that the labels of their Namespace set. Sources: the documentation's pages "Pod Security
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
    did_you_mean,
    enumeration,
    nearest,
    rule,
)
from kcheck.api import pod_security as standards

_GROUPS = ("security", "pod-security-admission", "namespaces")
_KEYS = tuple(f"{standards.PREFIX}{mode}{ending}" for mode in standards.MODES for ending in ("", "-version"))
_MAX_CONTAINERS = 3
"""How many containers a help text names."""
# Of some controls the restricted standard also reports a missing field, so that these are set and not removed.
_SETTINGS = {
    "runAsNonRoot": "runAsNonRoot: true",
    "allowPrivilegeEscalation": "allowPrivilegeEscalation: false",
    "seccompProfile_baseline": "seccompProfile.type: RuntimeDefault",
}


def _rule_of(mode: str, id: str, title: str, severity: Severity, message: Callable[[Facts, Facts, str], str]) -> Rule:
    """The rule about a mode. `message`: the message for a workload, its namespace and the level."""

    @rule(id, title, severity=severity, facts="pods", groups=_GROUPS)
    def held(
        workload: Facts,
        bundle: Bundle,
        *,
        runtime_classes: Annotated[tuple[str, ...], "RuntimeClasses that the configuration of the API server exempts"] = (),
        namespaces: Annotated[tuple[str, ...], "namespaces that the configuration of the API server exempts"] = (),
    ) -> Iterator[Problem]:
        if not workload.is_complete or not any(pod.breaches for pod in workload.pods) or workload.id.namespace in namespaces:
            return
        if any(r.kind == "RuntimeClass" and r.name in runtime_classes for r in workload.references):
            return
        space = _namespace(workload, bundle)
        if space is None:
            return
        before = standards.MODES[: standards.MODES.index(mode)]
        for pod in workload.pods:
            reported = {each for stronger in before for each in _breaches(pod, space, stronger)}
            found = [each for each in _breaches(pod, space, mode) if each not in reported]
            if found:
                level = space.labels[standards.PREFIX + mode]
                yield _problem(workload, space, found, message(workload, space, level))

    return held


def _refused(workload: Facts, space: Facts, level: str) -> str:
    standard = f'Namespace "{space.id.name}" enforces the {level} Pod Security Standard'
    if workload.id.kind == "Pod":
        return f"{standard}, so the API server rejects {workload.title}"
    return f"{standard}, so {workload.title} creates no Pods"


pod_security_enforced = _rule_of(
    "enforce", "pod-security-enforce-violation", "Pod violates the Pod Security level that its namespace enforces", ERROR, _refused
)
pod_security_warned = _rule_of(
    "warn", "pod-security-warn-violation", "Pod violates the Pod Security level that its namespace warns about", WARNING,
    lambda workload, space, level: (
        f'{workload.title} violates the {level} Pod Security Standard that Namespace "{space.id.name}" warns about'
    ),
)  # fmt: skip
pod_security_audited = _rule_of(
    "audit", "pod-security-audit-violation", "Pod violates the Pod Security level that its namespace audits", INFO,
    lambda workload, space, level: (
        f'{workload.title} violates the {level} Pod Security Standard that Namespace "{space.id.name}" audits'
    ),
)  # fmt: skip


@rule(
    "unknown-pod-security-label",
    "Namespace has an unknown pod-security.kubernetes.io label",
    kinds="core Namespace",
    groups=_GROUPS,
    fixable=True,
)
def unknown_pod_security_label(resource: Resource) -> Iterator[Problem]:
    """The API server ignores unknown labels with the prefix."""
    for key, node in resource.node.at("metadata", "labels").entries:
        if key.startswith(standards.PREFIX) and key not in _KEYS:
            near = nearest(key, _KEYS)
            keys = f"{enumeration(standards.MODES, 'or')}"
            hint = did_you_mean(near, f"use {standards.PREFIX} with {keys}, each optionally with -version")
            yield Problem(node, f'label "{key}" has no effect', help=hint, at="key")


def _namespace(workload: Facts, bundle: Bundle) -> Facts | None:
    """The Namespace of a workload, if the input has it with Pod Security labels and all its definitions have the same ones.

    None for a workload without metadata.namespace.
    """
    if not workload.id.namespace:
        return None
    spaces = [f for f in bundle.named("Namespace", workload.id.namespace) if any(key in f.labels for key in _KEYS)]
    spaces = [f for f in spaces if f.place.file == workload.place.file] or [f for f in spaces if bundle.together(f, workload)]
    said = {tuple(f.labels.get(key) for key in _KEYS) for f in spaces}
    return spaces[0] if len(said) == 1 else None


def _breaches(pod: PodFact, space: Facts, mode: str) -> list[PodSecurityViolation]:
    """What of a Pod violates the level that a namespace sets for a mode, in the version that the namespace sets."""
    level = space.labels.get(standards.PREFIX + mode, "")
    version = standards.version_of(space.labels.get(f"{standards.PREFIX}{mode}-version", ""))
    if level not in standards.LEVELS[1:] or version is None:
        return []
    latest = version == standards.LATEST
    return [
        each for each in pod.breaches
        if (level == "restricted" or not each.restricted) and (each.latest if latest else each.since <= version < each.until)
    ]  # fmt: skip


def _problem(workload: Facts, space: Facts, found: list[PodSecurityViolation], message: str) -> Problem:
    missing = dict.fromkeys(_addition(each) for each in found if each.place is None)
    written = {each.text: each.place for each in found if each.place is not None}
    wrong = dict.fromkeys(_SETTINGS[each.control] for each in found if each.place is not None and each.control in _SETTINGS)
    extra = dict.fromkeys(each.text for each in found if each.place is not None and each.control not in _SETTINGS)
    hints = [f"remove {enumeration(list(extra))}"] if extra else []
    hints += [f"set {enumeration(list(wrong))}"] if wrong else []
    hints += [f"add to securityContext: {', '.join(missing)}"] if missing else []
    places = [place for place in written.values() if place is not None]
    related = [Related(space.place, f'Namespace "{space.id.name}"')]
    related += [Related(place, f"{text} is set here") for text, place in list(written.items())[1:] if place is not None]
    return Problem(places[0] if places else workload.place, message, help=", and ".join(hints), related=tuple(related))


def _addition(breach: PodSecurityViolation) -> str:
    """The missing field and where to add it: the Pod, or the containers where the field exists for containers only."""
    if breach.control in ("runAsNonRoot", "seccompProfile_restricted"):
        return f"{breach.text} (Pod)"
    more = len(breach.who) - _MAX_CONTAINERS
    who = [*(f'"{name}"' for name in breach.who[:_MAX_CONTAINERS]), *([f"{more} more"] if more > 0 else [])]
    return f"{breach.text} (container{'s' * (len(who) > 1)} {enumeration(who)})"

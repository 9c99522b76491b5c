"""Controllers that get in each other's way. Source: the documentation's pages "Labels and Selectors", "Deployments", "ReplicaSet"."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from kcheck.api import Bundle, Facts, Problem, Related, Scope, SelectorFact, rule

# These take over pods that nobody owns; a Deployment's ReplicaSets select by a hash, too.
_ADOPTING = {"ReplicaSet", "ReplicationController"}
_MOST = 100
"""Pods that are looked at for one controller, lest a file of copies take time without end."""


@rule("selector-overlap", "Selectors of two workloads match the same Pods", facts="selectors", groups=("relations", "workloads"))
def selector_overlap(controller: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Told of controllers that surely live together: in one file, in one folder and namespace, or in a complete input."""
    own = _owned(controller)
    if own is None or not own.selector.requirements:
        return
    told = False
    for other, _ in islice(bundle.selected(controller, own.selector, _scope(controller, bundle)), _MOST):
        theirs = _owned(other)
        if not _live_together(controller, other) or bundle.variants.alternatives(controller.place.file, other.place.file):
            continue
        if theirs is None:
            if other.id.kind == "Pod" and controller.id.kind in _ADOPTING:
                yield _adoption(controller, other, own)
        elif _order(other) < _order(controller):
            if not told:
                yield _overlap(controller, own, other, theirs)
            told = True
        elif not any(pod.meets(theirs.selector) for pod in controller.pods):
            # The other one will not see these pods, so it is told from here.
            yield _overlap(other, theirs, controller, own)


def _scope(controller: Facts, bundle: Bundle) -> Scope:
    if bundle.complete:
        return "input"
    return "folder" if controller.id.namespace not in ("", "default") else "file"


def _owned(facts: Facts) -> SelectorFact | None:
    return next((found for found in facts.selectors if found.owns), None) if facts.whole else None


def _live_together(first: Facts, second: Facts) -> bool:
    """Whether two objects surely share a namespace and are not the same object twice."""
    if (first.id.namespace or "default") != (second.id.namespace or "default"):
        return False
    return (first.group, first.id.kind, first.id.name) != (second.group, second.id.kind, second.id.name)


def _order(facts: Facts) -> tuple[str, int]:
    return facts.place.file, facts.place.start


def _overlap(later: Facts, own: SelectorFact, first: Facts, theirs: SelectorFact) -> Problem:
    line = first.place.range.start.line
    where = f"line {line}" if first.place.file == later.place.file else f"{first.place.file}:{line}"
    message = f"{later.title} and {first.title} ({where}) select the same pods"
    return Problem(
        own.place,
        message,
        help="give each a label of its own in selector and template",
        related=(Related(theirs.place, f"{first.title} selects {theirs.selector}"),),
    )


def _adoption(controller: Facts, pod: Facts, own: SelectorFact) -> Problem:
    message = f"{controller.title} selects {own.selector} and takes {pod.title} for one of its own"
    return Problem(
        pod.place, message, help="give the Pod other labels", related=(Related(own.place, f"the selector of {controller.title}"),)
    )

"""Rules about controllers whose selectors overlap.

Source: the pages "Labels and Selectors", "Deployments" and "ReplicaSet" of the Kubernetes documentation.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from kcheck.api import Bundle, Facts, Problem, Related, SelectorFact, rule

# These adopt Pods without an owner. The ReplicaSets of a Deployment do not, as they also select by pod-template-hash.
_ADOPTING = {"ReplicaSet", "ReplicationController"}
# The number of matching workloads compared with one controller, which limits the time for files with many copies.
_MAX_COMPARED = 100


@rule("selector-overlap", "Selectors of two workloads match the same Pods", facts="selectors", groups=("relations", "workloads"))
def selector_overlap(controller: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a problem for each pair of controllers that certainly share a namespace: they are in one file or whole unit, or in a complete
    input.
    """
    own = _owned(controller)
    if own is None or not own.selector.requirements:
        return
    reported = False
    for other, _ in islice(bundle.pods_matching(controller, own.selector), _MAX_COMPARED):
        theirs = _owned(other)
        if not _share_namespace(controller, other) or not bundle.are_applied_together(controller, other):
            continue
        if theirs is None:
            if other.id.kind == "Pod" and controller.id.kind in _ADOPTING:
                yield _adoption(controller, other, own)
        elif _order(other) < _order(controller):
            if not reported:
                yield _overlap(controller, own, other, theirs)
            reported = True
        elif not any(pod.meets(theirs.selector) for pod in controller.pods):
            # The selector of the other one does not match these Pods, so its own turn does not report the pair.
            yield _overlap(other, theirs, controller, own)


def _owned(facts: Facts) -> SelectorFact | None:
    """The selector by which a controller finds its own Pods; None for other objects."""
    return next((found for found in facts.selectors if found.owns), None) if facts.is_complete else None


def _share_namespace(first: Facts, second: Facts) -> bool:
    """Whether two objects certainly share a namespace and are different objects."""
    if (first.id.namespace or "default") != (second.id.namespace or "default"):
        return False
    return (first.group, first.id.kind, first.id.name) != (second.group, second.id.kind, second.id.name)


def _order(facts: Facts) -> tuple[str, int]:
    """Sort key: file, then position in the file."""
    return facts.place.file, facts.place.start


def _overlap(later: Facts, own: SelectorFact, first: Facts, theirs: SelectorFact) -> Problem:
    line = first.place.range.start.line
    where = f"line {line}" if first.place.file == later.place.file else f"{first.place.file}:{line}"
    return Problem(
        own.place,
        f"{later.title} and {first.title} ({where}) select the same Pods",
        help="add a label with a different value to the selector and the template labels of each",
        related=(Related(theirs.place, f"{first.title} selects {theirs.selector}"),),
    )


def _adoption(controller: Facts, pod: Facts, own: SelectorFact) -> Problem:
    return Problem(
        pod.place,
        f"{controller.title} selects {own.selector} and adopts {pod.title}",
        help=f"change metadata.labels of {pod.title}",
        related=(Related(own.place, f"selector of {controller.title}"),),
    )

"""Signs of Pods that a selector may match, used by rules that report that a selector matches no Pod."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from operator import itemgetter

from kcheck.facts.facts import Facts
from kcheck.facts.pod_index import PodTable, grouped
from kcheck.facts.variants import may_share
from kcheck.kube.placeholders import in_text
from kcheck.kube.selector import Selector


class Presence:
    """The Pods of an input, including those of patches, and the custom resources whose controllers may create arbitrary Pods."""

    def __init__(self, facts: list[Facts], pods: PodTable) -> None:
        self._pods = pods
        parts = ((f, pod) for f in facts if not f.is_complete for pod in f.pods)
        pairs = ((label, part) for part in parts for label in part[1].labels.items())
        self._parts = grouped(pairs, lambda pair: pair[0], lambda pair: pair[1])
        # If a Pod template has no labels, a kustomization adds them; their value is often the name of the workload.
        self._unlabelled = grouped((f for f in facts if any(not pod.labels for pod in f.pods)), lambda f: f.id.name)
        self._open = [(f, pod) for f, pod in pods.pairs if any(in_text(each) for label in pod.labels.items() for each in label)]
        self._operated = [f for f in facts if f.operated]
        self._names = frozenset(f.id.name for f in self._operated)
        self._labelled = grouped(((label, f) for f in self._operated for label in f.labels.items()), itemgetter(0), itemgetter(1))

    def has_signs(self, by: Facts, selector: Selector, but_files: Collection[str] = ()) -> bool:
        """Return whether there is a sign of Pods for the selector of an object. Pods of `but_files` do not count.

        Signs are: a Pod that meets the selector, even of a variant that does not belong to the object; a custom resource with these labels,
        or whose name is the beginning of a value of the selector; a workload without Pod labels whose name is a value of the selector; a
        Pod that meets the selector if placeholders in its labels are filled in accordingly. A selector with placeholders is not evaluated.
        """
        values = {value for r in selector.requirements for value in r.values}
        if any(in_text(r.key) or any(map(in_text, r.values)) for r in selector.requirements):
            return True
        if any(_may_meet(pod.labels, selector) and may_share(by.id.namespace, f.id.namespace) for f, pod in self._open):
            return True
        if any(value[:end] in self._names for value in values for end, sign in enumerate(f"{value}-") if sign == "-"):
            return True
        if any(may_share(by.id.namespace, f.id.namespace) for value in values for f in self._unlabelled.get(value, ())):
            return True
        whole = (pair for _, files in self._pods.candidates(selector) for found in files.values() for pair in found)
        labels = ((r.key, value) for r in selector.requirements if r.operator == "In" for value in r.values)
        pods = chain(whole, chain.from_iterable(self._parts.get(label, ()) for label in labels))
        others = ((f, pod) for f, pod in pods if f.place.file not in but_files) if but_files else pods
        if any(pod.meets(selector) and may_share(by.id.namespace, f.id.namespace) for f, pod in others):
            return True
        return any(selector.matches(f.labels) and may_share(by.id.namespace, f.id.namespace) for f in self._operated_for(selector))

    def _operated_for(self, selector: Selector) -> Iterable[Facts]:
        """Return the custom resources that a selector may match, found by its first In requirement."""
        equal = next((r for r in selector.requirements if r.operator == "In"), None)
        if equal is None:
            return self._operated
        return chain.from_iterable(self._labelled.get((equal.key, value), ()) for value in equal.values)


def _may_meet(labels: Mapping[str, str], selector: Selector) -> bool:
    """Return whether labels with placeholders may meet a selector."""
    if any(map(in_text, labels)):
        return True
    return all(r.matches(labels) or in_text(labels.get(r.key, "")) for r in selector.requirements)

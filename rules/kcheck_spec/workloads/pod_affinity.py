"""Which pods on the same node, zone or other domain, and which not.

Source: validatePodAffinityTerm, ValidateMatchLabelKeysAndMismatchLabelKeys (pkg/apis/core/validation/validation.go),
mutatePodAffinity (pkg/registry/core/pod/strategy.go), and the warnings of pkg/api/pod/warnings.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Pod, Problem, fields, labels, names, validator
from kcheck_spec.objects.common_constraints import dubious_setting, require
from kcheck_spec.objects.labels import label_syntax
from kcheck_spec.workloads.affinity_terms import affinity_term, weight

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

tables = [
    fields("core/v1 WeightedPodAffinityTerm", weight=weight, podAffinityTerm=()),
    fields("core/v1 PodAffinityTerm", topologyKey=()),
]


def terms(pod: Pod) -> Iterator[Node]:
    """All terms about other pods; one that a preference lacks counts as an empty one."""
    affinity = pod["affinity"]
    for kind in ("podAffinity", "podAntiAffinity"):
        yield from affinity[kind][_REQUIRED]
        for preference in affinity[kind][_PREFERRED]:
            yield preference["podAffinityTerm"]


@validator("core/v1 PodSpec", rule=affinity_term, fields="affinity")
def terms_are_sound(pod: Pod) -> Iterator[Problem]:
    """A domain, namespaces with possible names, and label keys that go with the selector."""
    for term in terms(pod) if pod["affinity"] else ():
        for namespace in term["namespaces"]:
            if wrong := names.dns_label(namespace.text):
                yield Problem(namespace, wrong, reason="Invalid", field=term.imaginary("namespace"))
        yield from label_keys(term, pod, "mismatchLabelKeys")
        if not term["topologyKey"].text:
            yield require(term["topologyKey"], Complaint("no domain is named", "add topologyKey, such as kubernetes.io/hostname"))


def label_keys(term: Node, pod: Pod, *others: str) -> Iterator[Problem]:
    """Keys whose values are those of the pod itself. In a Pod the server adds them to the selector before it looks.

    `others`: the fields beside matchLabelKeys with keys whose values must differ.
    """
    matching, selector = term["matchLabelKeys"], term["labelSelector"]
    differing = [key for field in others for key in term[field]]
    for field in ("matchLabelKeys", *others):
        if len(term[field]) and not selector:
            yield Problem(
                term[field], f"{field} narrow down a selector", help="add labelSelector, or take them away", reason="Forbidden", at="key"
            )
    if selector and len(matching):
        positions = {key.text: index for index, key in enumerate(matching)}
        added = [key.text for key in (*matching, *differing) if not pod.is_template and key.text in pod.labels]
        seen = {key for key, _ in selector["matchLabels"].entries}
        for key in [*(each["key"].text for each in selector["matchExpressions"]), *added]:
            if key in seen and key in positions:
                message = f"{key} is in labelSelector already, which it would narrow to one value"
                yield Problem(
                    matching[positions[key]],
                    message,
                    help="take it out of one of the two",
                    reason="Invalid",
                    field=term.imaginary(positions[key]),
                )
            seen.add(key)
    both = {key.text for key in differing}
    for key in matching:
        if key.text in both:
            yield Problem(key, f"{key.text} cannot match and differ at once", help="take it out of one of the two lists", reason="Invalid")


@validator("core/v1 PodSpec", rule=label_syntax, fields="affinity")
def keys_are_labels(pod: Pod) -> Iterator[Problem]:
    """Keys are such as labels can have."""
    for term in terms(pod) if pod["affinity"] else ():
        yield from key_problems(term, "mismatchLabelKeys")
        key = term["topologyKey"]
        if key.text and (wrong := labels.key(key.text)):
            yield Problem(key, wrong, reason="Invalid")


def key_problems(term: Node, *others: str) -> Iterator[Problem]:
    """What is wrong with the label keys beside a selector; without one the server looks no further."""
    for field in ("matchLabelKeys", *others) if term["labelSelector"] else ():
        for key in term[field]:
            if wrong := labels.key(key.text):
                yield Problem(key, wrong, reason="Invalid")


@validator("core/v1 PodAffinityTerm", rule=dubious_setting)
def selector_is_there(term: Node) -> Iterator[Problem]:
    """No selector is no pod, and not all of them."""
    if not term["labelSelector"]:
        yield Problem(term["labelSelector"], "without labelSelector the term is about no pod", help="add it, or {} for all pods")

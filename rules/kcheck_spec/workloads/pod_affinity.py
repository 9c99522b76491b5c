"""Pod affinity and anti-affinity: placement relative to other Pods in a node, zone or other topology domain.

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
    """All Pod affinity terms. A preference without a term counts as one with an empty term."""
    affinity = pod["affinity"]
    for kind in ("podAffinity", "podAntiAffinity"):
        yield from affinity[kind][_REQUIRED]
        for preference in affinity[kind][_PREFERRED]:
            yield preference["podAffinityTerm"]


@validator("core/v1 PodSpec", rule=affinity_term, fields="affinity")
def terms_are_sound(pod: Pod) -> Iterator[Problem]:
    """Missing topology keys, invalid namespace names, and label keys that conflict with the selector."""
    for term in terms(pod) if pod["affinity"] else ():
        for namespace in term["namespaces"]:
            if wrong := names.dns_label(namespace.text):
                yield Problem(namespace, wrong, reason="Invalid", field=term.virtual("namespace"))
        yield from label_keys(term, pod, "mismatchLabelKeys")
        if not term["topologyKey"].text:
            hint = "add topologyKey, for example kubernetes.io/hostname"
            yield require(term["topologyKey"], Complaint("topologyKey of the term is missing", hint))


def label_keys(term: Node, pod: Pod, *others: str) -> Iterator[Problem]:
    """Problems of matchLabelKeys, whose values are the labels of the Pod itself. In a Pod the API server first adds them to the selector.

    `others`: further fields with label keys whose values must differ.
    """
    matching, selector = term["matchLabelKeys"], term["labelSelector"]
    differing = [key for field in others for key in term[field]]
    for field in ("matchLabelKeys", *others):
        if len(term[field]) and not selector:
            hint = f"add labelSelector, or remove {field}"
            yield Problem(term[field], f"{field} requires labelSelector", help=hint, reason="Forbidden", at="key")
    if selector and len(matching):
        positions = {key.text: index for index, key in enumerate(matching)}
        added = [key.text for key in (*matching, *differing) if not pod.is_template and key.text in pod.labels]
        seen = {key for key, _ in selector["matchLabels"].entries}
        for key in [*(each["key"].text for each in selector["matchExpressions"]), *added]:
            if key in seen and key in positions:
                yield Problem(
                    matching[positions[key]],
                    f'label key "{key}" of matchLabelKeys is already in labelSelector',
                    help=f'remove "{key}" from one of the two',
                    reason="Invalid",
                    field=term.virtual(positions[key]),
                )
            seen.add(key)
    both = {key.text for key in differing}
    for key in matching:
        if key.text in both:
            message = f'label key "{key.text}" is in both matchLabelKeys and {" and ".join(others)}'
            yield Problem(key, message, help=f'remove "{key.text}" from one of the two', reason="Invalid")


@validator("core/v1 PodSpec", rule=label_syntax, fields="affinity")
def keys_are_labels(pod: Pod) -> Iterator[Problem]:
    """Keys must be valid label keys."""
    for term in terms(pod) if pod["affinity"] else ():
        yield from key_problems(term, "mismatchLabelKeys")
        key = term["topologyKey"]
        if key.text and (wrong := labels.key(key.text)):
            yield Problem(key, wrong, reason="Invalid")


def key_problems(term: Node, *others: str) -> Iterator[Problem]:
    """Invalid label keys of a term with a selector. Without a selector the API server does not check them."""
    for field in ("matchLabelKeys", *others) if term["labelSelector"] else ():
        for key in term[field]:
            if wrong := labels.key(key.text):
                yield Problem(key, wrong, reason="Invalid")


@validator("core/v1 PodAffinityTerm", rule=dubious_setting)
def selector_is_there(term: Node) -> Iterator[Problem]:
    """A term without a selector matches no Pod, not all of them."""
    if not term["labelSelector"]:
        hint = "add labelSelector (labelSelector: {} matches all Pods)"
        yield Problem(term["labelSelector"], "labelSelector is missing, so the term matches no Pod", help=hint)

"""Rules about the selection of nodes by labels.

Source: the pages "Assigning Pods to Nodes" and "Well-Known Labels, Annotations and Taints" of the Kubernetes documentation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kcheck.api import ERROR, Node, Pod, Problem, TypedValue, did_you_mean, labels, nearest, pattern, rule, selector, strings
from kcheck_practice._support.selector_terms import accepted
from kcheck_practice._support.typos import meant_label

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
# The values that the kubelet sets: GOOS and GOARCH of the platforms that have a kubelet.
_VALUES: Mapping[str, frozenset[str]] = {
    "kubernetes.io/os": frozenset({"linux", "windows"}),
    "kubernetes.io/arch": frozenset({"amd64", "arm64", "arm", "386", "ppc64le", "s390x", "riscv64", "loong64"}),
}
_INTEGER = pattern(r"[+-]?[0-9]+")
_ALIASES = {"x86_64": "amd64", "x86-64": "amd64", "x64": "amd64", "x86": "386", "aarch64": "arm64", "armv7": "arm", "armhf": "arm"}


@rule("unmatchable-node-affinity", "nodeAffinity and nodeSelector match no node", severity=ERROR, groups=("scheduling",), fields="affinity")
def node_affinity_matches_nothing(pod: Pod) -> Iterator[Problem]:
    """Yields a problem for each node selector term that matches no node.

    The terms of required node affinity are alternatives. All requirements of a term, and the nodeSelector, must match the same node. A
    required term without requirements matches no node. A preference without requirements matches no node either, but it restricts nothing
    (NewPreferredSchedulingTerms in k8s.io/component-helpers/scheduling/corev1/nodeaffinity skips it), so it is accepted.
    """
    affinity = pod.node.at("affinity", "nodeAffinity")
    chosen = selector.of_map(strings(pod["nodeSelector"])) or selector.EVERYTHING
    terms = list(affinity.at(_REQUIRED, "nodeSelectorTerms"))
    # nodeSelectorTerms must not be empty.
    removable = "the term" if len(terms) > 1 else _REQUIRED
    for term in terms:
        yield from _term(term, chosen, f"add matchExpressions or remove {removable}")
    for preference in affinity[_PREFERRED]:
        yield from _term(preference["preference"], chosen, "")


@rule(
    "unknown-node-label",
    "nodeSelector, nodeAffinity or topologyKey uses a label that no node has",
    severity=ERROR,
    groups=("scheduling", "labels"),
    fields=("nodeSelector", "affinity", "topologySpreadConstraints"),
    fixable=True,
)
def node_label(pod: Pod) -> Iterator[Problem]:
    """Yields a problem for each label that no node has: an undefined one with a prefix that is reserved for Kubernetes, or an unknown
    value of kubernetes.io/os or kubernetes.io/arch.
    """
    for key, node in _keys(pod):
        if labels.reserved(key) and not labels.key(key):
            near = meant_label(key)
            remedy = did_you_mean(near, f'use a label with a custom prefix, such as "example.com/{key.rpartition("/")[2]}"')
            yield Problem(node, f'no node has the label "{key}"', help=remedy, at="key" if node.name == key else "value")
    for key, node in pod["nodeSelector"].entries:
        yield from _value(key, node)
    for requirement in _requirements(pod):
        if requirement["operator"].text == "In":
            values = list(requirement["values"])
            known = _VALUES.get(requirement["key"].text, frozenset())
            if not any(value.text in known for value in values):
                for value in values:
                    yield from _value(requirement["key"].text, value)


@rule(
    "non-integer-node-affinity-value",
    "nodeAffinity operator Gt or Lt has a value that is not an integer",
    severity=ERROR,
    groups=("scheduling",),
    types="core/v1 NodeSelectorRequirement",
    fields="values",
)
def non_integer_value(part: TypedValue) -> Iterator[Problem]:
    """Yields a problem for Gt and Lt with a value that is not an integer. The API server accepts it, but the scheduler cannot parse it.

    The scheduler itself rejects such a value in its configuration.
    """
    operator = part.node["operator"].text
    if operator in ("Gt", "Lt") and part.resource.group != "kubescheduler.config.k8s.io":
        for value in part.node["values"]:
            if value.text and not _is_integer(value.text):
                message = f'operator {operator} compares integers, and no node matches the value "{value.text}"'
                yield Problem(value, message, help="use an integer, or use operator In")


def _is_integer(text: str) -> bool:
    """Whether strconv.ParseInt of Go reads a text as an integer of 64 bits."""
    return _INTEGER.fullmatch(text) is not None and -(2**63) <= int(text) < 2**63


def _term(term: Node, chosen: selector.Selector, empty: str) -> Iterator[Problem]:
    """Yields the problem of a term that matches no node. `chosen`: the nodeSelector; `empty`: the help if it is empty, or ""."""
    expressions, names = term["matchExpressions"], term["matchFields"]
    listed, fields = accepted(expressions), accepted(names)
    if not term.is_map or listed is None or fields is None:
        return
    if not len(expressions) and not len(names):
        if empty:
            yield Problem(term, "empty term in nodeSelectorTerms matches no node", help=empty)
        return
    for part, node in ((listed, expressions), (fields, names)):
        if selector.contradictory(part):
            message = f"{node.name} contradict each other: no node matches {part}"
            yield Problem(node, message, help="use a separate term for each alternative", at="key")
            return
    clash = next((r for r in chosen.requirements if not selector.can_overlap(listed, selector.Selector((r,)))), None)
    if clash is not None:
        message = f"no node matches both {listed} (nodeAffinity) and {clash} (nodeSelector)"
        yield Problem(expressions, message, help="remove one of them", at="key")


def _keys(pod: Pod) -> Iterator[tuple[str, Node]]:
    """The keys of all node labels that a Pod refers to, with their nodes."""
    yield from pod["nodeSelector"].entries
    named = [requirement["key"] for requirement in _requirements(pod)]
    named += [constraint["topologyKey"] for constraint in pod["topologySpreadConstraints"]]
    for kind in ("podAffinity", "podAntiAffinity"):
        affinity = pod.node.at("affinity", kind)
        named += [term["topologyKey"] for term in affinity[_REQUIRED]]
        named += [term.at("podAffinityTerm", "topologyKey") for term in affinity[_PREFERRED]]
    yield from ((node.text, node) for node in named)


def _requirements(pod: Pod) -> Iterator[Node]:
    """The requirements of node affinity that only a node with the label satisfies."""
    affinity = pod.node.at("affinity", "nodeAffinity")
    terms = [*affinity.at(_REQUIRED, "nodeSelectorTerms"), *(each["preference"] for each in affinity[_PREFERRED])]
    for term in terms:
        for requirement in term["matchExpressions"]:
            if requirement["operator"].text not in ("NotIn", "DoesNotExist"):
                yield requirement


def _value(key: str, node: Node) -> Iterator[Problem]:
    """Yields a problem for a value of kubernetes.io/os or kubernetes.io/arch that no kubelet sets."""
    known = _VALUES.get(key)
    if known is not None and node.text and node.text not in known:
        low = node.text.lower()
        near = low if low in known else _ALIASES.get(low) or nearest(low, sorted(known))
        remedy = did_you_mean(near, f"use one of {', '.join(sorted(known))}")
        yield Problem(node, f"no node has the label {key}={node.text}", help=remedy)

"""Which nodes a pod can go to. Source: the documentation's page "Assigning Pods to Nodes"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kcheck.api import ERROR, Node, Pod, Problem, labels, nearest, rule, selector, strings
from kcheck_practice._support.selector_terms import accepted
from kcheck_practice._support.typos import meant_label

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
# What the kubelet writes there: GOOS and GOARCH of the platforms that there are kubelets for.
_VALUES: Mapping[str, frozenset[str]] = {
    "kubernetes.io/os": frozenset({"linux", "windows"}),
    "kubernetes.io/arch": frozenset({"amd64", "arm64", "arm", "386", "ppc64le", "s390x", "riscv64", "loong64"}),
}
_ALIASES = {"x86_64": "amd64", "x86-64": "amd64", "x64": "amd64", "x86": "386", "aarch64": "arm64", "armv7": "arm", "armhf": "arm"}


@rule("unmatchable-node-affinity", "nodeAffinity and nodeSelector match no node", severity=ERROR, groups=("scheduling",), fields="affinity")
def node_affinity_matches_nothing(pod: Pod) -> Iterator[Problem]:
    """Terms are alternatives, what stands in one must hold together, and a term without requirements matches no node."""
    affinity = pod.node.at("affinity", "nodeAffinity")
    chosen = selector.of_map(strings(pod["nodeSelector"])) or selector.EVERYTHING
    for term in affinity.at(_REQUIRED, "nodeSelectorTerms"):
        yield from _term(term, chosen)
    for preference in affinity[_PREFERRED]:
        yield from _term(preference["preference"], chosen)


@rule("unknown-node-label", "nodeSelector, nodeAffinity or topologyKey uses a label that no node has", severity=ERROR, groups=("scheduling", "labels"),
      fields=("nodeSelector", "affinity", "topologySpreadConstraints"))  # fmt: skip
def node_label(pod: Pod) -> Iterator[Problem]:
    """Nodes carry the labels that Kubernetes defines, and those that their owner gives them under other prefixes."""
    for key, node in _keys(pod):
        if labels.reserved(key) and not labels.key(key):
            meant = meant_label(key)
            hint = f"did you mean {meant}?" if meant else "give nodes a label under a prefix of your own"
            yield Problem(node, f"no node has the label {key}", help=hint, at="key" if node.name == key else "value")
    for key, node in pod["nodeSelector"].entries:
        yield from _value(key, node)
    for requirement in _requirements(pod):
        if requirement["operator"].text == "In":
            values = list(requirement["values"])
            known = _VALUES.get(requirement["key"].text, frozenset())
            if not any(value.text in known for value in values):
                for value in values:
                    yield from _value(requirement["key"].text, value)


def _term(term: Node, chosen: selector.Selector) -> Iterator[Problem]:
    """The problem of a term that holds for no node."""
    expressions, names = term["matchExpressions"], term["matchFields"]
    listed, fields = accepted(expressions), accepted(names)
    if not term.is_map or listed is None or fields is None:
        return
    if not len(expressions) and not len(names):
        yield Problem(term, "an empty term matches no node", help="write its matchExpressions or take it away")
        return
    for part, node in ((listed, expressions), (fields, names)):
        if selector.contradictory(part):
            yield Problem(node, f"no node can meet {part}", help="put alternatives into terms of their own", at="key")
            return
    clash = next((r for r in chosen.requirements if not selector.can_overlap(listed, selector.Selector((r,)))), None)
    if clash is not None:
        yield Problem(expressions, f"no node can meet {listed} and {clash} of the nodeSelector", help="take one of them away", at="key")


def _keys(pod: Pod) -> Iterator[tuple[str, Node]]:
    """Keys of node labels, and where each stands."""
    yield from pod["nodeSelector"].entries
    named = [requirement["key"] for requirement in _requirements(pod)]
    named += [constraint["topologyKey"] for constraint in pod["topologySpreadConstraints"]]
    for kind in ("podAffinity", "podAntiAffinity"):
        affinity = pod.node.at("affinity", kind)
        named += [term["topologyKey"] for term in affinity[_REQUIRED]]
        named += [term.at("podAffinityTerm", "topologyKey") for term in affinity[_PREFERRED]]
    yield from ((node.text, node) for node in named)


def _requirements(pod: Pod) -> Iterator[Node]:
    """Requirements of node affinity that want a label to be there."""
    affinity = pod.node.at("affinity", "nodeAffinity")
    terms = [*affinity.at(_REQUIRED, "nodeSelectorTerms"), *(each["preference"] for each in affinity[_PREFERRED])]
    for term in terms:
        for requirement in term["matchExpressions"]:
            if requirement["operator"].text not in ("NotIn", "DoesNotExist"):
                yield requirement


def _value(key: str, node: Node) -> Iterator[Problem]:
    known = _VALUES.get(key)
    if known is not None and node.text and node.text not in known:
        low = node.text.lower()
        meant = low if low in known else _ALIASES.get(low) or nearest(low, sorted(known))
        hint = f"did you mean {meant}?" if meant else f"write one of {', '.join(sorted(known))}"
        yield Problem(node, f"no node has {key}={node.text}", help=hint)

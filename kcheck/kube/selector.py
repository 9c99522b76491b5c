"""Label selectors: matching, overlap of two selectors, and distance from a set of labels.

Semantics of k8s.io/apimachinery, pkg/labels. A selector is a conjunction; without requirements it matches everything. The meaning of an
absent selector (None) depends on the field: see MEANINGS.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeVar, get_args

from kcheck.kube import labels as label_grammar
from kcheck.kube.suggestions import distance as spelling
from kcheck.kube.suggestions import tolerance
from kcheck.text.complaint import Complaint, concise
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

Operator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]

_TOKEN = pattern(r"(==|!=|[=!(),<>])|[^ \t\r\n=!(),<>]+")
_SYMBOLS: Mapping[str, Operator] = {"=": "In", "==": "In", "!=": "NotIn", "in": "In", "notin": "NotIn", ">": "Gt", "<": "Lt"}
_WRITTEN = {"In": ("=", "in"), "NotIn": ("!=", "notin"), "Gt": (">", ">"), "Lt": ("<", "<")}
_INTEGER = pattern("[+-]?[0-9]{1,4000}")
_LIMIT = 2**63
UNLIKE = 8  # distance of a requirement that typing errors do not explain
Key = TypeVar("Key")


class BadSelector(ValueError):
    """Text that is not a valid selector; `column` counts from 1."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(concise(message))
        self.message = message
        self.column = column


class Requirement(NamedTuple):
    """One condition on one key. Gt and Lt compare integers and have one value."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether a set of labels meets the requirement."""
        value = labels.get(self.key)
        if value is None:
            return self.operator in ("NotIn", "DoesNotExist")
        return self.allows(value)

    def allows(self, value: str) -> bool:
        """Return whether the requirement allows this value of the key."""
        match self.operator:
            case "In":
                return value in self.values
            case "NotIn":
                return value not in self.values
            case "Exists":
                return True
            case "DoesNotExist":
                return False
        number, limit = _integer(value), self.limit
        if number is None or limit is None:
            return False
        return number > limit if self.operator == "Gt" else number < limit

    @property
    def limit(self) -> int | None:
        """The integer of Gt or Lt, None where the value is not an integer."""
        return _integer(self.values[0]) if len(self.values) == 1 else None

    def __str__(self) -> str:
        if self.operator in ("Exists", "DoesNotExist"):
            return self.key if self.operator == "Exists" else f"!{self.key}"
        one, several = _WRITTEN[self.operator]
        values = ",".join(self.values)
        return f"{self.key}{one}{values}" if len(self.values) == 1 else f"{self.key} {several} ({values})"


class Selector(NamedTuple):
    """A conjunction of requirements."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether a set of labels meets all requirements."""
        return all(requirement.matches(labels) for requirement in self.requirements)

    def unmet(self, labels: Mapping[str, str]) -> tuple[Requirement, ...]:
        """Return the requirements that these labels do not meet."""
        return tuple(requirement for requirement in self.requirements if not requirement.matches(labels))

    def __str__(self) -> str:
        """Return the selector in the syntax of kubectl -l."""
        return ",".join(map(str, self.requirements))


EVERYTHING = Selector()


class Meaning(NamedTuple):
    """What a field selects without a selector, and with an empty one where that differs. "refused": the server rejects it."""

    absent: str
    empty: str = ""


# By API type and field.
MEANINGS: Mapping[str, Meaning] = {
    "core/v1 ServiceSpec.selector": Meaning("no Pods: its endpoints are managed separately"),
    "core/v1 ReplicationControllerSpec.selector": Meaning("the labels of its template"),
    **{f"apps/v1 {kind}Spec.selector": Meaning("refused") for kind in ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet")},
    "batch/v1 JobSpec.selector": Meaning(
        "its own Pods, by a label that the server adds", "the same, or all Pods with manualSelector: true"
    ),
    "policy/v1 PodDisruptionBudgetSpec.selector": Meaning("no Pods", "all Pods of the namespace"),
    "networking/v1 NetworkPolicySpec.podSelector": Meaning("all Pods of the namespace"),
    "networking/v1 NetworkPolicyPeer.podSelector": Meaning("all Pods of the selected namespaces"),
    "networking/v1 NetworkPolicyPeer.namespaceSelector": Meaning("the namespace of the policy", "all namespaces"),
    "core/v1 PodAffinityTerm.labelSelector": Meaning("no Pods", "all Pods of the selected namespaces"),
    "core/v1 PodAffinityTerm.namespaceSelector": Meaning(
        'those listed in "namespaces", by default the namespace of the Pod', "all namespaces"
    ),
    "core/v1 TopologySpreadConstraint.labelSelector": Meaning("no Pods", "all Pods of the namespace"),
    "core/v1 NodeSelectorTerm.matchExpressions": Meaning("no nodes, unless the term has matchFields"),
    "core/v1 PersistentVolumeClaimSpec.selector": Meaning("any volume"),
    "core/v1 ClusterTrustBundleProjection.labelSelector": Meaning("no bundles", "all bundles of the signer"),
    "storage/v1 CSIStorageCapacity.nodeTopology": Meaning("no nodes", "all nodes"),
    "autoscaling/v2 MetricIdentifier.selector": Meaning("the metric whatever its labels"),
    "rbac/v1 AggregationRule.clusterRoleSelectors": Meaning("refused", "all cluster roles, for an empty selector in the list"),
    "admissionregistration/v1 ParamRef.selector": Meaning("the object named", "all parameters"),
    **{
        f"admissionregistration/v1 {kind}.{name}Selector": Meaning(f"all {name}s")
        for kind in ("MatchResources", "ValidatingWebhook", "MutatingWebhook")
        for name in ("namespace", "object")
    },
}


def of_map(labels: Mapping[str, str] | None) -> Selector | None:
    """Return the selector of a plain map: selector of a Service, nodeSelector, matchLabels. None for None; a null value is read as ""."""
    return None if labels is None else Selector(tuple([Requirement(key, "In", (value or "",)) for key, value in labels.items()]))


def of_fields(data: Mapping[str, Any] | None) -> Selector | None:
    """Return the selector of a LabelSelector or node selector term as plain data. None for None; malformed parts are ignored."""
    if data is None:
        return None
    expressions = data.get("matchExpressions")
    listed = tuple(
        Requirement(entry["key"], entry["operator"], tuple(map(str, entry.get("values") or ())))
        for entry in (expressions if isinstance(expressions, list) else ())
        if isinstance(entry, Mapping) and isinstance(entry.get("key"), str) and entry.get("operator") in get_args(Operator)
        if isinstance(entry.get("values"), list | None)
    )
    labels = data.get("matchLabels")
    return Selector((of_map(labels if isinstance(labels, Mapping) else None) or EVERYTHING).requirements + listed)


def contradictory(selector: Selector) -> bool:
    """Return whether no set of labels can match."""
    return not can_overlap(selector, EVERYTHING)


def can_overlap(first: Selector, second: Selector) -> bool:
    """Return whether some set of labels matches both selectors."""
    by_key: dict[str, list[Requirement]] = {}
    for requirement in (*first.requirements, *second.requirements):
        by_key.setdefault(requirement.key, []).append(requirement)
    # Keys are independent of each other.
    return all(map(_satisfiable, by_key.values()))


def distance(selector: Selector, labels: Mapping[str, str]) -> int:
    """Return the distance of labels from a match: 1 per typing error in a key or value, UNLIKE per other unmet requirement."""
    return sum(_cost(requirement, labels) for requirement in selector.unmet(labels))


def nearest(selector: Selector, candidates: Iterable[tuple[Key, Mapping[str, str]]]) -> tuple[Key, Requirement] | None:
    """Return the candidate whose labels almost match, with its first unmet requirement, None if no candidate is similar.

    Another requirement must be met, or the only one must differ by typing errors. Of equal candidates, the first is returned.
    """
    best: tuple[int, Key, Requirement] | None = None
    for key, labels in candidates:
        unmet, cost = selector.unmet(labels), distance(selector, labels)
        alike = len(unmet) < len(selector.requirements) or cost < UNLIKE
        if unmet and alike and cost <= UNLIKE and (best is None or cost < best[0]):
            best = cost, key, unmet[0]
    return best[1:] if best else None


def _satisfiable(requirements: list[Requirement]) -> bool:
    """Return whether one key can meet all requirements, either absent or with some value."""
    if all(requirement.operator in ("NotIn", "DoesNotExist") for requirement in requirements):
        return True
    choices = [requirement.values for requirement in requirements if requirement.operator == "In"]
    if choices:
        return any(all(requirement.allows(value) for requirement in requirements) for value in choices[0])
    if any(requirement.operator == "DoesNotExist" for requirement in requirements):
        return False
    # NotIn can be ignored: 7, 07 and 007 are different values of the same number. Labels are never negative, because a value cannot begin
    # with '-'.
    low, high = -1, _LIMIT
    for requirement in requirements:
        if requirement.operator in ("Gt", "Lt"):
            limit = requirement.limit
            if limit is None:
                return False
            low, high = (max(low, limit), high) if requirement.operator == "Gt" else (low, min(high, limit))
    return low + 1 < high


def _cost(requirement: Requirement, labels: Mapping[str, str]) -> int:
    """The number of typing errors that explain an unmet requirement, UNLIKE where they do not explain it."""
    if requirement.operator not in ("In", "Exists"):
        return UNLIKE
    value = labels.get(requirement.key)
    if value is not None:
        pairs = [(value, wanted) for wanted in requirement.values]
    else:
        pairs = [(key, requirement.key) for key in labels if requirement.allows(labels[key])]
    counts = [(spelling(found, wanted), tolerance(len(wanted))) for found, wanted in pairs]
    return min((count for count, most in counts if count <= most), default=UNLIKE)


def _integer(text: str) -> int | None:
    """Parse an integer like ParseInt of Go with 64 bits; None if the text is not valid."""
    number = int(text) if _INTEGER.fullmatch(text) else None
    return number if number is not None and -_LIMIT <= number < _LIMIT else None


def parse(text: str) -> Selector:
    """Return the selector of a text in the syntax of kubectl -l. Raises BadSelector."""
    found = [_Word(match[1] or "name", match[0], match.start() + 1) for match in _TOKEN.finditer(text)]
    words = [_Word("", "", len(text) + 1), *reversed(found)]
    requirements = [_requirement(words)] if found else []
    while words[-1].kind:
        _skip(words, ",", '"," or the end')
        requirements.append(_requirement(words))
    return Selector(tuple(requirements))


class _Word(NamedTuple):
    """A token: the kind is the symbol itself, "name", or "" at the end."""

    kind: str
    text: str
    column: int


def _requirement(words: list[_Word]) -> Requirement:
    """The requirement at the head of the tokens, which are removed. The list is reversed."""
    absent = words[-1].kind == "!"
    if absent:
        words.pop()
    key = words.pop()
    if key.kind != "name":
        raise _unexpected(key, "a key" if absent else 'a key, or "!" and a key')
    if wrong := label_grammar.key(key.text):
        raise BadSelector(wrong, key.column)
    if words[-1].kind in ("", ","):
        return Requirement(key.text, "DoesNotExist" if absent else "Exists")
    symbol = words.pop()
    operator = _SYMBOLS.get(symbol.text)
    if absent or operator is None:
        raise _unexpected(symbol, '"," or the end' if absent else "=, ==, !=, in, notin, < or >")
    column = words[-1].column
    values = _values(words) if symbol.kind == "name" else [_value(words, ("", ","))]
    if operator in ("Gt", "Lt") and _integer(values[0]) is None:
        raise BadSelector(Complaint(f'{key.text} is compared with "{values[0]}", which is not an integer', "use an integer"), column)
    if wrong := next(filter(None, map(label_grammar.value, values)), ""):
        raise BadSelector(wrong, column)
    return Requirement(key.text, operator, tuple(sorted(set(values))))


def _values(words: list[_Word]) -> list[str]:
    """The values in parentheses; nothing between two commas is the empty value."""
    _skip(words, "(", '"(" before the values')
    found = [_value(words, (",", ")"))]
    while words[-1].kind == ",":
        words.pop()
        found.append(_value(words, (",", ")")))
    _skip(words, ")", '"," or ")"')
    return found


def _value(words: list[_Word], after: tuple[str, ...]) -> str:
    if words[-1].kind == "name":
        return words.pop().text
    if words[-1].kind in after:
        return ""
    raise _unexpected(words[-1], "a value")


def _skip(words: list[_Word], kind: str, wanted: str) -> None:
    if words[-1].kind != kind:
        raise _unexpected(words[-1], wanted)
    words.pop()


def _unexpected(word: _Word, wanted: str) -> BadSelector:
    found = f'"{word.text}"' if word.kind else "end"
    return BadSelector(f"unexpected {found} at column {word.column}, expected {wanted}", word.column)

"""Which requests a policy or binding applies to.

Source: k8s.io/apiserver, pkg/admission/plugin/policy/matching and pkg/admission/plugin/webhook/predicates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kcheck.policy.admission.definitions import GROUP, AdmissionRule, MatchResources
from kcheck.policy.resource_names import ResourceName
from kcheck.policy.review import Review, labels_of

NamespaceLabels = Callable[[Review], Mapping[str, str]]
"""Returns the labels of the namespace of an object."""

_EXEMPT = frozenset(f"{prefix}admissionpolic{suffix}" for prefix in ("validating", "mutating") for suffix in ("ies", "ybindings"))
"""The resources that policies never judge: they could not be repaired."""


def is_exempt(name: ResourceName) -> bool:
    """Return whether policies never judge a resource."""
    return name.group == GROUP and name.plural in _EXEMPT


class Matcher:
    """Decides whether matchConstraints or matchResources select a request."""

    def __init__(self, match: MatchResources) -> None:
        self._namespaces = match.namespaces
        self._objects = match.objects
        self._rules = match.rules
        self._excludes = match.excludes
        self._exact = match.exact
        self._depends_on_name = any(rule.names for rule in (*match.rules, *match.excludes))
        self.is_simple = match.namespaces is None and match.objects is None and not self._depends_on_name
        self._known: dict[tuple[ResourceName, str], ResourceName | None] = {}

    def matched_resource(self, review: Review, namespace_labels: NamespaceLabels) -> ResourceName | None:
        """Return the resource as which a request is judged, None if it is not selected.

        It is another version of the resource if only that one is selected (matchPolicy Equivalent).
        """
        matched = self.matched_by_rules(review)
        if matched is None or self.is_simple:
            return matched
        if self._namespaces is not None and not self._selects_namespace(review, namespace_labels):
            return None
        objects = self._objects
        if objects is None or objects.matches(review.labels) or (review.old is not None and objects.matches(labels_of(review.old))):
            return matched
        return None

    def may_match(self, review: Review) -> bool:
        """Return whether an object of this kind may be selected, whatever its name and labels."""
        return self._depends_on_name or self.matched_by_rules(review) is not None

    def matched_by_rules(self, review: Review) -> ResourceName | None:
        """Return the resource as which the rules select a request, None if they do not. Selectors are ignored."""
        if self._depends_on_name:
            return self._find_match(review)
        key = review.name, review.operation
        if key not in self._known:
            self._known[key] = self._find_match(review)
        return self._known[key]

    def exclusion(self, review: Review, namespace_labels: NamespaceLabels) -> str:
        """Return the clause that excludes a request, "" if it is selected."""
        name = review.name
        if self._excludes and _selected_by(self._excludes, self._exact, review) is not None:
            return "excludeResourceRules"
        if self.matched_by_rules(review) is None:
            version = name.api_version
            return f"resourceRules: none for {review.operation} of {name.plural} in {version}"
        if self._namespaces is not None and not self._selects_namespace(review, namespace_labels):
            return f"namespaceSelector: {self._namespaces}"
        if self.matched_resource(review, namespace_labels) is None:
            return f"objectSelector: {self._objects}"
        return ""

    def _find_match(self, review: Review) -> ResourceName | None:
        if self._excludes and _selected_by(self._excludes, self._exact, review) is not None:
            return None
        return _selected_by(self._rules, self._exact, review) if self._rules else review.name

    def _selects_namespace(self, review: Review, namespace_labels: NamespaceLabels) -> bool:
        assert self._namespaces is not None
        if review.is_namespace:
            return self._namespaces.matches(review.labels)
        return not review.namespace or self._namespaces.matches(namespace_labels(review))


def _selected_by(rules: tuple[AdmissionRule, ...], exact: bool, review: Review) -> ResourceName | None:
    names = (review.name,) if exact else (review.name, *review.equivalents)
    # The requested version is preferred, whatever the order of the rules.
    for each in names:
        for rule in rules:
            if rule_matches(rule, each, review.operation) and (not rule.names or review.object_name in rule.names):
                return each
    return None


def rule_matches(rule: AdmissionRule, name: ResourceName, operation: str) -> bool:
    """Return whether a rule selects requests for a resource, whatever the names of the objects."""
    return (
        ("*" in rule.operations or operation in rule.operations)
        and ("*" in rule.groups or name.group in rule.groups)
        and ("*" in rule.versions or name.version in rule.versions)
        and any(each in ("*", name.plural) and sub in ("", "*") for each, sub in rule.resources)
        and (rule.scope == "*" or (rule.scope == "Namespaced") == name.namespaced)
    )

"""All policies of a run, in any language, for one Kubernetes version."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kcheck.kube.resource import Resource
from kcheck.policy.admission.admission_policies import AdmissionPolicies, IsEnabled
from kcheck.policy.admission.definitions import read_admission_objects
from kcheck.policy.held_objects import held_object
from kcheck.policy.known_objects import KnownObjects
from kcheck.policy.policy_input import PolicyInput, RelatedObject
from kcheck.policy.policy_objects import Parse, policy_objects
from kcheck.policy.review import Review
from kcheck.policy.rules.engine import RuleEngine
from kcheck.policy.rules.programs import uses_relations
from kcheck.policy.rules.rule_files import rules_in
from kcheck.policy.verdict import PolicyNotice, Verdict
from kcheck.schema.store import Store
from kcheck.yaml.parse import parse


def _is_always(_: str) -> bool:
    return True


class PolicySet:
    """Evaluates the policies of a run. An engine is added here for each language.

    Args:
        input: The policies and the objects that they refer to.
        store: The kinds of the Kubernetes version.
        parse_file: Parses a file.

    Attributes:
        admission_policies: The admission policies by kind and name.
    """

    def __init__(self, input: PolicyInput, store: Store, parse_file: Parse = parse) -> None:
        objects = [each for file in input.files for each in policy_objects(file, parse_file)]
        known = KnownObjects(input.objects)
        self._rules: RuleEngine | None = None
        if input.rule_files:
            self._rules = RuleEngine(rules_in(input.rule_files), store, known, input.user, input.related)
        validating, mutating, bindings, mutating_bindings = read_admission_objects(objects)
        self.admission_policies = {f"{each.resource.kind}/{each.name}": each for each in (*validating, *mutating)}
        self.store = store
        self._validating = AdmissionPolicies(validating, bindings, known, input.user)
        self._mutating = AdmissionPolicies(mutating, mutating_bindings, known, input.user) if mutating_bindings else None
        # Built-in kinds that no policy selects, each with whether its objects are new.
        self._unjudged: set[tuple[str, str, bool]] = set()

    def review(self, resource: Resource) -> Review:
        """Return the request for an object, or for its change if its older version is known."""
        older = resource.older
        return Review(resource, self.store, held_object(older, self.store) if older is not None else None)

    def mutate(self, review: Review, is_enabled: IsEnabled = _is_always) -> Iterator[PolicyNotice]:
        """Apply the mutating policies to the object of a request. Yields why some of them cannot be applied."""
        if self._mutating is not None:
            yield from self._mutating.mutate(review, is_enabled)

    def use_relations(self, find_relations: Callable[[], tuple[RelatedObject, ...]]) -> None:
        """Replace the objects with their relations, if rules ask for relations."""
        if self._rules is not None and any(map(uses_relations, self._rules.rules)):
            self._rules.use_relations(find_relations())

    def reasons(self, resource: Resource) -> dict[str, str]:
        """Return the ids of all policies with the clause that excludes an object, "" if the policy judges it."""
        review = self.review(resource)
        found: dict[str, str] = {}
        if self._mutating is not None:
            found |= {policy.id: clause for policy, clause in self._mutating.reasons(review)}
            for _ in self.mutate(review):
                pass
        found |= {policy.id: clause for policy, clause in self._validating.reasons(review)}
        if self._rules is not None:
            found |= {rule.id: clause for rule, clause in self._rules.reasons(review)}
        return found

    def verdicts(self, resource: Resource, is_enabled: IsEnabled = _is_always) -> Iterator[Verdict | PolicyNotice]:
        """Yield what the policies say of an object, or of its change if its older version is known.

        `is_enabled`: whether a policy is enabled, by its id.
        """
        kind = resource.api_version, resource.kind, resource.older is None
        if kind in self._unjudged:
            return
        review = self.review(resource)
        if self.store.builtin(resource.api_version, resource.kind) is not None and not self._may_judge(review):
            self._unjudged.add(kind)
            return
        yield from self.judge(review, is_enabled)

    def judge(self, review: Review, is_enabled: IsEnabled = _is_always) -> Iterator[Verdict | PolicyNotice]:
        """Yield what the policies say of a request. Mutating policies change its object."""
        yield from self.mutate(review, is_enabled)
        yield from self._validating.verdicts(review, is_enabled)
        if self._rules is not None:
            yield from self._rules.verdicts(review, is_enabled)

    def _may_judge(self, review: Review) -> bool:
        """Return whether a policy may select objects of this kind."""
        engines = (self._mutating, self._validating, self._rules)
        return any(engine is not None and engine.candidates(review) for engine in engines)

"""A rule set compiled for the walk: the hooks to call for each API type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from kcheck.facts.bundle import Bundle
from kcheck.facts.facts import Facts
from kcheck.facts.removed import RemovedObject
from kcheck.finding.problem import Problem
from kcheck.kube.kinds import CORE, kind_names
from kcheck.kube.object_change import ObjectChange
from kcheck.kube.resource import Resource
from kcheck.rule.constraint import Constraint, FieldTable, LateTable, Validator
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import Active, RuleSet
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node

_NO_KINDS: frozenset[str] = frozenset()

MAX_PROBLEMS_PER_SUBJECT = 100_000
"""The number of problems of a rule at one node, document or object after which the rule is stopped."""


GATED = "disabled-feature-gate"
"""The rule that reports fields whose feature gate is off. Its option `enabled` lists gates that are on."""


class RuleContractError(Exception):
    """A rule function violates the contract of rules."""


OnProblem = Callable[[str, Problem], None]
"""Called with a rule id and a problem."""

OnCrash = Callable[[str, Exception], None]
"""Called with the id of a rule that failed, and the exception."""


class Hook:
    """A rule function with its options, called at nodes of one kind.

    A plain class instead of a tuple because its attributes are read hundreds of thousands of times.

    Attributes:
        rule: the id of the rule.
        subject: the type of the function's first parameter.
        function: the function.
        options: the values of its options.
        type: the API type of the node, or "" if the hook is not specific to one.
        fields: the function is called only if one of these fields is present.
    """

    __slots__ = ("fields", "function", "options", "rule", "subject", "type")

    def __init__(
        self, rule: str, subject: object, function: Callable[..., Iterable[Problem]], options: dict[str, Any], type: str = "",
        fields: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        self.rule = rule
        self.subject = subject
        self.function = function
        self.options = options
        self.type = type
        self.fields = fields

    def concerns(self, value: dict[str, Node]) -> bool:
        """Whether one of the hook's fields is present in a value. This lookup is cheaper than calling the function."""
        if not self.fields:
            return True
        for name in self.fields:  # noqa: SIM110
            if name in value:
                return True
        return False

    def run(self, subject: object, on_problem: OnProblem, on_crash: OnCrash, bundle: Bundle | None = None) -> None:
        """Call the function and report its problems. If the function fails, the failure is reported and the other rules continue."""
        try:
            # Most functions have no options, and a call without keyword arguments is faster.
            problems: Iterable[Any]
            if bundle is not None:
                problems = self.function(subject, bundle, **self.options)
            else:
                problems = self.function(subject, **self.options) if self.options else self.function(subject)
            number = 0
            for problem in problems:
                if not isinstance(problem, Problem):
                    raise RuleContractError(f"yielded {problem!r:.100}, which is not a Problem")
                on_problem(self.rule, problem)
                number += 1  # noqa: SIM113
                if number > MAX_PROBLEMS_PER_SUBJECT:
                    raise RuleContractError(f"stopped: more than {MAX_PROBLEMS_PER_SUBJECT:,} problems in one place")
        except Exception as error:
            on_crash(self.rule, error)

    def instead(self, function: Callable[..., Iterable[Problem]]) -> Hook:
        """Return a copy of this hook that calls another function."""
        return Hook(self.rule, self.subject, function, self.options, self.type, self.fields)


class TypePlan:
    """The constraints and hooks of one API type.

    Attributes:
        absent: constraints that are also evaluated for missing fields.
        present: constraints of present fields, by field.
        rules: hooks called for present values.
        validators: hooks called for absent values as well.
        owned: fields for which the constraints decide whether they are required.
        closed: fields for which the constraints describe all allowed values.
        dropped: fields whose contents the API server does not validate.
        validated_since: N of the first Kubernetes version 1.N that validates the contents, for some fields.
    """

    __slots__ = ("absent", "closed", "dropped", "owned", "present", "rules", "validated_since", "validators")

    def __init__(self, rules: Iterable[Hook] = (), validators: Iterable[Hook] = ()) -> None:
        self.absent: list[tuple[str, Constraint]] = []
        self.present: dict[str, list[Constraint]] = {}
        self.rules = list(rules)
        self.validators = list(validators)
        self.owned: set[str] = set()
        self.closed: set[str] = set()
        self.dropped: set[str] = set()
        self.validated_since: dict[str, int] = {}


Wrap = Callable[[Hook], Hook]
"""Returns the hook to call in place of a hook."""


class ObjectHooks:
    """Hooks for whole objects, selected by kind and facts.

    Most rules apply to few kinds, and selecting the hooks is cheaper than calling all of them.
    """

    def __init__(self, rules: Iterable[Active] = (), wrap: Wrap | None = None) -> None:
        self.rules = list(rules)
        self._wrap = wrap
        self._hooks: dict[str, Hook] = {}
        self._of_kind: dict[tuple[str, str], list[Hook]] = {}
        self._facts = tuple(dict.fromkeys(name for active in self.rules for name in active.rule.facts))
        self._references = frozenset(kind for active in self.rules for kind in active.rule.references)
        self._referred: dict[tuple[str, str], frozenset[str]] = {}
        self._of_facts: dict[tuple[object, ...], list[Hook]] = {}

    def of_kind(self, api_version: str, kind: str) -> list[Hook]:
        """Return the hooks to call for objects of a kind."""
        found = self._of_kind.get((api_version, kind))
        if found is None:
            names = kind_names(api_version, kind)
            found = self._of_kind[api_version, kind] = [self._hook(each) for each in self.rules if _applies_to_kind(each, names)]
        return found

    def of_facts(self, facts: Facts) -> list[Hook]:
        """Return the hooks to call for these facts."""
        referred = self._references_of(facts) if facts.references else _NO_KINDS
        key = (facts.id.api_version, facts.id.kind, referred, *[bool(getattr(facts, name)) for name in self._facts])
        found = self._of_facts.get(key)
        if found is None:
            names = kind_names(facts.id.api_version, facts.id.kind)
            has = {name for name in self._facts if getattr(facts, name)}
            applicable = [each for each in self.rules if _applies_to_kind(each, names) and has.issuperset(each.rule.facts)]
            applicable = [each for each in applicable if not each.rule.references or not referred.isdisjoint(each.rule.references)]
            found = self._of_facts[key] = [self._hook(each) for each in applicable]
        return found

    def _references_of(self, facts: Facts) -> frozenset[str]:
        """Return the kinds that the object refers to, restricted to kinds that rules name in `references`."""
        referred: set[str] = set()
        for reference in facts.references:
            key = (reference.api_group, reference.kind)
            names = self._referred.get(key)
            if names is None:
                names = self._referred[key] = self._references & {reference.kind, f"{reference.api_group or CORE} {reference.kind}"}
            referred |= names
        return frozenset(referred)

    def _hook(self, active: Active) -> Hook:
        hook = self._hooks.get(active.rule.id)
        if hook is None:
            hook = self._hooks[active.rule.id] = _hook_of(active, "", self._wrap)
        return hook


def _applies_to_kind(active: Active, names: frozenset[str]) -> bool:
    return not active.rule.kinds or not names.isdisjoint(active.rule.kinds)


def _hook_of(active: Active, type: str, wrap: Wrap | None) -> Hook:
    rule = active.rule
    fields = rule.fields if isinstance(rule.fields, tuple) else rule.fields.get(type, ())
    hook = Hook(rule.id, rule.subject, rule.load(), active.options, type, fields)
    return hook if wrap is None else wrap(hook)


class Plan:
    """Hooks and constraints by API type, and the hooks for whole documents, objects, changes and removals of objects, and bundles.

    `every`: hooks for all objects of known kinds. `make`: returns the plan of a type; called once per type, for its first value.
    `enabled_gates`: feature gates that are on in spite of their default.
    """

    def __init__(
        self,
        make: Callable[[str], TypePlan | None],
        documents: Iterable[Hook] = (),
        objects: ObjectHooks | None = None,
        bundle: ObjectHooks | None = None,
        every: Iterable[Hook] = (),
        changes: ObjectHooks | None = None,
        removals: ObjectHooks | None = None,
        enabled_gates: Iterable[str] = (),
    ) -> None:
        self._make = make
        self._types: dict[str, TypePlan | None] = {}
        self.documents = list(documents)
        self.objects = objects or ObjectHooks()
        self.bundle = bundle or ObjectHooks()
        self.every = list(every)
        self.changes = changes or ObjectHooks()
        self.removals = removals or ObjectHooks()
        self.enabled_gates = frozenset(enabled_gates)

    def of_type(self, name: str) -> TypePlan | None:
        """Return the plan of a type, or None if no rule or constraint applies to it."""
        try:
            return self._types[name]
        except KeyError:
            plan = self._types[name] = self._make(name)
            return plan


class _Types:
    """Rules, validators and tables by API type. The plan of a type is created for its first value, because that loads the rules."""

    def __init__(self, registry: Registry, rules: RuleSet, wrap: Wrap | None) -> None:
        self._active = rules
        self._wrap = wrap
        self._rules: dict[str, list[Active]] = defaultdict(list)
        self._validators: dict[str, list[Validator]] = defaultdict(list)
        self._tables: dict[str, list[FieldTable | LateTable]] = defaultdict(list)
        for active in rules.active.values():
            for name in active.rule.types:
                self._rules[name].append(active)
        for validator in registry.validators:
            if validator.rule.id in rules:
                for name in validator.types:
                    self._validators[name].append(validator)
        for table in registry.tables:
            for name in table.types:
                self._tables[name].append(table)

    def plan_of(self, name: str) -> TypePlan | None:
        """Return the plan of a type, or None if nothing applies to it."""
        if name not in self._rules and name not in self._validators and name not in self._tables:
            return None
        plan = TypePlan(
            [_hook_of(active, name, self._wrap) for active in self._rules.get(name, ()) if active.rule.function is not None],
            [self.hook_of(validator) for validator in self._validators.get(name, ())],
        )
        for table in self._tables.get(name, ()):
            for key, constraints in table.load().fields.items():
                self._add_constraints(plan, key, constraints)
        return plan

    def hook_of(self, validator: Validator) -> Hook:
        hook = Hook(validator.rule.id, validator.subject, validator.load(), {}, fields=validator.fields or validator.metadata)
        return hook if self._wrap is None else self._wrap(hook)

    def _add_constraints(self, plan: TypePlan, key: str, constraints: Iterable[Constraint]) -> None:
        plan.owned.add(key)
        for constraint in constraints:
            if constraint.closed:
                plan.closed.add(key)
            if constraint.dropped:
                plan.dropped.add(key)
            if constraint.validated_since:
                plan.validated_since[key] = constraint.validated_since
            if constraint.rule.id not in self._active:
                continue
            if constraint.of_absent:
                plan.absent.append((key, constraint))
            else:
                plan.present.setdefault(key, []).append(constraint)


def compile_plan(registry: Registry, rules: RuleSet, wrap: Wrap | None = None) -> Plan:
    """Return the plan for a rule set. `wrap` replaces each hook, for example to measure it."""
    callable_rules = [active for active in rules.active.values() if active.rule.function is not None]
    types = _Types(registry, rules, wrap)
    return Plan(
        types.plan_of,
        [_hook_of(active, "", wrap) for active in callable_rules if active.rule.subject is Document],
        ObjectHooks([active for active in callable_rules if active.rule.subject is Resource and not active.rule.types], wrap),
        ObjectHooks([active for active in callable_rules if active.rule.subject is Facts], wrap),
        [types.hook_of(each) for each in registry.validators if each.rule.id in rules and not each.types],
        ObjectHooks([active for active in callable_rules if active.rule.subject is ObjectChange], wrap),
        ObjectHooks([active for active in callable_rules if active.rule.subject is RemovedObject], wrap),
        rules[GATED].options["enabled"] if GATED in rules else (),
    )

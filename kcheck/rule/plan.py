"""A rule set compiled for the walk: what to do at a node of each API type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from kcheck.facts.bundle import Bundle
from kcheck.facts.facts import Facts
from kcheck.finding.problem import Problem
from kcheck.kube.kinds import CORE, kind_names
from kcheck.kube.resource import Resource
from kcheck.rule.constraint import Constraint, FieldTable, LateTable, Validator
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import Active, RuleSet
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node

_NONE: frozenset[str] = frozenset()

MOST_PROBLEMS = 100_000
"""What a rule may find at one node, document or object before it is stopped."""


class RuleMistake(Exception):
    """What a rule function does that none may do."""


OnProblem = Callable[[str, Problem], None]
"""Called with a rule's id and a problem."""

OnCrash = Callable[[str, Exception], None]
"""Called with the id of a rule that failed, and why."""


class Hook:
    """A function to call at a node, under a rule's id. `subject`: what it is handed; `type`: the node's, where the hook is of one;
    `fields`: it is called only where one of these is present.

    A class of its own and no tuple, for it is asked for its parts hundreds of thousands of times.
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
        """Whether one of its fields is present in a value: calling takes longer than looking."""
        if not self.fields:
            return True
        for name in self.fields:  # noqa: SIM110
            if name in value:
                return True
        return False

    def run(self, subject: object, tell: OnProblem, crash: OnCrash, bundle: Bundle | None = None) -> None:
        """Call the function with what it checks and pass its problems on. A rule that fails is reported, the others go on."""
        try:
            # Most have no options, and a call without any is cheaper.
            problems: Iterable[Any]
            if bundle is not None:
                problems = self.function(subject, bundle, **self.options)
            else:
                problems = self.function(subject, **self.options) if self.options else self.function(subject)
            number = 0
            for problem in problems:
                if not isinstance(problem, Problem):
                    raise RuleMistake(f"it yields {problem!r:.100}, which is not a Problem")
                tell(self.rule, problem)
                number += 1  # noqa: SIM113
                if number > MOST_PROBLEMS:
                    raise RuleMistake(f"it finds more than {MOST_PROBLEMS:,} problems in one place, so it was stopped")
        except Exception as error:
            crash(self.rule, error)

    def instead(self, function: Callable[..., Iterable[Problem]]) -> Hook:
        """The same with another function."""
        return Hook(self.rule, self.subject, function, self.options, self.type, self.fields)


class TypePlan:
    """What to do at a node of one API type.

    `absent`: asked of missing fields too; `owned`: fields whose being required is settled here, `closed`: whose values are;
    `dropped`: fields whose contents nobody validates. `rules`: called with values that are present, `validators`: with absent ones, too.
    """

    __slots__ = ("absent", "closed", "dropped", "owned", "present", "rules", "validators")

    def __init__(self, rules: Iterable[Hook] = (), validators: Iterable[Hook] = ()) -> None:
        self.absent: list[tuple[str, Constraint]] = []
        self.present: dict[str, list[Constraint]] = {}
        self.rules = list(rules)
        self.validators = list(validators)
        self.owned: set[str] = set()
        self.closed: set[str] = set()
        self.dropped: set[str] = set()


Wrap = Callable[[Hook], Hook]
"""Makes the hook that is called of a hook."""


class ObjectHooks:
    """Hooks about whole objects, and which of them concern one: most rules are about few kinds, and calling takes longer than looking."""

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
        """Those called with objects of a kind."""
        found = self._of_kind.get((api_version, kind))
        if found is None:
            names = kind_names(api_version, kind)
            found = self._of_kind[api_version, kind] = [self._hook(each) for each in self.rules if _is_of(each, names)]
        return found

    def of_facts(self, facts: Facts) -> list[Hook]:
        """Those called with these facts."""
        referred = self._references_of(facts) if facts.references else _NONE
        key = (facts.id.api_version, facts.id.kind, referred, *[bool(getattr(facts, name)) for name in self._facts])
        found = self._of_facts.get(key)
        if found is None:
            names = kind_names(facts.id.api_version, facts.id.kind)
            has = {name for name in self._facts if getattr(facts, name)}
            able = [each for each in self.rules if _is_of(each, names) and has.issuperset(each.rule.facts)]
            able = [each for each in able if not each.rule.references or not referred.isdisjoint(each.rule.references)]
            found = self._of_facts[key] = [self._hook(each) for each in able]
        return found

    def _references_of(self, facts: Facts) -> frozenset[str]:
        """The kinds that the object refers to, of those that rules name."""
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


def _is_of(active: Active, names: frozenset[str]) -> bool:
    return not active.rule.kinds or not names.isdisjoint(active.rule.kinds)


def _hook_of(active: Active, type: str, wrap: Wrap | None) -> Hook:
    rule = active.rule
    fields = rule.fields if isinstance(rule.fields, tuple) else rule.fields.get(type, ())
    hook = Hook(rule.id, rule.subject, rule.load(), active.options, type, fields)
    return hook if wrap is None else wrap(hook)


class Plan:
    """Work by API type, and the hooks of whole documents, objects and bundles; `every`: those of all objects of known kinds.

    `make`: gives the work of a type; it is asked once, when the first value of it comes.
    """

    def __init__(
        self,
        make: Callable[[str], TypePlan | None],
        documents: Iterable[Hook] = (),
        objects: ObjectHooks | None = None,
        bundle: ObjectHooks | None = None,
        every: Iterable[Hook] = (),
    ) -> None:
        self._make = make
        self._types: dict[str, TypePlan | None] = {}
        self.documents = list(documents)
        self.objects = objects or ObjectHooks()
        self.bundle = bundle or ObjectHooks()
        self.every = list(every)

    def of_type(self, name: str) -> TypePlan | None:
        """What to do at a value of a type, None where there is nothing to do."""
        try:
            return self._types[name]
        except KeyError:
            made = self._types[name] = self._make(name)
            return made


class _Types:
    """All that is asked by API type. What a type has is put together when a value of it comes, for then its rules must be loaded."""

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

    def make(self, name: str) -> TypePlan | None:
        """What there is to do at a value of a type."""
        if name not in self._rules and name not in self._validators and name not in self._tables:
            return None
        plan = TypePlan(
            [_hook_of(active, name, self._wrap) for active in self._rules.get(name, ()) if active.rule.function is not None],
            [self.hook_of(validator) for validator in self._validators.get(name, ())],
        )
        for table in self._tables.get(name, ()):
            for key, constraints in table.load().fields.items():
                self._enter(plan, key, constraints)
        return plan

    def hook_of(self, validator: Validator) -> Hook:
        hook = Hook(validator.rule.id, validator.subject, validator.load(), {}, fields=validator.fields or validator.metadata)
        return hook if self._wrap is None else self._wrap(hook)

    def _enter(self, plan: TypePlan, key: str, constraints: Iterable[Constraint]) -> None:
        plan.owned.add(key)
        for constraint in constraints:
            if constraint.closed:
                plan.closed.add(key)
            if constraint.dropped:
                plan.dropped.add(key)
            if constraint.rule.id not in self._active:
                continue
            if constraint.of_absent:
                plan.absent.append((key, constraint))
            else:
                plan.present.setdefault(key, []).append(constraint)


def compile_plan(registry: Registry, rules: RuleSet, wrap: Wrap | None = None) -> Plan:
    """What the walk does for these rules. `wrap`: makes other hooks of those that there are, for who wants to watch them."""
    working = [active for active in rules.active.values() if active.rule.function is not None]
    types = _Types(registry, rules, wrap)
    return Plan(
        types.make,
        [_hook_of(active, "", wrap) for active in working if active.rule.subject is Document],
        ObjectHooks([active for active in working if active.rule.subject is Resource and not active.rule.types], wrap),
        ObjectHooks([active for active in working if active.rule.subject is Facts], wrap),
        [types.hook_of(each) for each in registry.validators if each.rule.id in rules and not each.types],
    )

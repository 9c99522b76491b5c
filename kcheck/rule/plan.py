"""A rule set compiled for the walk: what to do at a node of each API type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from kcheck.finding.problem import Problem
from kcheck.kube.facts import Facts
from kcheck.kube.resource import Resource
from kcheck.rule.constraint import Constraint
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import RuleSet
from kcheck.tree.document import Document

MOST_PROBLEMS = 100_000
"""What a rule may find at one node, document or object before it is taken for endless."""


class EndlessRule(Exception):
    """A rule whose problems have no end."""

    def __init__(self) -> None:
        super().__init__(f"it finds more than {MOST_PROBLEMS:,} problems in one place, so it was stopped")


class Hook(NamedTuple):
    """A function to call at a node, under a rule's id. `subject`: what it is handed; `type`: the node's, where the hook is of one.

    `kinds`: of the objects that it is for, none for all; `needs`: what Facts must have for it.
    """

    rule: str
    subject: type
    function: Callable[..., Iterable[Problem]]
    options: dict[str, Any]
    type: str = ""
    kinds: frozenset[str] = frozenset()
    needs: tuple[str, ...] = ()


class TypePlan:
    """What to do at a node of one API type.

    `absent`: asked of missing fields too; `owned`: fields whose being required is settled here, `closed`: whose values are;
    `dropped`: fields whose contents nobody validates. `rules`: hooks that look at what is written, `checks`: at what is not, too.
    """

    __slots__ = ("absent", "checks", "closed", "dropped", "owned", "present", "rules")

    def __init__(self, rules: Iterable[Hook] = (), checks: Iterable[Hook] = ()) -> None:
        self.absent: list[tuple[str, Constraint]] = []
        self.present: dict[str, list[Constraint]] = {}
        self.rules = list(rules)
        self.checks = list(checks)
        self.owned: set[str] = set()
        self.closed: set[str] = set()
        self.dropped: set[str] = set()

    def with_hooks(self, wrap: Callable[[Hook], Hook]) -> TypePlan:
        """The same with other hooks."""
        other = TypePlan(map(wrap, self.rules), map(wrap, self.checks))
        other.absent, other.present = self.absent, self.present
        other.owned, other.closed, other.dropped = self.owned, self.closed, self.dropped
        return other


class ObjectHooks:
    """Hooks about whole objects, and which of them concern one: most rules are about few kinds, and calling takes longer than looking."""

    def __init__(self, hooks: Iterable[Hook] = ()) -> None:
        self.all = list(hooks)
        self._of_kind: dict[str, list[Hook]] = {}
        self._needed = tuple(dict.fromkeys(name for hook in self.all for name in hook.needs))
        self._of_facts: dict[tuple[object, ...], list[Hook]] = {}

    def of_kind(self, kind: str) -> list[Hook]:
        """Those that look at objects of a kind."""
        found = self._of_kind.get(kind)
        if found is None:
            found = self._of_kind[kind] = [hook for hook in self.all if not hook.kinds or kind in hook.kinds]
        return found

    def of_facts(self, facts: Facts) -> list[Hook]:
        """Those that can have something to say of these facts."""
        key = (facts.id.kind, *[bool(getattr(facts, name)) for name in self._needed])
        found = self._of_facts.get(key)
        if found is None:
            has = {name for name in self._needed if getattr(facts, name)}
            found = self._of_facts[key] = [hook for hook in self.of_kind(facts.id.kind) if has.issuperset(hook.needs)]
        return found


class Plan:
    """Work by API type, and the hooks of whole documents, objects and bundles; `every`: those of all objects of known kinds."""

    def __init__(
        self,
        types: dict[str, TypePlan],
        documents: Iterable[Hook] = (),
        objects: Iterable[Hook] = (),
        bundle: Iterable[Hook] = (),
        every: Iterable[Hook] = (),
    ) -> None:
        self.types = types
        self.documents = list(documents)
        self.objects = ObjectHooks(objects)
        self.bundle = ObjectHooks(bundle)
        self.every = list(every)


def compile_plan(registry: Registry, rules: RuleSet) -> Plan:
    """What the walk does for these rules."""
    types: dict[str, TypePlan] = defaultdict(TypePlan)
    documents: list[Hook] = []
    objects: list[Hook] = []
    bundle: list[Hook] = []
    every: list[Hook] = []
    for rule, _, options in rules.active.values():
        if rule.function is None:
            continue
        hook = Hook(rule.id, rule.subject, rule.function, options, "", rule.kinds, rule.needs)
        for name in rule.types:
            types[name].rules.append(hook._replace(type=name))
        if rule.subject is Document:
            documents.append(hook)
        elif rule.subject is Resource and not rule.types:
            objects.append(hook)
        elif rule.subject is Facts:
            bundle.append(hook)
    for check in registry.checks:
        if check.topic.id in rules:
            hook = Hook(check.topic.id, check.subject, check.function, {})
            for name in check.types:
                types[name].checks.append(hook)
            if not check.types:
                every.append(hook)
    for table in registry.tables:
        for name in table.types:
            for key, constraints in table.fields.items():
                types[name].owned.add(key)
                for constraint in constraints:
                    if constraint.closed:
                        types[name].closed.add(key)
                    if constraint.dropped:
                        types[name].dropped.add(key)
                    if constraint.topic.id not in rules:
                        continue
                    if constraint.of_absent:
                        types[name].absent.append((key, constraint))
                    else:
                        types[name].present.setdefault(key, []).append(constraint)
    return Plan(dict(types), documents, objects, bundle, every)

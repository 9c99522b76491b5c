"""A rule set compiled for the walk: what to do at a node of each API type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
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
    """A function to call at a node, under a rule's id. `subject`: what it is handed."""

    rule: str
    subject: type
    function: Callable[..., Iterable[Problem]]
    options: dict[str, Any]


@dataclass(slots=True)
class TypePlan:
    """What to do at a node of one API type.

    `absent`: asked of missing fields too; `owned`: fields whose being required is settled here, `closed`: whose values are;
    `dropped`: fields whose contents nobody validates. `rules`: hooks that look at what is written, `checks`: at what is not, too.
    """

    absent: list[tuple[str, Constraint]] = field(default_factory=list)
    present: dict[str, list[Constraint]] = field(default_factory=dict)
    rules: list[Hook] = field(default_factory=list)
    checks: list[Hook] = field(default_factory=list)
    owned: set[str] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)
    dropped: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Plan:
    """Work by API type, and the hooks of whole documents, objects and bundles; `every`: those of all objects of known kinds."""

    types: dict[str, TypePlan]
    documents: list[Hook]
    objects: list[Hook]
    bundle: list[Hook]
    every: list[Hook]


def compile_plan(registry: Registry, rules: RuleSet) -> Plan:
    """What the walk does for these rules."""
    types: dict[str, TypePlan] = defaultdict(TypePlan)
    plan = Plan(types, [], [], [], [])
    for rule, _, options in rules.active.values():
        if rule.function is None:
            continue
        hook = Hook(rule.id, rule.subject, rule.function, options)
        for name in rule.types:
            types[name].rules.append(hook)
        if rule.subject is Document:
            plan.documents.append(hook)
        elif rule.subject is Resource and not rule.types:
            plan.objects.append(hook)
        elif rule.subject is Facts:
            plan.bundle.append(hook)
    for check in registry.checks:
        if check.topic.id in rules:
            hook = Hook(check.topic.id, check.subject, check.function, {})
            for name in check.types:
                types[name].checks.append(hook)
            if not check.types:
                plan.every.append(hook)
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
    plan.types = dict(types)
    return plan

"""The values that do not change during a run: rules, schemas and settings."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from functools import cached_property
from pathlib import Path

from kcheck.baseline.baseline import Baseline
from kcheck.check.crd_rules import CustomRules
from kcheck.check.profile import Profile
from kcheck.check.substitution import Substitution
from kcheck.check.time_limit import Budget
from kcheck.discovery.glob import path_regex
from kcheck.facts.facts import Facts
from kcheck.facts.unit import Unit
from kcheck.finding.role import EXAMPLES, MANIFEST, TESTS, Role
from kcheck.repository.policy import limited_rules
from kcheck.rule.plan import Plan, compile_plan
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import ALWAYS, RuleSet
from kcheck.schema.store import Store

_UNTIMED = nullcontext()


class Session:
    """Rules, schemas and settings of a run.

    Attributes:
        registry: All known rules.
        rules: The enabled rules.
        stores: One store for each Kubernetes version to check, the newest last.
        complete: Whether the input contains all objects that refer to each other.
        complete_units: Globs of the paths of deployment units that contain all objects that they need.
        provided: The facts of objects that the cluster already has.
        by_file: Returns the rule set of a file if the config has overrides; the same object for files with the same overrides.
        schemas: Files and folders with schemas of additional kinds.
        factory: Creates the same session in a process that is not a fork of this one, or None if that is not possible.
        judges_as_server: Whether files are judged as if they were applied as they are: only what a kustomization uses as a patch is one.
        included_roles: Roles of tests and examples to which all rules apply.
        roles: Returns the role that the config assigns to a file, if any.
        profile: Measures the time of stages and rules, if requested.
        judges_placeholders: Whether rules also judge placeholders, as the API server does.
        substitution: Fills in placeholders before files are parsed, or None.
        baseline: The findings that are not reported, or None.
        budget: The processor time of the run.
    """

    def __init__(
        self,
        registry: Registry,
        rules: RuleSet,
        stores: list[Store],
        complete: bool = False,
        by_file: Callable[[str], RuleSet] | None = None,
        schemas: tuple[Path, ...] = (),
        factory: Callable[[], Session] | None = None,
        profile: Profile | None = None,
        judges_placeholders: bool = False,
        substitution: Substitution | None = None,
        included_roles: frozenset[str] = frozenset(),
        judges_as_server: bool = False,
        roles: Callable[[str], Role | None] | None = None,
        complete_units: tuple[str, ...] = (),
        provided: tuple[Facts, ...] = (),
        baseline: Baseline | None = None,
    ) -> None:
        self.registry = registry
        self.rules = rules
        self.stores = stores
        self.complete = complete
        self.complete_units = complete_units
        self.provided = provided
        self.baseline = baseline
        self.by_file = by_file
        self.schemas = schemas
        self.factory = factory
        self.profile = profile
        self.judges_placeholders = judges_placeholders
        self.substitution = substitution
        self.included_roles = included_roles
        self.judges_as_server = judges_as_server
        self.roles = roles
        self.budget = Budget()
        self.plans: dict[int, Plan] = {}
        self._embedded: dict[int, Plan] = {}
        self._limited: dict[tuple[int, str], RuleSet] = {}
        for store in self.stores:
            if store.rules is None:
                store.rules = CustomRules(store.definitions.minor)

    def without_rules(self) -> Session:
        """Return a session that reports only what could not be read."""
        other = copy(self)
        other.rules, other.by_file = RuleSet({id: active for id, active in self.rules.active.items() if id in ALWAYS}), None
        return other

    def is_complete(self, unit: Unit) -> bool:
        """Return whether a deployment unit contains all objects that it needs."""
        return self.complete or any(path_regex(glob).fullmatch(unit.path) for glob in self.complete_units)

    def rules_for(self, file: str, role: str = MANIFEST) -> RuleSet:
        """Return the rules that apply to a file with this role."""
        rules = self.rules if self.by_file is None else self.by_file(file)
        if not self.is_limited(role):
            return rules
        key = id(rules), role
        if key not in self._limited:
            self._limited[key] = limited_rules(rules, role, self.judges_as_server)
        return self._limited[key]

    def is_limited(self, role: str) -> bool:
        """Whether only some rules apply to files with this role."""
        return (role in TESTS or role in EXAMPLES) and role not in self.included_roles

    def is_test(self, role: str) -> bool:
        """Whether files with this role belong to tests, and the user does not include them."""
        return role in TESTS and role not in self.included_roles

    def plan(self, rules: RuleSet) -> Plan:
        """Return the compiled rule set, which is created once for each rule set."""
        plan = self.plans.get(id(rules))
        if plan is None:
            plan = compile_plan(self.registry, rules, self.profile.measured if self.profile is not None else None)
            self.plans[id(rules)] = plan
        return plan

    def embedded_plan(self, rules: RuleSet) -> Plan:
        """Return the part of the plan that applies to Pods in custom resources, created once for each rule set."""
        plan = self._embedded.get(id(rules))
        if plan is None:
            from kcheck.schema.pods.walk import embedded_plan

            plan = self._embedded[id(rules)] = embedded_plan(self.plan(rules), rules)
        return plan

    @cached_property
    def verdict_plan(self) -> Plan:
        """The validation that the API server applies to these Pods."""
        from kcheck.schema.pods.validation import verdict_plan

        return verdict_plan(self.registry)

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Measure the `with` block as a stage, if a profile is requested."""
        return _UNTIMED if self.profile is None else self.profile.stage(name)

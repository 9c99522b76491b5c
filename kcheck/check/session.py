"""What stays the same during a run: rules, schemas, settings."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path

from kcheck.check.crd_rules import CustomRules
from kcheck.check.profile import Profile
from kcheck.check.time_limit import Budget
from kcheck.rule.plan import Plan, compile_plan
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import RuleSet
from kcheck.schema.store import Store

_UNTIMED = nullcontext()


class Session:
    """`stores`: one for each Kubernetes version to check against, the newest last. `complete`: the input is all there is.

    `by_file`: the rule set of a file, where the config has overrides; the same object for files with the same overrides.
    `schemas`: files and folders that kinds were added from.
    `profile`: counts the time of stages and rules, where somebody asked for that.
    `budget`: the processor time of the run.
    `recipe`: makes the same session in another process where that cannot be a copy of this one; None where nobody knows how.
    """

    def __init__(
        self,
        registry: Registry,
        rules: RuleSet,
        stores: list[Store],
        complete: bool = False,
        by_file: Callable[[str], RuleSet] | None = None,
        schemas: tuple[Path, ...] = (),
        recipe: Callable[[], Session] | None = None,
        profile: Profile | None = None,
    ) -> None:
        self.registry = registry
        self.rules = rules
        self.stores = stores
        self.complete = complete
        self.by_file = by_file
        self.schemas = schemas
        self.recipe = recipe
        self.profile = profile
        self.budget = Budget()
        self.plans: dict[int, Plan] = {}
        self._embedded: dict[int, Plan] = {}
        for store in self.stores:
            if store.rules is None:
                store.rules = CustomRules(store.definitions.minor)

    def rules_for(self, file: str) -> RuleSet:
        """The rules that hold for a file."""
        return self.rules if self.by_file is None else self.by_file(file)

    def plan(self, rules: RuleSet) -> Plan:
        """The compiled rule set, made once for each."""
        plan = self.plans.get(id(rules))
        if plan is None:
            plan = compile_plan(self.registry, rules, self.profile.timed if self.profile is not None else None)
            self.plans[id(rules)] = plan
        return plan

    def embedded_plan(self, rules: RuleSet) -> Plan:
        """What of the plan is asked of pods in custom resources, made once for each rule set."""
        plan = self._embedded.get(id(rules))
        if plan is None:
            from kcheck.schema.pods.walk import embedded_plan

            plan = self._embedded[id(rules)] = embedded_plan(self.plan(rules), rules)
        return plan

    @cached_property
    def verdict_plan(self) -> Plan:
        """What the API server will ask of them."""
        from kcheck.schema.pods.validation import verdict_plan

        return verdict_plan(self.registry)

    def stage(self, name: str) -> AbstractContextManager[None]:
        """What follows belongs to a stage of the run, for who wants to know where time goes."""
        return _UNTIMED if self.profile is None else self.profile.stage(name)

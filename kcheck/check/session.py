"""The values that do not change during a run: rules, schemas and settings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any

from kcheck.baseline.baseline import Baseline
from kcheck.check.crd_rules import CustomRules
from kcheck.check.profile import Profile
from kcheck.check.substitution import Substitution
from kcheck.check.time_limit import Budget
from kcheck.discovery.glob import path_regex
from kcheck.facts.facts import Facts
from kcheck.facts.removed import RemovedObject
from kcheck.facts.unit import Unit
from kcheck.finding.rendered import rendered_path, template_of
from kcheck.finding.report import DOCS_URL
from kcheck.finding.role import EXAMPLES, MANIFEST, TESTS, Role
from kcheck.kube.object_change import OlderState
from kcheck.repository.policy import limited_rules
from kcheck.rule.plan import Plan, compile_plan
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import ALWAYS, RuleSet, choose
from kcheck.schema.store import Store
from kcheck.text.record import NamedTuple

_UNTIMED = nullcontext()


class KubernetesCluster(NamedTuple):
    """What may differ between the clusters that the files of an input belong to.

    Attributes:
        stores: One store for each Kubernetes version to check, the newest last.
        complete: Whether the input contains all objects that the files of this cluster refer to.
        provided: The facts of objects that the cluster already has.
    """

    stores: list[Store]
    complete: bool = False
    provided: tuple[Facts, ...] = ()


class PolicySettings(NamedTuple):
    """Where user-defined policies come from.

    Attributes:
        from_input: Whether policies in the input are enforced on it.
        files: Paths and contents of other files with policies.
        username: The name of the user who makes the requests, "" if unknown.
        groups: The groups of this user.
        rule_files: Paths and contents of the files with short rules, which are valid.
        provided: Paths and contents of files with objects that the cluster already has.
    """

    from_input: bool = True
    files: tuple[tuple[str, str], ...] = ()
    username: str = ""
    groups: tuple[str, ...] = ()
    rule_files: tuple[tuple[str, str], ...] = ()
    provided: tuple[tuple[str, str], ...] = ()


class Clusters:
    """The clusters that the config distinguishes. Files with equal keys belong to one cluster.

    Args:
        key_of: Returns the key of a file.
        make: Returns the cluster of a key.
        default: The key of files that belong to no particular cluster.
        stores: The stores of all clusters.
    """

    def __init__(
        self, key_of: Callable[[str], Hashable], make: Callable[[Any], KubernetesCluster], default: Hashable, stores: Iterable[Store]
    ) -> None:
        self.stores = tuple(stores)
        self._key_of = key_of
        self._make = make
        self._numbers = {default: 0}
        self._all = [make(default)]

    def number_of(self, file: str) -> int:
        """Return the index of the cluster of a file: 0 for files that belong to no particular cluster."""
        key = self._key_of(file)
        if key not in self._numbers:
            self._all.append(self._make(key))
            self._numbers[key] = len(self._all) - 1
        return self._numbers[key]

    def __getitem__(self, number: int) -> KubernetesCluster:
        return self._all[number]

    def __iter__(self) -> Iterator[KubernetesCluster]:
        return iter(self._all)


class Session:
    """Rules, schemas and settings of a run.

    Attributes:
        registry: All known rules.
        rules: The enabled rules.
        stores: One store for each Kubernetes version to check, the newest last.
        complete: Whether the input contains all objects that refer to each other.
        complete_units: Globs of the paths of deployment units that contain all objects that they need.
        provided: The facts of objects that the cluster already has.
        clusters: The clusters that the config distinguishes, None if there is only one. The first one is described by `stores`, `complete`
            and `provided`.
        removed: The facts of objects that were in an earlier revision of the input, and are no longer in it as they were.
        gone: The objects of an earlier revision that are no longer in the input at all, for rules about the consequences.
        before: The older state of the input that changes are judged against, or None.
        by_file: Returns the rule set of a file if the config has overrides; the same object for files with the same overrides.
        schemas: Files and folders with schemas of additional kinds.
        factory: Creates the same session in a process that is not a fork of this one, or None if that is not possible.
        judges_as_server: Whether files are judged as if they were applied as they are: only what a kustomization uses as a patch is one.
        included_roles: Roles of tests and examples to which all rules apply.
        roles: Returns the role that the config assigns to a file, if any.
        profile: Measures the time of stages and rules, if requested.
        judges_placeholders: Whether rules also judge placeholders, as the API server does.
        substitution: Fills in placeholders before files are parsed, or None.
        partial_folders: Normalized paths of folders of which the input contains only some files, which the command line names one by one.
        kustomize: The command that builds kustomizations; empty to build them without it.
        helm: Renders charts, None to skip them.
        charts: The charts that were rendered in the last run, None if there are none.
        docs_url: The base URL of the documentation.
        baseline: The findings that are not reported, or None.
        budget: The processor time of the run.
        policies: The user-defined policies (`PolicyInput`), None if there are none: few runs have some, so the package is imported late.
        policy_settings: Where policies are read from.
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
        partial_folders: Collection[str] = (),
        clusters: Clusters | None = None,
        docs_url: str = DOCS_URL,
        baseline: Baseline | None = None,
        before: OlderState | None = None,
    ) -> None:
        self.registry = registry
        self.rules = rules
        self.stores = stores
        self.complete = complete
        self.complete_units = complete_units
        self.provided = provided
        self.partial_folders = partial_folders
        self.kustomize: tuple[str, ...] = ()
        self.helm: Any = None
        self.charts: Any = None
        self.clusters = clusters
        self.removed: tuple[Facts, ...] = ()
        self.gone: tuple[RemovedObject, ...] = ()
        self.baseline = baseline
        self.before = before
        self.by_file = by_file
        self.schemas = schemas
        self.factory = factory
        self.profile = profile
        self.judges_placeholders = judges_placeholders
        self.substitution = substitution
        self.included_roles = included_roles
        self.judges_as_server = judges_as_server
        self.roles = roles
        self.docs_url = docs_url
        self.budget = Budget()
        self.policies: Any = None
        self.policy_settings = PolicySettings()
        self._policy_sets: dict[int, Any] = {}
        self.plans: dict[int, Plan] = {}
        self._embedded: dict[int, Plan] = {}
        self._spec_rules: RuleSet | None = None
        self._limited: dict[tuple[int, str], RuleSet] = {}
        self._selected_stores: dict[tuple[int, str], list[Store]] = {}
        for store in self.all_stores:
            if store.rules is None:
                store.rules = CustomRules(store.definitions.minor)

    def without_rules(self) -> Session:
        """Return a session that reports only what could not be read."""
        other = copy(self)
        other.rules, other.by_file = RuleSet({id: active for id, active in self.rules.active.items() if id in ALWAYS}), None
        return other

    @property
    def all_stores(self) -> tuple[Store, ...]:
        """The stores of all clusters, each once."""
        return tuple(self.stores) if self.clusters is None else self.clusters.stores

    def cluster_number(self, file: str) -> int:
        """Return the index of the cluster that a file belongs to."""
        return 0 if self.clusters is None else self.clusters.number_of(template_of(file))

    def cluster(self, number: int = 0) -> KubernetesCluster:
        """Return a cluster by its index."""
        if number == 0 or self.clusters is None:
            return KubernetesCluster(self.stores, self.complete, self.provided)
        return self.clusters[number]

    def stores_for(self, file: str) -> list[Store]:
        """Return the stores that the objects of a file are validated with."""
        stores = self.stores if self.clusters is None else self.cluster(self.cluster_number(file)).stores
        rendered = rendered_path(file)
        if rendered is None or not rendered.versions:
            return stores
        # The output of a template may depend on the version.
        key = id(stores), rendered.versions
        if key not in self._selected_stores:
            versions = rendered.versions.split(",")
            self._selected_stores[key] = [store for store in stores if store.definitions.version in versions]
        return self._selected_stores[key]

    def cluster_of_unit(self, files: Iterable[str]) -> int:
        """Return the index of the cluster of a deployment unit with these files: 0 if they belong to several."""
        numbers = set() if self.clusters is None else {self.clusters.number_of(template_of(file)) for file in files}
        return numbers.pop() if len(numbers) == 1 else 0

    def is_complete(self, unit: Unit, cluster: int = 0) -> bool:
        """Return whether a deployment unit of a cluster contains all objects that it needs."""
        return self.cluster(cluster).complete or any(path_regex(glob).fullmatch(unit.path) for glob in self.complete_units)

    def complete_part(self, file: str) -> int | None:
        """Return a number that is equal for all files that together contain all objects of a cluster, None for other files."""
        number = self.cluster_number(file)
        return number if self.cluster(number).complete else None

    def defines_for_all(self, role: str) -> bool:
        """Return whether kinds that a file with this role defines apply to the input. Tests often contain old or reduced definitions."""
        return not self.is_test(role) or self.judges_as_server

    def rules_for(self, file: str, role: str = MANIFEST) -> RuleSet:
        """Return the rules that apply to a file with this role."""
        rules = self.rules if self.by_file is None else self.by_file(template_of(file))
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

    def spec_plan(self) -> Plan:
        """Return the plan of all rules of the family spec, which decide whether the API server accepts an object. Created once."""
        if self._spec_rules is None:
            self._spec_rules = choose(self.registry, ("spec",))
        return self.plan(self._spec_rules)

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

    def policy_set(self, store: Store) -> Any:
        """Return the `PolicySet` of the policies for a Kubernetes version. Created once."""
        found = self._policy_sets.get(id(store))
        if found is None:
            from kcheck.policy.policy_set import PolicySet
            from kcheck.yaml.parse import parse

            parse_file = self.substitution.parse if self.substitution is not None else parse
            found = self._policy_sets[id(store)] = PolicySet(self.policies, store, parse_file)
        return found

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Measure the `with` block as a stage, if a profile is requested."""
        return _UNTIMED if self.profile is None else self.profile.stage(name)

"""The specification of a session as plain data, from which another machine creates the same session or explains why it cannot."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from kcheck import __version__
from kcheck.baseline.baseline import Baseline
from kcheck.check.fingerprint import program_digest, schemas_digest
from kcheck.check.session import Clusters, KubernetesCluster, Session
from kcheck.check.substitution import Substitution
from kcheck.facts.facts import Facts
from kcheck.finding.report import DOCS_URL
from kcheck.finding.severity import Severity
from kcheck.policy.policy_input import PolicyInput
from kcheck.rule.options import BadOption
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import Active, RuleSet
from kcheck.rule.user_policies import PolicySelection
from kcheck.schema.builtin.definitions import UnknownVersion, load
from kcheck.schema.store import Store


class RuleSpec(NamedTuple):
    """The settings of a rule. `severity`: as a word; `options`: by name, in JSON."""

    severity: str
    options: str


class ClusterSpec(NamedTuple):
    """The specification of a cluster."""

    kubernetes: tuple[str, ...]
    complete: bool
    provided: tuple[Facts, ...]


class SelectionSpec(NamedTuple):
    """Which user-defined policies a rule set enables. `severities`: as words."""

    on: bool
    named: Mapping[str, bool]
    severities: Mapping[str, str]
    notices: bool = False


class IncompatibleSpec(Exception):
    """This program cannot create the session; the message explains why."""


class SessionSpec(NamedTuple):
    """The specification of a session.

    Attributes:
        version: Version of kcheck.
        program: Digest of the code of kcheck and its plug-ins.
        kubernetes: Kubernetes versions, the oldest first.
        schemas: Digest of the additional schemas.
        complete: Whether the input contains all objects that refer to each other.
        included_roles: Roles of tests and examples to which all rules apply, sorted.
        rules: The distinct rule sets, by rule id.
        files: Index of the rule set of a file; files that are missing use the first one.
        placeholders: Whether rules judge placeholders.
        variables: Values that replace variables in manifests, by name.
        complete_units: Globs of the deployment units that contain all objects that they need.
        provided: The facts of objects that the cluster already has.
        judges_as_server: Whether files are judged as if they were applied as they are.
        partial_folders: Folders of which the input contains only some files.
        renders: Whether kustomize builds kustomizations. Its path is not a part of the specification.
        clusters: The clusters that the config distinguishes.
        cluster_files: Index of the cluster of a file; files that are missing belong to the first one.
        docs_url: The base URL of the documentation.
        baseline: The findings that are not reported, if the machine builds a report.
        policies: The user-defined policies that are enforced.
        selections: Which policies are enabled, by rule set.
    """

    version: str
    program: str
    kubernetes: tuple[str, ...]
    schemas: str
    complete: bool
    included_roles: tuple[str, ...]
    rules: tuple[Mapping[str, RuleSpec], ...]
    files: Mapping[str, int]
    placeholders: bool = False
    variables: Mapping[str, str] = MappingProxyType({})
    complete_units: tuple[str, ...] = ()
    provided: tuple[Facts, ...] = ()
    judges_as_server: bool = False
    partial_folders: tuple[str, ...] = ()
    renders: bool = False
    clusters: tuple[ClusterSpec, ...] = ()
    cluster_files: Mapping[str, int] = MappingProxyType({})
    docs_url: str = DOCS_URL
    baseline: Baseline | None = None
    policies: PolicyInput | None = None
    selections: tuple[SelectionSpec, ...] = ()


def session_spec_of(session: Session, files: Iterable[str]) -> SessionSpec:
    """Return the specification of a session for these files."""
    files = tuple(files)
    sets: dict[int, int] = {}
    rules: list[RuleSet] = []
    numbers: dict[str, int] = {}
    for file in ("", *files) if session.by_file is None else files:
        found = session.rules_for(file)
        if id(found) not in sets:
            sets[id(found)] = len(rules)
            rules.append(found)
        if sets[id(found)]:
            numbers[file] = sets[id(found)]
        if session.by_file is None:
            break
    versions = _versions(session.stores)
    program, schemas = program_digest(session.registry), schemas_digest(session.schemas)
    variables = session.substitution.variables if session.substitution is not None else {}
    around = session.judges_placeholders, variables, session.complete_units, session.provided, session.judges_as_server
    # Numbered in the order of the files, because the numbers in the session depend on the shard.
    order = list(dict.fromkeys((0, *map(session.cluster_number, files)))) if session.clusters is not None else []
    cluster_files = {file: number for file in files if order and (number := order.index(session.cluster_number(file)))}
    clusters = tuple(ClusterSpec(_versions(stores), complete, provided) for stores, complete, provided in map(session.cluster, order))
    included = tuple(sorted(session.included_roles))
    last = tuple(sorted(session.partial_folders)), bool(session.kustomize)
    return SessionSpec(
        __version__, program, versions, schemas, session.complete, included, tuple(map(_rule_specs, rules)), numbers, *around, *last,
        clusters, cluster_files, session.docs_url, policies=session.policies, selections=tuple(map(_selection_spec, rules)),
    )  # fmt: skip


def _selection_spec(rules: RuleSet) -> SelectionSpec:
    on, named, severities, notices = rules.policies
    return SelectionSpec(on, named, {id: severity.word for id, severity in severities.items()}, notices)


def _versions(stores: Iterable[Store]) -> tuple[str, ...]:
    return tuple(store.definitions.version for store in stores)


def _rule_specs(rules: RuleSet) -> dict[str, RuleSpec]:
    return {id: RuleSpec(active.severity.word, json.dumps(active.options)) for id, active in rules.active.items()}


def create_session(spec: SessionSpec, registry: Registry, add_schemas: Callable[[list[Store]], None] = lambda stores: None) -> Session:
    """Create a session from its specification. `add_schemas`: adds the kinds of additional schemas to the stores.

    Raises IncompatibleSpec.
    """
    if spec.version != __version__:
        raise IncompatibleSpec(f"created with kcheck {spec.version}, but this is kcheck {__version__}")
    if spec.program != program_digest(registry):
        raise IncompatibleSpec("created with different code of kcheck or its plug-ins")
    sets = [_rule_set(each, registry) for each in spec.rules] or [RuleSet()]
    for found, selection in zip(sets, spec.selections, strict=False):
        severities = {id: Severity.parse(word) for id, word in selection.severities.items()}
        found.policies = PolicySelection(selection.on, selection.named, severities, selection.notices)
    if not all(0 <= number < len(sets) for number in spec.files.values()):
        raise IncompatibleSpec(f"a file refers to a rule set that does not exist: there are only {len(sets)}")
    if not all(0 <= number < len(spec.clusters) for number in spec.cluster_files.values()):
        raise IncompatibleSpec(f"a file refers to a cluster that does not exist: there are only {len(spec.clusters)}")
    try:
        versions = dict.fromkeys((*spec.kubernetes, *(version for each in spec.clusters for version in each.kubernetes)))
        by_version = {version: Store(load(version)) for version in versions}
    except UnknownVersion as error:
        raise IncompatibleSpec(str(error)) from None
    add_schemas(list(by_version.values()))
    stores = [by_version[version] for version in spec.kubernetes]

    def make_cluster(number: int) -> KubernetesCluster:
        each = spec.clusters[number]
        return KubernetesCluster([by_version[version] for version in each.kubernetes], each.complete, each.provided)

    def cluster_number(file: str) -> int:
        return spec.cluster_files.get(file, 0)

    clusters = Clusters(cluster_number, make_cluster, 0, by_version.values()) if spec.clusters else None

    def by_file(file: str) -> RuleSet:
        return sets[spec.files.get(file, 0)]

    substitution = Substitution(spec.variables) if spec.variables else None
    session = Session(
        registry, sets[0], stores, spec.complete, by_file if len(sets) > 1 else None, judges_placeholders=spec.placeholders,
        substitution=substitution, included_roles=frozenset(spec.included_roles), complete_units=spec.complete_units,
        provided=spec.provided, judges_as_server=spec.judges_as_server, partial_folders=spec.partial_folders, clusters=clusters,
        docs_url=spec.docs_url, baseline=spec.baseline,
    )  # fmt: skip
    session.policies = spec.policies
    return session


def _rule_set(spec: Mapping[str, RuleSpec], registry: Registry) -> RuleSet:
    active = {}
    for id, (severity, options) in spec.items():
        rule = registry.rules.get(id)
        if rule is None:
            raise IncompatibleSpec(f"created with a rule {id} that is not installed here")
        try:
            values = json.loads(options)
            if not isinstance(values, dict):
                raise ValueError(f"options must be an object, not {options}")
            values = {name: rule.options[name].read(value) for name, value in values.items()}
            active[id] = Active(rule, Severity.parse(severity), values)
        except (KeyError, ValueError, BadOption) as error:
            raise IncompatibleSpec(f"created with a different version of rule {id}: {error}") from None
    return RuleSet(active)

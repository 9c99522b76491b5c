"""The file stage: one file's documents to findings and facts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from kcheck.finding.finding import Finding
from kcheck.finding.problem import Problem
from kcheck.kube.facts import Facts
from kcheck.kube.resource import Resource, resources
from kcheck.kube.suggestion import nearest
from kcheck.rule.plan import MOST_PROBLEMS, EndlessRule, Hook, Plan
from kcheck.rule.ruleset import RuleSet
from kcheck.run.collect import collect
from kcheck.run.placing import Placer
from kcheck.run.session import Session
from kcheck.schema.components import end_of, instead_of
from kcheck.schema.store import Store
from kcheck.schema.walk import Walk
from kcheck.text.source import Span
from kcheck.tree.document import Document
from kcheck.tree.node import Node


@dataclass(slots=True)
class FileResult:
    """What one file gave: findings, facts of its objects, how many documents."""

    findings: list[Finding] = field(default_factory=list)
    facts: list[Facts] = field(default_factory=list)
    documents: int = 0


def check_documents(documents: Iterable[Document], session: Session, rules: RuleSet) -> FileResult:
    """Check the documents of a file with these rules."""
    result = FileResult()
    plan = session.plan(rules)
    for document in documents:
        result.documents += 1
        _Check(document, session, rules, plan, result).run()
    return result


class _Check:
    """One document being checked."""

    def __init__(self, document: Document, session: Session, rules: RuleSet, plan: Plan, result: FileResult) -> None:
        self.document = document
        self.session = session
        self.rules = rules
        self.plan = plan
        self.result = result
        self.placer = Placer(document)

    def run(self) -> None:
        document = self.document
        if document.fault is not None:
            self.tell("yaml-syntax", Problem(Span(document.fault.start, document.fault.end), document.fault.message))
            return
        for hook in self.plan.documents:
            self.call(hook, document)
        objects = list(resources(document))
        if not objects and not (document.root["kind"].text.endswith("List") and document.root["items"].is_list):
            self.no_object(document.root)
        for entry, first in document.duplicates:
            owner = next((r for r in objects if r.node.start <= entry.key_span.start < r.node.end), None)
            self.placer = Placer(document, owner)
            line = document.source.position(first.key_span.start).line
            message = f"{entry.name} stands in this map already, on line {line}: take one away"
            self.tell("duplicate-key", Problem(entry, message, "DuplicateKey", at="key"))
        for resource in objects:
            self.object(resource)

    def object(self, resource: Resource) -> None:
        stores = self.session.stores
        last: Walk | None = None
        for store in stores:
            last = self.against(resource, store) or last
        self.placer.resource = resource
        for hook in self.plan.objects:
            self.call(hook, resource)
        with self.session.stage("facts of objects"):
            self.result.facts.append(collect(resource, last.pods if last is not None else [], self.placer))

    def against(self, resource: Resource, store: Store) -> Walk | None:
        """Judge an object by one version of Kubernetes."""
        resource.minor = store.definitions.minor
        walk = Walk(resource, self.plan, self.tell, self.crash)
        kind = store.builtin(resource.api_version, resource.kind)
        if kind is not None:
            resource.built_in, resource.namespaced = True, kind.namespaced
            self.placer = Placer(self.document, resource, kind.shape)
            walk.visit(resource.node, kind.shape)
            walk.whole(resource)
            return walk
        added = store.added(resource.api_version, resource.kind)
        if added is not None:
            resource.namespaced = added.namespaced
            self.placer = Placer(self.document, resource, added.shape)
            added.judge(resource, walk)
            walk.whole(resource)
            return walk
        component = store.components.kind(resource.api_version, resource.kind)
        if component is not None:
            # A file that a program reads: what holds of every object does not hold of it.
            self.placer = Placer(self.document, resource, component.shape)
            walk.visit(resource.node, component.shape)
            return walk
        self.placer = Placer(self.document, resource)
        self.unknown_kind(resource, store)
        return None

    def unknown_kind(self, resource: Resource, store: Store) -> None:
        api_version, kind = resource.api_version, resource.kind
        version = store.definitions.version
        node = resource["apiVersion"]
        absence = store.absence(api_version, kind)
        if absence is not None and absence.removed:
            instead = f"use {absence.replacement}" if absence.replacement else instead_of(resource.group, kind) or "nothing replaces it"
            self.tell("removed-api", Problem(node, f"{api_version} {kind} was removed in Kubernetes {absence.removed}: {instead}"))
        elif absence is not None:
            instead = f": use {absence.replacement}" if absence.replacement else ""
            self.tell("unknown-kind", Problem(node, f"{api_version} {kind} comes with Kubernetes {absence.added}, not {version}{instead}"))
        elif end := end_of(resource.group):
            self.tell("removed-api", Problem(node, f"{api_version} {kind} {end}"))
        elif store.serves_group(api_version) or "/" not in api_version:
            served = store.versions_of(kind)
            if served:
                self.tell("unknown-kind", Problem(node, f"{kind} is not in {api_version}: write {' or '.join(served)}"))
            else:
                near = nearest(kind, sorted(store.kind_names()))
                hint = f": did you mean {near}?" if near else ": check its spelling and apiVersion"
                self.tell("unknown-kind", Problem(resource["kind"], f"Kubernetes {version} has no kind {kind} in {api_version}{hint}"))
        elif not self.is_ignored(resource.group):
            self.tell("no-schema", Problem(node, f"no schema for {api_version} {kind}: give its CRD in the input or with --schemas"))

    def is_ignored(self, group: str) -> bool:
        """Whether the config says that an API group may go without a schema."""
        patterns = self.rules["no-schema"].options["ignore_groups"] if "no-schema" in self.rules else ()
        return any(fnmatchcase(group, pattern) for pattern in patterns)

    def no_object(self, root: Node) -> None:
        if not root.is_map:
            self.tell("no-object", Problem(root, "this is no Kubernetes object: it needs apiVersion, kind and metadata"))
            return
        for key in ("apiVersion", "kind"):
            node = root[key]
            if node and not node.text:
                self.tell("no-object", Problem(node, f"{key} must be text, not {node.plain()!r}"))
            elif not node:
                near = nearest(key, [k for k, _ in root.entries])
                at = root[near] if near and near != key else node
                hint = f"did you mean that by {near}?" if near and near != key else "add it"
                self.tell("no-object", Problem(at, f"{key} is missing: {hint}", at="key"))

    def call(self, hook: Hook, subject: Document | Resource) -> None:
        try:
            for number, problem in enumerate(hook.function(subject, **hook.options), 1):
                self.tell(hook.rule, problem)
                if number > MOST_PROBLEMS:
                    raise EndlessRule
        except Exception as error:
            self.crash(hook.rule, error)

    def crash(self, rule: str, error: Exception) -> None:
        """A rule failed on an object: that is a finding too."""
        of = f" on {self.placer.id.kind} {self.placer.id.name}" if self.placer.id.kind else ""
        message = f"rule {rule} failed{of}: {type(error).__name__}: {error}"
        root = self.placer.resource.node if self.placer.resource is not None else self.document.root
        self.tell("internal-error", Problem(root, message))

    def tell(self, rule: str, problem: Problem) -> None:
        """Make a finding of a problem, where the rule is one of those that run."""
        active = self.rules.active.get(rule)
        if active is None:
            return
        node = problem.node
        field = self.placer.path(problem.field) if isinstance(problem.field, Node) else problem.field
        if isinstance(node, Node):
            place = self.placer.place(node, problem.at, field)
        else:
            place = self.placer.at(node, field or "") if isinstance(node, Span) else node
        self.result.findings.append(
            Finding(rule, active.severity, active.rule.family, problem.message, place, problem.reason, problem.related, problem.fix)
        )

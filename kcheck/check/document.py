"""Checks the documents of one file: from documents to findings and facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from kcheck.check.input_kinds import POLICY_MARKER
from kcheck.check.session import Session
from kcheck.extract.extract import extract_facts
from kcheck.facts.facts import Facts
from kcheck.finding.finding import Finding
from kcheck.finding.fix import Correction, Fix
from kcheck.finding.problem import Problem
from kcheck.finding.role import CLUSTER_DUMP, FRAGMENTS, GOLDEN_FILE, MANIFEST, TEST_DATA, TEST_MANIFEST
from kcheck.finding.severity import Severity
from kcheck.kube import placeholders
from kcheck.kube.object_change import OlderObject
from kcheck.kube.resource import Resource, resources
from kcheck.kube.suggestions import did_you_mean, nearest
from kcheck.redaction import redact
from kcheck.repository.roles import is_partial_workload, is_written_by_cluster
from kcheck.rule.plan import Plan
from kcheck.rule.rule import Rule
from kcheck.rule.ruleset import RuleSet
from kcheck.schema.builtin.components import end_of, instead_of
from kcheck.schema.builtin.version_preference import succession
from kcheck.schema.locator import Locator, ObjectIndex
from kcheck.schema.store import Store
from kcheck.schema.walk import Walk
from kcheck.text.complaint import help_of
from kcheck.text.edit import Edit
from kcheck.text.span import Span
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node

PLACEHOLDERS = "placeholders"
"""Group of the rules that report placeholders. All other rules skip them."""
_IDENTIFYING_KEYS = ("apiVersion", "kind")
# Rules that need the names mentioned in all texts. Few runs enable them, and collecting the names takes time.
_RULES_WITH_MENTIONS = frozenset(
    {
        "unused-config-map",
        "unused-secret",
        "unused-service-account",
        "unused-persistent-volume-claim",
        "unused-key",
        "unbound-role",
        "unused-binding-subject",
    }
)
# Rules that evaluate everything in a value together.
_RULES_FOR_WHOLE_VALUES = frozenset({"crd-rule-violation", "selector-mismatch"})
# Rules that search a value for certain texts, and skip placeholders among these.
_RULES_FOR_PARTS = frozenset({"credential-in-env", "credential-in-args", "credential-in-config-map", "credential-in-custom-resource"})
# The API version of the configuration of kustomize's built-in generators and transformers.
_KUSTOMIZE_PLUGIN = "builtin"
# Rules that compare fields, of which a patch may contain only some.
_RULES_FOR_COMPLETE_OBJECTS = frozenset({"invalid-crd-names", "selector-mismatch", "unevaluated-crd-rules"})

# Roles of files that a program writes, so that fixes belong elsewhere.
_WRITTEN_BY_PROGRAMS = frozenset({CLUSTER_DUMP, GOLDEN_FILE})

# A rule and the rule that reports the same value, if it is enabled, with what follows from it: the API server warns about fractions of
# bytes, which are a wrong unit.
_COVERED = {"ineffective-setting": "wrong-resource-unit"}

# Rules about what an accepted change does to running Pods.
_EFFECTS = frozenset({"pod-restart"})


class FileResult:
    """The findings, the facts of the objects, the number of documents, and the kinds of objects without a schema of one file."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.facts: list[Facts] = []
        self.documents = 0
        self.without_schema: list[str] = []


def check_documents(
    documents: Iterable[Document], session: Session, rules: RuleSet, role: str = MANIFEST, stores: Sequence[Store] = ()
) -> FileResult:  # fmt: skip
    """Check the documents of a file with this role. `stores`: the types to validate with; () for those of the session."""
    result = FileResult()
    plan = session.plan(rules)
    for document in documents:
        result.documents += 1
        _DocumentCheck(document, session, rules, plan, result, role, stores or session.stores).check_document()
    return result


DOCUMENT_RULES = frozenset({"invalid-yaml", "duplicate-key", "not-kubernetes-object", "internal-error", "left-over-value"})
"""Rules of the engine that judge the text of a document or how it changes, rather than its objects."""


def check_objects(
    document: Document, session: Session, rules: RuleSet, mentioning: RuleSet, stores: Sequence[Store] = ()
) -> FileResult:  # fmt: skip
    """Check the objects of a document, but not its text, which is checked elsewhere or made of parts of several files.

    `mentioning`: the rules across objects that need the facts. `stores`: the types to validate with; () for those of the session.
    """
    result = FileResult()
    check = _DocumentCheck(document, session, rules, session.plan(rules), result, MANIFEST, stores or session.stores)
    check.collects_mentions = _needs_mentions(mentioning)
    # The older versions are manifests, from which these objects differ because of how they are made.
    check.before = None
    for resource in resources(document):
        check.check_object(resource)
    check.drop_covered()
    return result


def _needs_mentions(rules: RuleSet) -> bool:
    # `isdisjoint` iterates over its argument, so that is the smaller set.
    return not rules.active.keys().isdisjoint(_RULES_WITH_MENTIONS)


class _DocumentCheck:
    """The check of one document."""

    def __init__(
        self, document: Document, session: Session, rules: RuleSet, plan: Plan, result: FileResult, role: str, stores: Sequence[Store]
    ) -> None:
        self.document = document
        self.stores = stores
        self.session = session
        self.rules = rules
        self.plan = plan
        self.result = result
        self.first = len(result.findings)
        self.role = role
        # Whether the objects are judged only by what they contain, whether they may be shortened, and whether they are not the user's.
        self.part = role in FRAGMENTS
        self.shortened = role in TEST_DATA and session.is_test(role) and not session.judges_as_server
        self.foreign = False
        self.lacks_schema = False
        self.collects_mentions = _needs_mentions(rules)
        self.skips_placeholders = not session.judges_placeholders
        before = session.before
        self.before = None if before is None or before.is_unchanged(document.source) else before
        self.older: OlderObject | None = None
        self.locator = Locator(document)

    def check_document(self) -> None:
        document = self.document
        if document.fault is not None:
            fix = self.tab_fix() if "tab" in document.fault.message else None
            self.report("invalid-yaml", Problem(Span(document.fault.start, document.fault.end), document.fault.message, fix=fix))
            return
        for hook in self.plan.documents:
            hook.run(document, self.report, self.report_crash)
        objects = resources(document)
        if not objects and not (document.root["kind"].text.endswith("List") and document.root["items"].is_list):
            self.report_non_object(document.root)
        separators = _missing_separators(document)
        for problem in separators:
            self.report("duplicate-key", problem)
        objects_by_offset = ObjectIndex(objects) if document.duplicates else None
        for entry, first in document.duplicates:
            if separators and entry.parent is document.root:
                continue
            self.locator = Locator(document, objects_by_offset.at(entry.key_span.start) if objects_by_offset is not None else None)
            line = document.source.position(first.key_span.start).line
            message = f'duplicate key "{entry.name}" (first defined on line {line})'
            self.report("duplicate-key", Problem(entry, message, help="remove one", reason="DuplicateKey", at="key"))
        for resource in objects:
            self.check_object(resource)
        self.drop_covered()

    def drop_covered(self) -> None:
        """Drop findings of this document that another rule reports about the same value with its consequence."""
        findings = self.result.findings[self.first :]
        for rule, stronger in _COVERED.items():
            places = {found.place.start for found in findings if found.rule == stronger}
            if places:
                findings = [each for each in findings if each.rule != rule or each.place.start not in places]
        self.result.findings[self.first :] = findings

    def check_object(self, resource: Resource) -> None:
        if self.role == TEST_MANIFEST or (self.role in TEST_DATA and not self.session.judges_as_server):
            self.part = is_partial_workload(resource, is_applied=self.role == TEST_MANIFEST)
        elif self.role == CLUSTER_DUMP:
            self.foreign = is_written_by_cluster(resource)
        resource.part = self.part
        if self.before is not None:
            # A patch contains only some fields of the object, and its older version may be a complete one.
            self.older = None if resource.part else self.before.find(resource)
            resource.older = self.older.resource if self.older is not None else None
        stores = self.stores
        self.lacks_schema = False
        first = len(self.result.findings)
        last: Walk | None = None
        if len(stores) == 1:
            last = self.check_against_version(resource, stores[0])
        else:
            last = self.check_against_versions(resource, stores)
        if self.lacks_schema:
            self.result.without_schema.append(f"{resource.api_version} {resource.kind}")
        self.locator.resource = resource
        if "deprecated-api" in self.rules:
            self.report_deprecated_api(resource)
        for hook in self.plan.objects.of_kind(resource.api_version, resource.kind):
            hook.run(resource, self.report, self.report_crash)
        if self.older is not None:
            self.drop_effects(first)
        with self.session.stage("facts of objects"):
            self.result.facts.append(extract_facts(resource, last.pods if last is not None else [], self.locator, self.collects_mentions))

        if self.session.policies is not None and not self.part:
            # Imported late: few inputs have policies.
            from kcheck.check.policies import policy_findings

            with self.session.stage("policies"):
                self.result.findings += policy_findings(
                    resource, self.session, self.rules, self.stores, self.locator, self.edits_if_fixable
                )

        if resource.group == "admissionregistration.k8s.io" and POLICY_MARKER in resource.kind:
            self.check_policy(resource)

    def drop_effects(self, first: int) -> None:
        """Drop findings about the effects of a change that is refused. `first`: the index of the first finding of the object."""
        found = self.result.findings[first:]
        if any(each.family == "spec" and each.severity is Severity.ERROR for each in found):
            self.result.findings[first:] = [each for each in found if each.rule not in _EFFECTS]

    def check_against_versions(self, resource: Resource, stores: Sequence[Store]) -> Walk | None:
        """Validate an object with several versions of Kubernetes, oldest first."""
        from kcheck.check.version_findings import merge_versions

        last: Walk | None = None
        earlier, found = self.result.findings, []
        for store in stores:
            self.result.findings = []
            last = self.check_against_version(resource, store) or last
            found.append((store.definitions.version, self.result.findings))
        self.result.findings = [*earlier, *merge_versions(found)]
        return last

    def check_policy(self, resource: Resource) -> None:
        """Report what a policy or its binding reads, matches and decides in vain."""
        from kcheck.check.policies import policy_object_problems
        from kcheck.check.version_findings import merge_versions

        earlier, found = self.result.findings, []
        for store in self.stores:
            self.result.findings = []
            for rule, problem in policy_object_problems(resource, self.session, store):
                self.report(rule, problem)
            found.append((store.definitions.version, self.result.findings))
        self.result.findings = [*earlier, *merge_versions(found)]

    def check_against_version(self, resource: Resource, store: Store) -> Walk | None:
        """Validate an object with one version of Kubernetes. Returns the walk whose Pods the facts are collected from."""
        resource.minor = store.definitions.minor
        walk = Walk(resource, self.plan, self.report, self.report_crash)
        kind = store.builtin(resource.api_version, resource.kind)
        if kind is not None:
            resource.built_in, resource.namespaced = True, kind.namespaced
            self.locator = Locator(self.document, resource, kind.shape)
            walk.root = kind.shape
            walk.visit(resource.node, kind.shape)
            walk.run_object_validators(resource)
            walk.restore_dropped()
            if resource.kind == "StatefulSet" and resource.is_before(34) and "invalid-pod-in-stateful-set" in self.rules:
                from kcheck.schema.pods.validation import report_deferred_problems

                report_deferred_problems(resource, kind.shape, self.session.verdict_plan, self.report, self.report_crash)
            self.check_change(resource, store)
            return walk
        added = store.added(resource.api_version, resource.kind)
        if added is not None:
            resource.namespaced = added.namespaced
            self.locator = Locator(self.document, resource, added.shape)
            added.judge(resource, walk)
            walk.run_object_validators(resource)
            self.check_change(resource, store)
            return self.check_embedded_pods(resource, store)
        component = store.components.kind(resource.api_version, resource.kind)
        if component is not None:
            # A configuration file of a component: checks that apply to every API object do not apply.
            self.locator = Locator(self.document, resource, component.shape)
            walk.visit(resource.node, component.shape)
            return walk
        self.locator = Locator(self.document, resource)
        self.report_unknown_kind(resource, store)
        return self.check_embedded_pods(resource, store)

    def check_change(self, resource: Resource, store: Store) -> None:
        """Judge the change of an object whose older version is known."""
        if self.older is not None:
            # Imported on first use, because most runs have no older version.
            from kcheck.check.changes import check_change

            check_change(self.older, resource, store, self.plan, self.session, self.report, self.report_crash)

    def check_embedded_pods(self, resource: Resource, store: Store) -> Walk | None:
        """Check the Pods inside an object whose kind is not built in."""
        # Imported on first use, because most small runs have no such object.
        from kcheck.schema.pods.walk import PodWalk, outline_of, places_in

        places = places_in(resource, store)
        if not places:
            return None
        if self.locator.shape is None:
            self.locator.shape = outline_of(places, store)
        walk = PodWalk(resource, self.session.embedded_plan(self.rules), store, self.report, self.report_crash)
        walk.enter(places)
        if "invalid-pod-in-custom-resource" in self.rules and walk.pods:
            from kcheck.schema.pods.validation import report_invalid_pods

            report_invalid_pods(resource, walk.pods, store, self.session.verdict_plan, self.report, self.report_crash)
        return walk

    def report_unknown_kind(self, resource: Resource, store: Store) -> None:
        api_version, kind = resource.api_version, resource.kind
        if api_version == _KUSTOMIZE_PLUGIN:
            return
        if self.skips_placeholders and (placeholders.in_name(api_version) or placeholders.in_text(kind)):
            return
        version = store.definitions.version
        node = resource["apiVersion"]
        absence = store.absence(api_version, kind)
        if absence is not None and absence.removed:
            used = f"use apiVersion: {absence.replacement}{_required_there(resource, absence.replacement)}"
            instead = used if absence.replacement else instead_of(resource.group, kind) or "remove it; it has no replacement"
            message = f"{api_version} {kind} was removed in Kubernetes {absence.removed}"
            self.report("removed-api", Problem(node, message, help=instead, fix=self.version_change(resource, store, absence.replacement)))
        elif absence is not None:
            instead = f"use apiVersion: {absence.replacement}" if absence.replacement else ""
            # Of several versions, the finding names those that it applies to.
            here = f", not in {version}" if len(self.stores) == 1 else ""
            message = f"{api_version} {kind} is available since Kubernetes {absence.added}{here}"
            self.report("unknown-kind", Problem(node, message, help=instead, fix=self.version_change(resource, store, absence.replacement)))
        elif end := end_of(resource.group):
            self.report("removed-api", Problem(node, f"{api_version} {kind} {end}", help=help_of(end)))
        elif store.serves_group(api_version) or "/" not in api_version:
            served = store.versions_of(kind)
            if served:
                message = f'no kind "{kind}" in {api_version}'
                change = self.version_change(resource, store, served[0]) if len(served) == 1 else None
                self.report("unknown-kind", Problem(node, message, help=f"use apiVersion: {' or '.join(served)}", fix=change))
            else:
                near = store.kind_like(kind)
                help = did_you_mean(near, "check the spelling of kind and apiVersion")
                here = f" of Kubernetes {version}" if len(self.stores) == 1 else ""
                message = f'unknown kind "{kind}" in {api_version}{here}'
                self.report("unknown-kind", Problem(resource["kind"], message, help=help))
        else:
            self.lacks_schema = True
            if not self.is_ignored(resource.group):
                message = f"not validated: no schema for {api_version} {kind}"
                self.report("missing-schema", Problem(node, message, help="add its CRD to the input or pass --schemas"))

    def report_deprecated_api(self, resource: Resource) -> None:
        """Report an API version that has a successor in all Kubernetes versions that are checked."""
        api_version, kind = resource.api_version, resource.kind
        after = succession(api_version, kind, tuple([store.definitions for store in self.stores]))
        if after is not None:
            end = f"is removed in Kubernetes {after.removed}" if after.removed else "is superseded by a stable version"
            message = f"{api_version} {kind} {end}"
            change = self.version_change(resource, self.session.stores[-1], after.successor)
            self.report("deprecated-api", Problem(resource["apiVersion"], message, help=f"use apiVersion: {after.successor}", fix=change))

    def version_change(self, resource: Resource, store: Store, api_version: str) -> Correction | None:
        """The change to another API version, if the object is valid there and means the same."""
        if not api_version or not self.is_fixable:
            return None
        from kcheck.check.version_change import version_change

        return version_change(resource, store, api_version, self.session.spec_plan(), self.edits_of)

    def is_ignored(self, group: str) -> bool:
        """Whether the config ignores missing schemas of this API group."""
        patterns = self.rules["missing-schema"].options["ignore_groups"] if "missing-schema" in self.rules else ()
        return any(fnmatchcase(group, pattern) for pattern in patterns)

    def report_non_object(self, root: Node) -> None:
        near_keys = [nearest(key, [k for k, _ in root.entries]) for key in _IDENTIFYING_KEYS]
        if not root.is_map or (None in near_keys and not any(root[key] for key in (*_IDENTIFYING_KEYS, "metadata"))):
            message = "document is not a Kubernetes object: apiVersion, kind and metadata are missing"
            self.report("not-kubernetes-object", Problem(root, message, help="add them or exclude the file"))
            return
        for key in _IDENTIFYING_KEYS:
            node = root[key]
            if node and not node.text:
                self.report("not-kubernetes-object", Problem(node, f"{key} must be a string, not {node.plain()!r}"))
            elif not node:
                near = nearest(key, [k for k, _ in root.entries])
                at = root[near] if near and near != key else node
                hint, change = f"add {key}", None
                if near and near != key:
                    hint, change = str(did_you_mean(f'{key}" instead of "{near}')), Correction.rename(at, key, safe=False)
                self.report("not-kubernetes-object", Problem(at, f"{key} is missing", help=hint, at="key", fix=change))

    def report_crash(self, rule: str, error: Exception) -> None:
        """Add a finding for a rule that raised an error on an object."""
        of = f' on {self.locator.id.kind} "{self.locator.id.name}"' if self.locator.id.kind else ""
        message = f"rule {rule} failed{of}: {type(error).__name__}: {error}"
        root = self.locator.resource.node if self.locator.resource is not None else self.document.root
        self.report("internal-error", Problem(root, message))

    def report(self, rule: str, problem: Problem) -> None:
        """Add a finding for a problem if its rule is enabled."""
        active = self.rules.active.get(rule)
        if active is None:
            return
        node = problem.node
        if self.skips_placeholders and PLACEHOLDERS not in active.rule.groups and _concerns_placeholder(active.rule, problem):
            return
        if self.foreign and active.rule.family == "practice" and "security" not in active.rule.groups:
            return
        only_present = self.part or (self.shortened and active.rule.family == "spec")
        if only_present and (rule in _RULES_FOR_COMPLETE_OBJECTS or _concerns_missing_part(problem)):
            return
        field = self.locator.path(problem.field) if isinstance(problem.field, Node) else problem.field
        if isinstance(node, Node):
            place = self.locator.place(node, problem.at, field)
        else:
            place = self.locator.at(node, field or "") if isinstance(node, Span) else node
        secrets, guarded = self.locator.secrets, self.locator.is_guarded()
        if self.locator.id.kind == "CustomResourceDefinition":
            message, help = redact.message(problem.message), redact.message(problem.help)
        else:
            message = secrets.message(problem.message, guarded, node, problem.field)
            help = secrets.message(problem.help, guarded, node, problem.field) if problem.help else ""
        fix = self.fix_of(problem)
        fix = secrets.fix(fix, guarded) if fix is not None else None
        if (substitution := self.session.substitution) is not None:
            message, help = substitution.conceal(message, help)
            fix = None if fix is not None and any(substitution.conceal(edit.text)[0] != edit.text for edit in fix.edits) else fix
        self.result.findings.append(
            Finding(rule, active.severity, active.rule.family, message, place, problem.reason, problem.related, fix, "", help, problem.echo)
        )

    def tab_fix(self) -> Fix | None:
        """The fix that indents with spaces."""
        from kcheck.finding.correction import tab_fix

        return tab_fix(self.document)

    @property
    def is_fixable(self) -> bool:
        """Whether a person writes the file. Fixes of other files belong elsewhere."""
        return self.role not in _WRITTEN_BY_PROGRAMS and not self.foreign

    def fix_of(self, problem: Problem) -> Fix | None:
        """The edits that fix a problem, None if the text does not allow them."""
        return self.edits_of(problem.fix) if problem.fix is not None and self.is_fixable else None

    def edits_if_fixable(self, change: Correction) -> Fix | None:
        """The edits that a change means, None if the file is not written by a person or the text does not allow them."""
        return self.edits_of(change) if self.is_fixable else None

    def edits_of(self, change: Correction | Fix) -> Fix | None:
        """The edits that a change means, None if the text does not allow them."""
        from kcheck.finding.correction import fix_of

        return fix_of(change, self.document, self.skips_placeholders)


def _concerns_placeholder(rule: Rule, problem: Problem) -> bool:
    """Whether a problem is about a value that is not known, because it is or contains a placeholder."""
    node = problem.node
    if rule.id in _RULES_FOR_PARTS:
        return False
    if isinstance(node, Node):
        # Rules of the family practice report problems of a whole object or container at its name.
        if placeholders.is_unknown(node) and (rule.family == "spec" or not _is_title(node)):
            return True
        if rule.id in _RULES_FOR_WHOLE_VALUES and next(placeholders.below(node), None) is not None:
            return True
    elif isinstance(node, Span):
        return False
    return placeholders.is_quoted(problem.message) or placeholders.is_quoted(problem.help)


def _is_title(node: Node) -> bool:
    """Whether a node is the name of an object or container."""
    parent = node.parent
    if node.name != "name" or parent is None:
        return False
    return parent.name == "metadata" or (parent.parent is not None and parent.parent.name.lower().endswith("containers"))


def _missing_separators(document: Document) -> list[Problem]:
    """The problems of objects that follow another object without a line `---`: all their keys repeat those of the first object."""
    if not document.duplicates:
        return []
    root = document.root
    repeated = [entry for entry, _ in document.duplicates if entry.parent is root] if root.style != "{" else []
    objects: list[list[Node]] = []
    for entry in sorted(repeated, key=lambda each: each.key_span.start):
        if not objects or any(entry.name == each.name for each in objects[-1]):
            objects.append([])
        objects[-1].append(entry)
    text = document.source.text
    if any(text[each[0].key_span.start - 1] != "\n" for each in objects) or not all(
        {"apiVersion", "kind"} <= {entry.name for entry in each} for each in objects
    ):
        return []
    found: list[Problem] = []
    for entries in objects:
        start = entries[0].key_span.start
        line_break = "\r\n" if text[start - 2 : start] == "\r\n" else "\n"
        fix = Fix("insert ---", (Edit(start, start, f"---{line_break}"),))
        message = f"a second object begins here: its keys {', '.join(entry.name for entry in entries)} are already defined"
        found.append(Problem(entries[0], message, help="insert a line --- before it", reason="DuplicateKey", at="key", fix=fix))
    return found


def _is_expression(node: Node) -> bool:
    """Whether a value is an expression of chainsaw, such as `($count)`, or its key or the keys in it are: `(length(ports)): 2`."""
    return any(text.startswith(("(", "~.(")) for text in (node.name, node.text, *(key for key, _ in node.entries)))


def _concerns_missing_part(problem: Problem) -> bool:
    """Whether a problem of a part is about something it lacks, a directive of kustomize (`$patch`) or an expression of chainsaw."""
    nodes = [node for node in (problem.node, problem.field) if isinstance(node, Node)]
    if problem.reason in ("NotFound", "Required"):
        return True
    if any(not node.exists or node.name.startswith("$") or _is_expression(node) for node in nodes):
        return True
    # Most problems at the key of a map are about what the map lacks.
    return problem.at == "key" and any(node.is_map for node in nodes) and problem.reason not in ("UnknownField", "DuplicateKey")


def _required_there(resource: Resource, api_version: str) -> str:
    """What the new version of a workload also requires, as the end of a help text: the selector, which older ones derived from labels."""
    labels = resource["spec"]["template"]["metadata"]["labels"]
    if api_version != "apps/v1" or resource["spec"]["selector"] or not labels.is_map:
        return ""
    from kcheck.yaml.edits import flow

    return f", and add spec.selector: {{matchLabels: {flow(labels.plain())}}}"

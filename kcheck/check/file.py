"""Checks one file: from its text to its outcome. Processes run this code in parallel."""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kcheck.check.document import check_documents
from kcheck.check.input_kinds import (
    CRD_MARKER,
    POLICY_MARKER,
    InputDefinitions,
    InputKind,
    KindPlace,
    find_kinds,
    register_kinds,
    select_kinds,
)  # fmt: skip
from kcheck.check.session import Session
from kcheck.check.suppressions import Ignores, read_ignores
from kcheck.facts.facts import Facts
from kcheck.facts.unit import Unit
from kcheck.finding.finding import Finding
from kcheck.finding.report import SkippedFile
from kcheck.finding.role import ASSERTION, OTHER, UNKNOWN, Role
from kcheck.kube import placeholders
from kcheck.kube.location import Location, ObjectId
from kcheck.kube.resource import resources
from kcheck.repository.roles import role_by_content
from kcheck.rule.ruleset import RuleSet
from kcheck.schema.store import Store
from kcheck.text.complaint import Complaint, help_of
from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.text.span import Range
from kcheck.yaml.document import Document
from kcheck.yaml.fast.shared_blocks import Repeats
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse


class Checked(NamedTuple):
    """A file with the outcome of its check. `number`: its index in the input."""

    number: int
    path: str
    outcome: Outcome


class FileFacts(NamedTuple):
    """The facts of the objects of a file. `role`: the name of its role."""

    path: str
    role: str
    facts: Sequence[Facts]


FactsByFile = list[FileFacts]
"""The files in input order."""


class Relations(NamedTuple):
    """The results of comparing the objects of an input.

    Attributes:
        findings: the findings of rules across objects.
        units: the deployment unit of each file that is in one.
        number: the number of units.
        reads: files that the results depend on in addition to the facts, each with a digest of its content.
        built_findings: the findings of rules about single objects in the objects that kustomizations build.
        built_documents: the documents that these objects were made from, as (file, index).
        remote: the kustomizations with entries that kustomize downloads, which are not seen.
        copies: the files most of whose objects other files have as well.
        crd_groups: the groups of the CustomResourceDefinitions of the input.
    """

    findings: tuple[Finding, ...]
    units: Mapping[str, Unit]
    number: int
    reads: tuple[tuple[str, str], ...] = ()
    built_findings: tuple[Finding, ...] = ()
    built_documents: frozenset[tuple[str, int]] = frozenset()
    remote: tuple[SkippedFile, ...] = ()
    copies: frozenset[str] = frozenset()
    crd_groups: frozenset[str] = frozenset()


RelationCache = Callable[[FactsByFile, Callable[[], Relations], Callable[[Relations], bool]], Relations]
"""Returns the results for these files: cached ones if the last function accepts them, or the result of calling the first function."""


_OBJECT_KEYS = frozenset({"apiVersion", "kind", "metadata", "spec"})
_WRITTEN_KEY = pattern(r"""(?:^|[{,])[ \t-]*["']?(apiVersion|kind|metadata|spec)["']?[ \t]*:""", re.MULTILINE)

_GC_AFTER_CHARS = 16_000_000
"""Characters read after which unused trees are freed: nodes refer to their parents, so reference counting does not free them."""

_REDUCED_GC_AFTER_CHARS = 4_000_000
"""The same if the input has very many definitions."""

_FULL_GC_AFTER_CHARS = 4_000_000
"""Characters of evicted definitions after which a full collection frees their trees. It has to scan all live objects."""

_MAX_SECONDS_PER_FREED_OBJECT = 5e-6
"""Seconds per freed object: a collection that takes longer scanned far more objects than it freed."""


class DamagedCache(Exception):
    """The cached data of an outcome is damaged."""


class Task(NamedTuple):
    """A file to check.

    Attributes:
        number: Index in the input.
        source: The content.
        named: Whether the path is an argument of the command line, rather than found in a folder.
        other: Whether another shard checks the file; only the kinds that it defines are needed here.
        role: The role of the file, as far as it is known without its content.
        definitions: Digests of the definitions of kinds that take precedence, because they are in the deployment unit of the file.
    """

    number: int
    source: Source
    named: bool
    other: bool = False
    role: Role = UNKNOWN
    definitions: tuple[str, ...] = ()

    def failed_outcome(self, message: str, session: Session) -> Outcome:
        """Return the outcome of this file if it could not be checked."""
        return failed_outcome(self.source.path, message, session)


@dataclass(slots=True, repr=False)
class Outcome:
    """The result of checking one file.

    Attributes:
        findings: The findings of rules that need only this file.
        facts: The facts of its objects.
        documents: The number of documents.
        without_schema: API version and kind of each object that was not validated, because its kind has no schema.
        ignores: The ignore comments and annotations.
        skip_reason: The reason why the file was skipped, empty if it was checked.
        partial: The reason why only some of its documents were checked, empty if all were.
        role: The role of the file.
        kinds: The kinds that the file defines; in the result of the file stage only if the input has kustomizations.
        custom: Whether findings may depend on the kinds that the input defines: the file has objects of such kinds, or admission policies.
        is_postponed: Whether the check was postponed until all kinds are known, because of such objects.
        kubeconfig: Whether one of the facts is of a kubeconfig.
    """

    findings: list[Finding] = field(default_factory=list)
    facts: Sequence[Facts] = field(default_factory=list)
    documents: int = 0
    without_schema: tuple[str, ...] = ()
    ignores: Ignores = field(default_factory=Ignores)
    skip_reason: str = ""
    partial: str = ""
    role: Role = UNKNOWN
    kinds: list[KindPlace] = field(default_factory=list)
    custom: bool = False
    is_postponed: bool = False
    kubeconfig: bool = False


class FileChecker:
    """Checks files one by one, in this process."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.read_chars = 0
        self.repeats = Repeats()
        self.definitions = InputDefinitions(self.repeats)
        self.full_gc_after_chars = _FULL_GC_AFTER_CHARS
        self.selected: tuple[str, ...] = ()

    def add_kinds(self, kinds: list[InputKind]) -> None:
        """Register kinds that the input defines."""
        register_kinds(self.session.all_stores, kinds, self.definitions)

    def check_files(self, tasks: list[Task], final: bool) -> Iterator[tuple[Task, Outcome]]:
        """Check files and yield their outcomes. `final`: all kinds of the input are known."""
        for task in tasks:
            yield task, self.check_file(task, final)

    def close(self) -> None:
        """Nothing to release."""

    def check_file(self, task: Task, final: bool) -> Outcome:
        """Check a file and return its outcome. Errors and timeouts become findings."""
        self.read_chars += len(task.source.text)
        if self.read_chars + self.definitions.parsed_chars - self.repeats.spared > (
            _REDUCED_GC_AFTER_CHARS if self.definitions.has_reduced_limit else _GC_AFTER_CHARS
        ):
            self.read_chars = self.definitions.parsed_chars = self.repeats.spared = 0
            with self.session.stage("garbage collection"):
                self.collect_garbage()
        try:
            with self.session.budget.limited(len(task.source.text)):
                return self._check_source(task, final)
        except Exception as error:
            # The frames of the traceback refer to the trees.
            failure = error.with_traceback(None)
        if isinstance(failure, MemoryError):
            gc.collect()
        outcome = crashed_outcome(task.source.path, failure, self.session)
        outcome.role = task.role
        return outcome

    def collect_garbage(self) -> None:
        """Free unused trees: young objects each time, all objects only after enough definitions were evicted."""
        if self.definitions.evicted_chars < self.full_gc_after_chars:
            gc.collect(0)
            return
        start = time.process_time()
        freed = gc.collect()
        # If few of the scanned objects are garbage, collect less often.
        if time.process_time() - start > _MAX_SECONDS_PER_FREED_OBJECT * freed:
            self.full_gc_after_chars *= 2
        self.definitions.evicted_chars = 0

    def _check_source(self, task: Task, final: bool) -> Outcome:
        session, source = self.session, task.source
        if task.definitions != self.selected:
            select_kinds(session.all_stores, task.definitions, self.definitions)
            self.selected = task.definitions
        with session.stage("parsing"):
            if session.substitution is not None:
                documents = session.substitution.parse(source)
            else:
                documents = parse(source, self.repeats if CRD_MARKER in source.text else None)
        role = role_by_content(task.role, documents, session.judges_as_server)
        stores = session.stores_for(source.path)
        outcome = Outcome(role=role)
        if not task.named and not any(map(_is_meant_as_object, documents)):
            return _skipped_outcome("not a Kubernetes object", role)
        if task.other:
            outcome.kinds = find_kinds(source, documents, session.stores[-1], self.definitions)
            return outcome
        outcome.custom = POLICY_MARKER in source.text or _has_custom_kind(documents, stores)
        if not final:
            if CRD_MARKER in source.text:
                outcome.kinds = find_kinds(source, documents, session.stores[-1], self.definitions)
            if outcome.custom:
                outcome.is_postponed = True
                return outcome
        if placeholders.is_template(source.text) or any(document.fault for document in documents):
            # Imported on first use, because most small runs have no templates.
            from kcheck.check.templates import TEMPLATE_OF_TOOL, merge_template_faults, without_templates

            all, documents = documents, documents if task.named or session.judges_placeholders else without_templates(documents)
            if len(documents) < len(all):
                if not any(map(_is_meant_as_object, documents)):
                    return _skipped_outcome(TEMPLATE_OF_TOOL, role)
                outcome.partial = f"{len(all) - len(documents)} of {len(all)} documents are templates of another tool"
            merge_template_faults(documents)
        rules = session.rules_for(source.path, role.name)
        if not documents:
            outcome.findings += _empty_file_findings(source, rules)
        outcome.ignores = read_ignores(source, documents, session.registry)
        with session.stage("validation"):
            result = check_documents(documents, session, rules, role.name, stores)
        outcome.findings += result.findings
        # An assertion does not create the objects that it mentions.
        outcome.facts = [] if role.name == ASSERTION else result.facts
        outcome.kubeconfig = any(facts.kubeconfig for facts in outcome.facts)
        outcome.documents, outcome.without_schema = result.documents, tuple(result.without_schema)
        return outcome


def _skipped_outcome(reason: str, role: Role) -> Outcome:
    """Return the outcome of a file that is not checked because of its content."""
    return Outcome(skip_reason=reason, role=role if role.name == OTHER else Role(OTHER, reason))


def failed_outcome(file: str, message: str, session: Session) -> Outcome:
    """Return the outcome of a file that could not be checked."""
    return Outcome(file_findings("internal-error", file, 1, message, session.rules_for(file)))


def crashed_outcome(file: str, error: Exception, session: Session) -> Outcome:
    """Return the outcome of a file whose check raised an error or took too long."""
    return failed_outcome(file, f"kcheck failed on this file: {_describe(error)}", session)


def _describe(error: Exception) -> str:
    return "not enough memory" if isinstance(error, MemoryError) else f"{type(error).__name__}: {error}"


def file_findings(rule: str, file: str, line: int, message: str, rules: RuleSet) -> list[Finding]:
    """Return a finding about a file as a whole, or nothing if the rule is disabled."""
    active = rules.active.get(rule)
    if active is None:
        return []
    place = Location(file, 0, Range(line, 1, line, 1), "", ObjectId(), "", 0)
    return [Finding(rule, active.severity, active.rule.family, str(message), place, help=help_of(message))]


def _empty_file_findings(source: Source, rules: RuleSet) -> list[Finding]:
    """Return a finding for an empty file that was named on the command line."""
    return file_findings(
        "not-kubernetes-object",
        source.path,
        1,
        Complaint("the file contains no YAML document", "remove it from the input or add an object"),
        rules,
    )


def _has_custom_kind(documents: list[Document], stores: list[Store]) -> bool:
    """Whether there is an object of a kind that is not built into Kubernetes."""
    # Nested loops for speed: this runs for every object.
    for document in documents:
        for resource in resources(document):
            for store in stores:
                if store.builtin(resource.api_version, resource.kind) is None:
                    return True
    return False


def _is_meant_as_object(document: Document) -> bool:
    """Whether a document is meant to be a Kubernetes object, if it does not parse by the keys in its text.

    Other tools use files that are not YAML, such as JSON with comments and templates, with the same extensions.
    """
    if document.fault is None:
        return _looks_like_object(document.root)
    return len(set(_WRITTEN_KEY.findall(document.source.text, document.start, document.end))) >= 2


def _looks_like_object(root: Node) -> bool:
    """Whether a document is meant to be a Kubernetes object: it has at least two of the four typical keys."""
    return root.is_map and len(_OBJECT_KEYS & root.value.keys()) >= 2

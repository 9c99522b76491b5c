"""One file, from its text to all that a run needs to know of it: the work that processes share."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kcheck.check.document import check_documents
from kcheck.check.input_kinds import MARK, InputDefinitions, InputKind, KindPlace, add_kinds, kinds_of
from kcheck.check.session import Session
from kcheck.check.suppressions import Ignores, ignores_of
from kcheck.facts.facts import Facts
from kcheck.finding.finding import Finding
from kcheck.kube.location import Location, ObjectId
from kcheck.kube.resource import resources
from kcheck.rule.ruleset import RuleSet
from kcheck.text.complaint import Complaint, help_of
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.text.span import Range
from kcheck.yaml.document import Document
from kcheck.yaml.fast.shared_blocks import Repeats
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse
from kcheck.yaml.syntax import is_template

_OBJECT_KEYS = frozenset({"apiVersion", "kind", "metadata", "spec"})

_MUCH = 16_000_000
"""Characters after which what is left of the trees is thrown away: their nodes know their parents, so they do not go by themselves."""

_SOON = 4_000_000
"""The same where room is short."""

_DROPPED = 4_000_000
"""Characters of definitions after which the same is done with their trees: for that all that lives has to be looked at."""

_DEAR = 5e-6
"""Seconds for an object that went: where it takes longer, far more was looked at than thrown away."""


class Damaged(Exception):
    """What was remembered of an outcome and is none."""


class Task(NamedTuple):
    """A file to check. `number`: its place in the input; `named`: by the user, not found in a folder.

    `other`: another machine checks it; here only the kinds are asked for that it defines. `part`: it holds patches.
    """

    number: int
    source: Source
    named: bool
    other: bool = False
    part: bool = False

    def failed(self, message: str, session: Session) -> Outcome:
        """What is told of a file that could not be checked through no fault of its own."""
        return failed(self.source.path, message, session)


@dataclass(slots=True)
class Outcome:
    """What one file gave. `passed`: why it was not checked, nothing where it was. `kubeconfig`: there is one among its `facts`.

    `kinds`: those that it defines. `custom`: it has objects of kinds that Kubernetes does not define; `waits`: for that reason it was
    not checked, for they may yet be defined elsewhere.
    """

    findings: list[Finding] = field(default_factory=list)
    facts: Sequence[Facts] = field(default_factory=list)
    documents: int = 0
    ignores: Ignores = field(default_factory=Ignores)
    passed: str = ""
    kinds: list[KindPlace] = field(default_factory=list)
    custom: bool = False
    waits: bool = False
    kubeconfig: bool = False


class FileChecker:
    """Checks files one by one, in this process."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.read = 0
        self.repeats = Repeats()
        self.definitions = InputDefinitions(self.repeats)
        self.most_dropped = _DROPPED

    def learn(self, kinds: list[InputKind]) -> None:
        """Make kinds known."""
        add_kinds(self.session.stores, kinds, self.definitions)

    def check(self, tasks: list[Task], final: bool) -> Iterator[tuple[Task, Outcome]]:
        """Check files. `final`: all kinds of the input are known by now."""
        for task in tasks:
            yield task, self.one(task, final)

    def close(self) -> None:
        """Nothing is held."""

    def one(self, task: Task, final: bool) -> Outcome:
        """Check a file."""
        self.read += len(task.source.text)
        if self.read + self.definitions.read - self.repeats.spared > (_SOON if self.definitions.are_many else _MUCH):
            self.read = self.definitions.read = self.repeats.spared = 0
            with self.session.stage("clearing away"):
                self.clear()
        try:
            with self.session.budget.limited(len(task.source.text)):
                return self._check(task, final)
        except Exception as error:
            # Its frames refer to the trees.
            failure = error.with_traceback(None)
        if isinstance(failure, MemoryError):
            gc.collect()
        return crashed(task.source.path, failure, self.session)

    def clear(self) -> None:
        """Throw away what nobody needs any more: what is new, and seldom what has lived longer."""
        if self.definitions.dropped < self.most_dropped:
            gc.collect(0)
            return
        start = time.process_time()
        gone = gc.collect()
        # Where this process keeps what it finds, there is more and more to look at.
        if time.process_time() - start > _DEAR * gone:
            self.most_dropped *= 2
        self.definitions.dropped = 0

    def _check(self, task: Task, final: bool) -> Outcome:
        session, source = self.session, task.source
        with session.stage("reading: text to trees"):
            documents = parse(source, self.repeats if MARK in source.text else None)
        outcome = Outcome()
        if not task.named and not any(_looks_like_object(d.root) or d.fault for d in documents):
            outcome.passed = "no Kubernetes object"
            return outcome
        if task.other:
            outcome.kinds = kinds_of(source, documents, session.stores[-1], self.definitions)
            return outcome
        outcome.custom = _has_unknown(documents, session)
        if not final:
            if MARK in source.text:
                outcome.kinds = kinds_of(source, documents, session.stores[-1], self.definitions)
            if outcome.custom:
                outcome.waits = True
                return outcome
        if is_template(source.text):
            name_template(documents)
        rules = session.rules_for(source.path)
        if not documents:
            outcome.findings += _empty(source, rules)
        outcome.ignores = ignores_of(source, documents, session.registry)
        with session.stage("walk: shape and constraints"):
            result = check_documents(documents, session, rules, task.part)
        outcome.findings += result.findings
        outcome.facts = result.facts
        outcome.kubeconfig = any(facts.kubeconfig for facts in result.facts)
        outcome.documents = result.documents
        return outcome


def failed(file: str, message: str, session: Session) -> Outcome:
    """The outcome of a file that could not be checked."""
    return Outcome(file_finding("internal-error", file, 1, message, session.rules_for(file)))


def crashed(file: str, error: Exception, session: Session) -> Outcome:
    """The outcome of a file whose check raised an error or took too long."""
    return failed(file, f"kcheck failed on this file: {_words(error)}", session)


def _words(error: Exception) -> str:
    return "it needs more memory than there is" if isinstance(error, MemoryError) else f"{type(error).__name__}: {error}"


def file_finding(rule: str, file: str, line: int, message: str, rules: RuleSet) -> list[Finding]:
    """A finding about a file as a whole, where the rule runs."""
    active = rules.active.get(rule)
    if active is None:
        return []
    place = Location(file, 0, Range(line, 1, line, 1), "", ObjectId(), "", 0)
    return [Finding(rule, active.severity, active.rule.family, str(message), place, help=help_of(message))]


def _empty(source: Source, rules: RuleSet) -> list[Finding]:
    """A file that was named and holds nothing is told, for somebody expects something in it."""
    return file_finding(
        "not-kubernetes-object", source.path, 1, Complaint("file contains no document", "add an object or check another file"), rules
    )


def _has_unknown(documents: list[Document], session: Session) -> bool:
    """Whether there is an object of a kind that Kubernetes itself does not define."""
    # Loops, for it is asked of every object.
    for document in documents:
        for resource in resources(document):
            for store in session.stores:
                if store.builtin(resource.api_version, resource.kind) is None:
                    return True
    return False


def _looks_like_object(root: Node) -> bool:
    """Whether somebody meant this to be a Kubernetes object; two of its four keys say so."""
    return root.is_map and len(_OBJECT_KEYS & root.value.keys()) >= 2


def name_template(documents: list[Document]) -> None:
    """Report documents that do not parse because they are templates as such, once per file: the others fail for the same reason."""
    faults = [d for d in documents if d.fault is not None and is_template(d.source.text[d.start : d.end])]
    for document in faults:
        assert document.fault is not None
        message = Complaint("template is not valid YAML before it is rendered", "render it first: helm template . | kcheck check -")
        document.fault = document.fault._replace(message=message)
    for document in faults[1:]:
        documents.remove(document)

"""What kustomization.yaml says of the files around it: which are patches, which settings of kustomize, what it makes, what is not there.

Source: the reference of kustomization.yaml in kustomize's documentation, api/types/kustomization.go for the fields.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from kcheck.check.document import check_documents
from kcheck.check.file import Outcome, crashed, file_finding, name_template
from kcheck.check.session import Session
from kcheck.check.suppressions import ignores_of
from kcheck.check.time_limit import OutOfBudget
from kcheck.facts.facts import Facts, GeneratedObject
from kcheck.finding.finding import Finding
from kcheck.finding.problem import Problem
from kcheck.kube.location import ObjectId
from kcheck.kube.suggestions import Lexicon, nearest
from kcheck.rule.ruleset import RuleSet
from kcheck.schema.locator import Locator
from kcheck.text.pattern import pattern
from kcheck.text.source import Source
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse
from kcheck.yaml.syntax import is_template

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
SETTINGS = "settings of kustomize: build the kustomization first, e.g. kubectl kustomize . | kcheck check -"

_GROUP = "kustomize.config.k8s.io"
# Lists of files and folders, by what they are to kustomize.
_PARTS, _OBJECTS, _SETTINGS = (
    ("patches.*.path", "patchesStrategicMerge.*", "patchesJson6902.*.path"),
    ("resources.*", "bases.*", "components.*", "crds.*"),
    ("configurations.*", "generators.*", "transformers.*", "validators.*", "replacements.*.path", "openapi.path"),
)
_GENERATORS = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}
# What kustomize fetches: URLs, and hosts followed by a path.
_REMOTE = pattern(r".*(?:://|//|\?|@).*|(?:[\w-]+\.)+[a-z]{2,}[/:].*")
_TOP_LEVEL = pattern(r"^(?=[^\s#-])", re.MULTILINE)


class Kustomizations:
    """Those of an input. `parts`: patches; `objects`: what is named as a whole; `settings`: of kustomize's own; all normal paths."""

    def __init__(self) -> None:
        self.parts: set[str] = set()
        self.objects: set[str] = set()
        self.settings: set[str] = set()

    def is_part(self, path: str) -> bool:
        """Whether a file is a patch and nothing else."""
        return _is_only_in(self.parts, self.objects, path)

    def is_setting(self, path: str) -> bool:
        return _is_only_in(self.settings, self.objects, path)

    def take(self, documents: Sequence[Document]) -> Kustomization | None:
        """Enter the paths of a kustomization, the first document of its file; None where that has no fields."""
        document = next(iter(documents), None)
        if document is None or document.fault is not None or not document.root.is_map:
            return None
        found = Kustomization(document)
        self.parts.update(found.paths(_PARTS))
        self.objects.update(found.paths(_OBJECTS))
        self.settings.update(found.paths(_SETTINGS))
        return found

    def salvage(self, source: Source) -> None:
        """Enter the paths of those top-level fields of a kustomization that can be read by themselves, where the whole cannot."""
        for field in _TOP_LEVEL.split(source.text):
            try:
                self.take(parse(Source(source.path, field)))
            except OutOfBudget:
                raise
            except Exception:
                # That the file cannot be read is already reported.
                continue


def _is_only_in(paths: set[str], others: set[str], path: str) -> bool:
    """Whether a path, made normal, is one of some and none of others; most inputs have none."""
    return bool(paths) and (path := os.path.normpath(path)) in paths and path not in others


def kustomized(source: Source, passed: str, all: Kustomizations, session: Session) -> Outcome:
    """What a kustomization gives. It is not an object and therefore `passed` over, unless it cannot be read: that is a finding."""
    outcome = Outcome(passed=passed)
    try:
        with session.budget.limited(len(source.text)):
            _examine(source, outcome, all, session)
        if outcome.passed:
            return outcome
    except Exception as error:
        outcome = crashed(source.path, error, session)
    try:
        with session.budget.limited(len(source.text), most=1.0):
            all.salvage(source)
    except OutOfBudget:
        # Patches may now be checked as whole objects: more findings, not fewer.
        pass
    return outcome


def _examine(source: Source, outcome: Outcome, all: Kustomizations, session: Session) -> None:
    documents = parse(source)
    if is_template(source.text):
        name_template(documents)
    rules = session.rules_for(source.path)
    outcome.ignores = ignores_of(source, documents, session.registry)
    if faults := [document for document in documents if document.fault is not None]:
        outcome.passed = ""
        result = check_documents(faults, session, rules)
        outcome.findings, outcome.documents = result.findings, len(documents)
    found = all.take(documents)
    if found is not None:
        outcome.facts = [found.facts()]
        outcome.findings += found.missing_files(rules)
    elif documents and not faults:
        outcome.passed = ""
        message = "a kustomization must be a map of fields such as resources and patches"
        outcome.findings += file_finding(
            "not-kubernetes-object", source.path, source.position(documents[0].root.start).line, message, rules
        )


class Kustomization:
    """One of them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.root = document.root
        self.file = document.source.path
        self.folder = os.path.dirname(self.file)
        version, kind = self.root["apiVersion"].text, self.root["kind"].text
        # Where it names none it is one of these.
        self.id = ObjectId(version or f"{_GROUP}/v1beta1", kind or "Kustomization", "", self.folder or ".")
        self.placer = Locator(document)
        self.placer.id = self.id
        self._listed: dict[str, Lexicon] = {}

    def paths(self, ways: tuple[str, ...]) -> Iterator[str]:
        """What stands under some fields, as paths."""
        for way in ways:
            for node in _nodes(self.root, way):
                if _is_path(node.text):
                    yield self.path(node.text)

    def path(self, entry: str) -> str:
        return os.path.normpath(os.path.join(self.folder, entry))

    def facts(self) -> Facts:
        """What the objects of the input should know of it."""
        marks = {f"under={os.path.dirname(path) if path.endswith(('.yaml', '.yml', '.json')) else path}" for path in self.paths(_OBJECTS)}
        if self.root["namespace"].text:
            marks.add("namespace")
        named = (*_nodes(self.root, "replacements.*.source.name"), *_nodes(self.root, "vars.*.objref.name"))
        return Facts(
            self.id, self.placer.place(self.root), {}, makes=tuple(self._made()), words=frozenset(node.text for node in named),
            marks=frozenset(marks),
        )  # fmt: skip

    def _made(self) -> Iterator[GeneratedObject]:
        for name, kind in _GENERATORS.items():
            for each in self.root[name]:
                if each["name"].text:
                    yield GeneratedObject(kind, each["name"].text, _keys(each))

    def missing_files(self, rules: RuleSet) -> Iterator[Finding]:
        """The findings about what it names and what does not exist, where their rule runs."""
        active = rules.active.get("missing-kustomization-file")
        if active is not None:
            for problem in self.absences():
                assert isinstance(problem.node, Node)
                place, hidden = self.placer.place(problem.node), self.placer.secrets.message
                message, help = hidden(problem.message, True), hidden(problem.help, True)
                yield Finding("missing-kustomization-file", active.severity, active.rule.family, message, place, help=help)

    def absences(self) -> Iterator[Problem]:
        """The files and folders that it names and that are not there."""
        for way in (*_PARTS, *_OBJECTS, *_SETTINGS):
            for node in _nodes(self.root, way):
                if _is_path(node.text):
                    yield from self._absence(node, node.text, way in _OBJECTS)
        for node in _nodes(self.root, "configMapGenerator.*.files.*"):
            entry = node.text.rpartition("=")[2]
            if _is_path(entry):
                yield from self._absence(node, entry, False)

    def _beside(self, folder: str) -> Lexicon:
        """The names in a folder, listed once however many entries lead there."""
        if folder not in self._listed:
            try:
                self._listed[folder] = Lexicon(os.listdir(folder or "."))
            except OSError:
                self._listed[folder] = Lexicon(())
        return self._listed[folder]

    def _absence(self, node: Node, entry: str, may_be_folder: bool) -> Iterator[Problem]:
        path = os.path.join(self.folder, entry)
        if os.path.isdir(path) and may_be_folder:
            if not any(os.path.exists(os.path.join(path, name)) for name in NAMES):
                yield Problem(node, f'directory "{entry}" has no kustomization.yaml', help="add one or list the files of the directory")
        elif not os.path.exists(path) and not os.path.islink(path):
            near = nearest(os.path.basename(path), self._beside(os.path.dirname(path)))
            what = "file or directory" if may_be_folder else "file"
            right = os.path.join(os.path.dirname(entry), near) if near else ""
            hint = f'did you mean "{right}"?' if near else f"add the {what} or correct the path"
            yield Problem(node, f'"{entry}" does not exist', help=hint)


def _nodes(root: Node, way: str) -> list[Node]:
    nodes = [root]
    for step in way.split("."):
        nodes = [child for node in nodes for child in ((node if node.is_list else ()) if step == "*" else (node[step],)) if child]
    return nodes


def _is_path(text: str) -> bool:
    """Whether an entry is a path rather than a patch written in place or an address."""
    return bool(text) and "\n" not in text and "\0" not in text and ": " not in text and not _REMOTE.fullmatch(text)


def _keys(generator: Node) -> frozenset[str] | None:
    """The entries of what a generator makes, None where a file of variables says them."""
    if len(generator["envs"]) or generator["env"]:
        return None
    found = [node.text.partition("=")[0] for node in generator["literals"]]
    for node in generator["files"]:
        key, equals, path = node.text.partition("=")
        found.append(key if equals else os.path.basename(path or key))
    # With behavior: merge the rest stands elsewhere.
    return frozenset(found) or None

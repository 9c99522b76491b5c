"""What a kustomization.yaml says about other files: patches, settings of kustomize, generated objects and missing files.

Source: the reference of kustomization.yaml in kustomize's documentation, api/types/kustomization.go for the fields.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from kcheck.check.document import check_documents
from kcheck.check.file import Outcome, crashed_outcome, file_findings
from kcheck.check.session import Session
from kcheck.check.suppressions import read_ignores
from kcheck.check.templates import TEMPLATE_OF_TOOL, merge_template_faults, without_templates
from kcheck.check.time_limit import OutOfBudget
from kcheck.discovery.gitignore import is_ignored
from kcheck.facts.facts import Facts, GeneratedObject, KustomizationFact
from kcheck.finding.finding import Finding
from kcheck.finding.problem import Problem
from kcheck.finding.role import COMPONENT, Role
from kcheck.kube import placeholders
from kcheck.kube.location import ObjectId
from kcheck.kube.suggestions import Lexicon, did_you_mean, nearest
from kcheck.kustomize.remote import is_remote
from kcheck.repository.roles import ListedFiles
from kcheck.rule.ruleset import RuleSet
from kcheck.schema.locator import Locator
from kcheck.text.pattern import pattern
from kcheck.text.source import Source
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")

_ADD = "add the"
"""The beginning of the help for a missing file without a similar name."""
_GROUP = "kustomize.config.k8s.io"
# Fields that list files and folders, by their use in kustomize.
_PATCH_FIELDS, _OBJECT_FIELDS, _SETTINGS_FIELDS = (
    ("patches.*.path", "patches.*", "patchesStrategicMerge.*", "patchesJson6902.*.path"),
    ("resources.*", "bases.*", "components.*", "crds.*"),
    ("configurations.*", "generators.*", "transformers.*", "validators.*", "replacements.*.path", "openapi.path"),
)
_GENERATORS = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}
_TOP_LEVEL = pattern(r"^(?=[^\s#-])", re.MULTILINE)
# A field of the top level, possibly in a comment, or a path in a comment.
_COMMENTED = pattern(
    r"""
      ^\#?[ ]?(?P<field>\w+):[ \t]*(?:\#.*)?$
    | ^[ \t]*\#[ \t]*(?:-[ \t]+)?(?:path:[ \t]*)?["']?(?P<path>[^\s"'#:]+\.ya?ml)["']?[ \t]*$
    """,
    re.MULTILINE | re.VERBOSE,
)
_FIELDS_WITH_PATCHES = frozenset({"patches", "patchesStrategicMerge", "patchesJson6902"})


class Kustomizations:
    """The kustomizations of an input."""

    def __init__(self, listed_files: ListedFiles) -> None:
        self.listed_files = listed_files

    def add(self, documents: Sequence[Document]) -> Kustomization | None:
        """Add the paths of a kustomization. Returns None if the first document has no fields."""
        document = next(iter(documents), None)
        if document is None or document.fault is not None or not document.root.is_map:
            return None
        found = Kustomization(document)
        listed_files = self.listed_files
        listed_files.patches.update(dict.fromkeys(found.paths(_PATCH_FIELDS), found.file))
        listed_files.commented.update(dict.fromkeys(found.commented_patches(), found.file))
        listed_files.objects.update(dict.fromkeys(found.paths(_OBJECT_FIELDS), found.file))
        listed_files.settings.update(dict.fromkeys(found.paths(_SETTINGS_FIELDS), found.file))
        return found

    def add_readable_fields(self, source: Source) -> None:
        """Add the paths of those top-level fields of an invalid kustomization that can be parsed on their own."""
        for field in _TOP_LEVEL.split(source.text):
            try:
                self.add(parse(Source(source.path, field)))
            except OutOfBudget:
                raise
            except Exception:
                # The syntax error is already reported.
                continue


def check_kustomization(source: Source, role: Role, all: Kustomizations, session: Session, named: bool = True) -> Outcome:
    """Check a kustomization and return its outcome. It is not an object and is skipped for the reason of its role, unless it is invalid.

    `named`: whether the path is an argument of the command line. Otherwise templates are skipped as well.
    """
    outcome = Outcome(skip_reason=role.reason, role=role)
    try:
        with session.budget.limited(len(source.text)):
            _check_documents(source, outcome, all, session, named)
        if outcome.skip_reason and outcome.skip_reason != TEMPLATE_OF_TOOL:
            return outcome
    except Exception as error:
        outcome = crashed_outcome(source.path, error, session)
        outcome.role = role
    try:
        with session.budget.limited(len(source.text), most=1.0):
            all.add_readable_fields(source)
    except OutOfBudget:
        # Patches may now be checked as complete objects, which causes more findings, not fewer.
        pass
    return outcome


def _check_documents(source: Source, outcome: Outcome, all: Kustomizations, session: Session, named: bool) -> None:
    documents = parse(source)
    if placeholders.is_template(source.text):
        if not (named or session.judges_placeholders) and len(without_templates(documents)) < len(documents):
            outcome.skip_reason = TEMPLATE_OF_TOOL
            return
        merge_template_faults(documents)
    rules = session.rules_for(source.path)
    outcome.ignores = read_ignores(source, documents, session.registry)
    if faults := [document for document in documents if document.fault is not None]:
        outcome.skip_reason = ""
        result = check_documents(faults, session, rules)
        outcome.findings, outcome.documents = result.findings, len(documents)
    found = all.add(documents)
    if found is not None:
        outcome.facts = [found.facts()]
        if found.id.kind == "Component":
            outcome.role = Role(COMPONENT, outcome.role.reason)
        outcome.findings += found.missing_file_findings(rules)
    elif documents and not faults:
        outcome.skip_reason = ""
        message = "a kustomization must be a map with fields such as resources and patches"
        outcome.findings += file_findings(
            "not-kubernetes-object", source.path, source.position(documents[0].root.start).line, message, rules
        )


class Kustomization:
    """A parsed kustomization."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.root = document.root
        self.file = document.source.path
        self.folder = os.path.dirname(self.file)
        version, kind = self.root["apiVersion"].text, self.root["kind"].text
        # Both fields are optional.
        self.id = ObjectId(version or f"{_GROUP}/v1beta1", kind or "Kustomization", "", self.folder or ".")
        self.locator = Locator(document)
        self.locator.id = self.id
        self._listed: dict[str, Lexicon] = {}

    def paths(self, fields: tuple[str, ...]) -> Iterator[str]:
        """Yield the paths listed in these fields."""
        for field in fields:
            for node in _nodes(self.root, field):
                if _is_path(node.text):
                    yield self.path(node.text)

    def path(self, entry: str) -> str:
        return os.path.normpath(os.path.join(self.folder, entry))

    def commented_patches(self) -> Iterator[str]:
        """Yield the patches that are listed in comments."""
        text = self.document.source.text
        if "#" not in text:
            return
        field = ""
        for match in _COMMENTED.finditer(text, self.document.start, self.document.end):
            field = match["field"] or field
            if match["path"] and field in _FIELDS_WITH_PATCHES:
                yield self.path(match["path"])

    def facts(self) -> Facts:
        """Return the facts that rules across objects need."""
        folders = (os.path.dirname(path) if path.endswith((".yaml", ".yml", ".json")) else path for path in self.paths(_OBJECT_FIELDS))
        named = (*_nodes(self.root, "replacements.*.source.name"), *_nodes(self.root, "vars.*.objref.name"))
        return Facts(
            self.id, self.locator.place(self.root), {}, makes=tuple(self._generated_objects()),
            words=frozenset(node.text for node in named),
            kustomization=KustomizationFact(
                frozenset(folders),
                bool(self.root["namespace"].text),
                frozenset(self.paths(_OBJECT_FIELDS)),
                frozenset(self.paths(_PATCH_FIELDS)),
            ),
        )  # fmt: skip

    def _generated_objects(self) -> Iterator[GeneratedObject]:
        for name, kind in _GENERATORS.items():
            for each in self.root[name]:
                if each["name"].text:
                    yield GeneratedObject(kind, each["name"].text, _generated_keys(each))

    def missing_file_findings(self, rules: RuleSet) -> Iterator[Finding]:
        """Yield findings for listed files that do not exist, if the rule is enabled."""
        active = rules.active.get("missing-kustomization-file")
        if active is not None:
            for problem in _merged(self.missing_file_problems()):
                assert isinstance(problem.node, Node)
                place, mask = self.locator.place(problem.node), self.locator.secrets.message
                message, help = mask(problem.message, True), mask(problem.help, True)
                yield Finding("missing-kustomization-file", active.severity, active.rule.family, message, place, help=help)

    def missing_file_problems(self) -> Iterator[Problem]:
        """Yield a problem for each listed file or folder that does not exist."""
        for field in (*_PATCH_FIELDS, *_OBJECT_FIELDS, *_SETTINGS_FIELDS):
            for node in _nodes(self.root, field):
                if _is_path(node.text):
                    yield from self._missing_file(node, node.text, field in _OBJECT_FIELDS)
        for node in _nodes(self.root, "configMapGenerator.*.files.*"):
            entry = node.text.rpartition("=")[2]
            if _is_path(entry):
                yield from self._missing_file(node, entry, False)

    def _names_in(self, folder: str) -> Lexicon:
        """Return the names in a folder, which is listed only once."""
        if folder not in self._listed:
            try:
                self._listed[folder] = Lexicon(os.listdir(folder or "."))
            except OSError:
                self._listed[folder] = Lexicon(())
        return self._listed[folder]

    def _missing_file(self, node: Node, entry: str, may_be_folder: bool) -> Iterator[Problem]:
        path = os.path.join(self.folder, entry)
        if os.path.isdir(path) and may_be_folder:
            exists = any(os.path.exists(os.path.join(path, name)) for name in NAMES)
            if not exists and not is_ignored(os.path.join(path, NAMES[0])):
                yield Problem(node, f'directory "{entry}" has no kustomization.yaml', help="add one or list the files of the directory")
        elif not os.path.exists(path) and not os.path.islink(path) and not is_ignored(path):
            near = nearest(os.path.basename(path), self._names_in(os.path.dirname(path)))
            kind = "file or directory" if may_be_folder else "file"
            right = os.path.join(os.path.dirname(entry), near) if near else ""
            hint = did_you_mean(right) if near else f"{_ADD} {kind} or correct the path"
            yield Problem(node, f'"{entry}" does not exist', help=hint)


def _merged(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield the problems, with one for all missing files of a list and a folder that have no similar name.

    Usually a build creates all of them, or none.
    """
    groups: dict[tuple[int, str], list[Problem]] = {}
    for number, problem in enumerate(problems):
        node = problem.node
        assert isinstance(node, Node)
        is_unknown = problem.help.startswith(_ADD)
        key = (id(node.parent), os.path.dirname(node.text)) if is_unknown else (number, "")
        groups.setdefault(key, []).append(problem)
    for first, *others in groups.values():
        if not others:
            yield first
            continue
        further = "1 other entry does" if len(others) == 1 else f"{len(others)} other entries do"
        yield Problem(first.node, f"{first.message}, and {further} not exist", help=f"{_ADD} files or correct the paths")


def _nodes(root: Node, field: str) -> list[Node]:
    nodes = [root]
    for step in field.split("."):
        nodes = [child for node in nodes for child in ((node if node.is_list else ()) if step == "*" else (node[step],)) if child]
    return nodes


def _is_path(text: str) -> bool:
    """Whether an entry is a path, rather than an inline patch or a URL."""
    return bool(text) and "\n" not in text and "\0" not in text and ": " not in text and not is_remote(text)


def _generated_keys(generator: Node) -> frozenset[str] | None:
    """Return the keys of a generated object, or None if they come from an env file."""
    if len(generator["envs"]) or generator["env"]:
        return None
    found = [node.text.partition("=")[0] for node in generator["literals"]]
    for node in generator["files"]:
        key, equals, path = node.text.partition("=")
        found.append(key if equals else os.path.basename(path or key))
    # With `behavior: merge`, further keys are defined elsewhere.
    return frozenset(found) or None

"""Finds the policies of an input and the objects that they refer to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from kcheck.kube.resource import Resource, resources
from kcheck.policy.admission.definitions import AdmissionPolicy, Binding, read_admission_objects
from kcheck.policy.policy_input import FindRelations, KnownObject, PolicyFile, PolicyInput, PolicyUser, RelatedObject
from kcheck.policy.policy_objects import Parse, policy_objects
from kcheck.text.source import Source
from kcheck.yaml.node import Node

_DEPENDENCY = re.compile(
    r"paramKind|namespaceSelector|namespaceObject|oldObject|\bobjects\b|\brequest\b|authorizer|\bMutatingAdmission"
    r"|\b(?:podsOf|servicesOf|references|referencedBy|ownerOf|namespaceOf)\b"
)
"""Words in policies whose verdicts may depend on more than the object."""

_SEPARATOR = "\n---"

ReadTexts = Callable[[], Iterable[tuple[str, str]]]
"""Returns paths and contents of files. It may be called several times."""


def collect_policies(
    files: Sequence[PolicyFile], read_texts: ReadTexts, user: PolicyUser | None, parse_file: Parse,
    rule_files: tuple[tuple[str, str], ...] = (), unenforced: tuple[str, ...] = (), find_relations: FindRelations | None = None,
) -> PolicyInput | None:  # fmt: skip
    """Return the policies in these files, with the objects that they refer to; None if no policy is enforced.

    Args:
        files: The files that may contain policies.
        read_texts: Returns the paths and contents of all files with objects; called only if the policies depend on other objects.
        user: The user who makes the requests.
        parse_file: Parses a file.
        rule_files: Paths and contents of the files with short rules.
        unenforced: Why policies of the input are not enforced.
        find_relations: Returns the objects with their relations; called only if a rule asks for relations.
    """
    found: list[PolicyFile] = []
    every: list[Resource] = []
    for file in files:
        admission = [each for each in policy_objects(file, parse_file) if "AdmissionPolicy" in each.kind]
        if admission:
            found.append(file)
            every += admission
    validating, mutating, bindings, mutating_bindings = read_admission_objects(every)
    bound, mutating_bound = {each.policy for each in bindings}, {each.policy for each in mutating_bindings}
    enforced = [*(each for each in validating if each.name in bound), *(each for each in mutating if each.name in mutating_bound)]
    if not enforced and not rule_files and not unenforced:
        return None
    related: tuple[RelatedObject, ...] = ()
    kinds = {each.param_kind.kind for each in enforced if each.param_kind is not None}
    if rule_files or any(_reads_namespaces(each, [*bindings, *mutating_bindings]) for each in enforced):
        kinds.add("Namespace")
    names = [each.id for each in enforced]
    built = {file.path for file in found if file.built}
    written = [each for each in enforced if each.resource.document.source.path not in built]
    independent = [each.id for each in written if _is_independent(each, bindings)]
    if rule_files:
        # Imported late: this brings the compiler of expressions.
        from kcheck.policy.rules.programs import kinds_read, uses_relations
        from kcheck.policy.rules.rule_files import rules_in

        rules = rules_in(rule_files)
        names += [rule.id for rule in rules]
        independent += [rule.id for rule in rules if not _DEPENDENCY.search(_written(rule.source, rule.node))]
        kinds = kinds.union(*map(kinds_read, rules))
        if find_relations is not None and any(map(uses_relations, rules)):
            related = find_relations([*read_texts()])
    known = tuple(_find_objects(kinds, read_texts(), parse_file)) if kinds else ()
    in_input = {file.path for file in found if file.in_input}
    names_in_input = tuple(each.id for each in enforced if each.resource.document.source.path in in_input)
    return PolicyInput(
        tuple(found), known, user, tuple(dict.fromkeys(names)), names_in_input, tuple(independent), rule_files, unenforced, related
    )  # fmt: skip


def _is_independent(policy: AdmissionPolicy, bindings: Iterable[Binding]) -> bool:
    """Return whether the verdicts of a policy about new objects depend only on the object."""
    resources = [policy.resource, *(each.resource for each in bindings if each.policy == policy.name)]
    judges_new = all({"*", "CREATE"} & rule.operations for rule in policy.match.rules)
    return judges_new and not any(_DEPENDENCY.search(_written(each.document.source, each.node)) for each in resources)


def _reads_namespaces(policy: AdmissionPolicy, bindings: Iterable[Binding]) -> bool:
    """Return whether the verdicts of a policy depend on the Namespaces of the objects."""
    matches = [policy.match, *(each.match for each in bindings if each.policy == policy.name and each.match is not None)]
    return any(each.namespaces is not None for each in matches) or "namespaceObject" in str(policy.resource.node.plain())


def _written(source: Source, node: Node) -> str:
    return source.text[node.start : node.end]


def _find_objects(kinds: set[str], texts: Iterable[tuple[str, str]], parse_file: Parse) -> Iterator[KnownObject]:
    """Yield the objects of these kinds. Only documents that mention such a kind are parsed."""
    mention = re.compile(rf"kind[\"']?[ \t]*:[ \t]*[\"']?(?:{'|'.join(map(re.escape, sorted(kinds)))})\b")
    for path, text in texts:
        # A search for substrings takes a fraction of the time.
        if not any(kind in text for kind in kinds):
            continue
        for part in _mentioning_parts(text, mention):
            for document in parse_file(Source(path, part)):
                for resource in resources(document):
                    if resource.kind in kinds and resource.name:
                        yield KnownObject(
                            path, resource.api_version, resource.kind, resource.namespace, resource.name,
                            json.dumps(resource.node.plain(), default=str),
                        )  # fmt: skip


def _mentioning_parts(text: str, mention: re.Pattern[str]) -> Iterator[str]:
    """Yield the parts of a text between lines that begin with `---` in which a pattern occurs."""
    end = 0
    while (found := mention.search(text, end)) is not None:
        start = max(end, text.rfind(_SEPARATOR, end, found.start()) + 1)
        end = text.find(_SEPARATOR, found.end()) + 1 or len(text)
        yield text[start:end]

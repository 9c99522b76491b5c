"""Tests of policies in any language: `*.kcheck-test.yaml` files with policies, objects and expected results.

policies: [replica-limit.yaml]        # files and folders, relative to the test
objects: [namespaces.yaml]            # optional: Namespaces and parameters
tests:
  - name: too many replicas
    object: {apiVersion: apps/v1, kind: Deployment, ...}   # or the path of a file
    old: {...}                        # optional: the object before an update
    expect:
      replica-limit: fail             # pass, fail, excluded, undecided or changed; or a map with result, message, severity and at
    mutated: {metadata: {...}}        # optional: fields of the object after the MutatingAdmissionPolicies; null for a field that is absent
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from kcheck.kube.resource import Resource, resources
from kcheck.kube.suggestions import suggest
from kcheck.policy.admission.definitions import AdmissionPolicy, read_admission_objects
from kcheck.policy.admission.evaluation import hide_values
from kcheck.policy.policy_input import FindRelations, KnownObject, PolicyFile, PolicyInput
from kcheck.policy.policy_set import PolicySet
from kcheck.policy.rules.definitions import SUFFIX
from kcheck.policy.rules.examples import documents_of, resource_of_json
from kcheck.policy.verdict import PolicyNotice, Verdict, shown_path
from kcheck.schema.locator import Locator
from kcheck.schema.store import Store
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

TEST_SUFFIX = ".kcheck-test.yaml"
"""The end of the names of test files; `kcheck-test.yaml` is one as well."""

RESULTS = ("pass", "fail", "excluded", "undecided", "changed")
_EXPECTATION_KEYS = ("result", "message", "severity", "at")
_TEST_KEYS = ("name", "object", "old", "expect", "mutated")
_FILE_KEYS = ("policies", "objects", "tests")
_GROUP = "admissionregistration.k8s.io"

ReadPath = Callable[[str], Iterable[tuple[str, str]]]
"""Returns paths and contents of the files in a path. Raises OSError."""


class PolicyOutcome(NamedTuple):
    """What a policy says of an object. `result`: one of RESULTS; `detail`: the clause that excludes it, or why it is undecided."""

    result: str
    message: str = ""
    severity: str = ""
    at: str = ""
    detail: str = ""


class TestFault(NamedTuple):
    """A wrong result or an error in a test file. `node`: where; `actual`: the value for --update, None if there is none."""

    node: Node
    message: str
    actual: Any = None


class TestReport(NamedTuple):
    """The result of a test file. `number`: how many expectations it has; `judged`: the ids of policies with an expected pass or fail."""

    source: Source
    number: int
    faults: tuple[TestFault, ...]
    judged: frozenset[str]


def is_test_file(path: str) -> bool:
    """Return whether a file is a test of policies, by its name."""
    return path.endswith(TEST_SUFFIX) or os.path.basename(path) == TEST_SUFFIX[1:]


def outcomes(policies: PolicySet, resource: Resource) -> dict[str, PolicyOutcome]:
    """Return what each policy says of an object, by its id."""
    found = {
        id: PolicyOutcome("excluded", detail=clause) if clause else PolicyOutcome("pass")
        for id, clause in policies.reasons(resource).items()
    }
    review = policies.review(resource)
    for each in policies.judge(review):
        if isinstance(each, PolicyNotice):
            found[each.policy] = PolicyOutcome("undecided", detail=_masked(each.message, resource))
        elif isinstance(each, Verdict) and found.get(each.id, PolicyOutcome("pass")).result != "fail":
            found[each.id] = PolicyOutcome("fail", _masked(each.message, resource), each.severity.word, shown_path(each.path))
    return found | dict.fromkeys(review.changed_by, PolicyOutcome("changed"))


def _masked(message: str, resource: Resource) -> str:
    """Return a message without the secret values of the file of an object, as findings show it."""
    locator = Locator(resource.document, resource)
    return locator.secrets.message(message, locator.is_guarded(), resource.node)


def policy_set_of(files: Iterable[tuple[str, str]], store: Store) -> PolicySet:
    """Return the policies in files (paths and contents). A policy without binding is enforced as if a binding denied."""
    files = list(files)
    rule_files = tuple((path, text) for path, text in files if path.endswith(SUFFIX))
    others = [(path, text) for path, text in files if not path.endswith(SUFFIX) and not is_test_file(path)]
    found = [each for path, text in others for document in parse(Source(path, text)) for each in resources(document)]
    validating, mutating, bindings, mutating_bindings = read_admission_objects(found)
    bound = {each.policy for each in bindings}, {each.policy for each in mutating_bindings}
    policy_files = [PolicyFile(path, text, False) for path, text in others if "AdmissionPolic" in text]
    unbound = [each for each in (*validating, *mutating) if each.name not in bound[each.is_mutating]]
    policy_files += [PolicyFile(f"binding of {each.name}", _binding_of(each), False) for each in unbound]
    known = [_known_object(each) for each in found if "AdmissionPolic" not in each.kind and each.name]
    return PolicySet(PolicyInput(tuple(policy_files), tuple(known), rule_files=rule_files), store)


def _binding_of(policy: AdmissionPolicy) -> str:
    """Return a binding that enforces a policy everywhere, in JSON."""
    spec = {"policyName": policy.name, **({} if policy.is_mutating else {"validationActions": ["Deny"]})}
    kind, version = f"{policy.resource.kind}Binding", policy.resource.api_version
    return json.dumps({"apiVersion": version, "kind": kind, "metadata": {"name": policy.name}, "spec": spec})


def _known_object(resource: Resource) -> KnownObject:
    text = json.dumps(resource.node.plain(), default=str)
    path = resource.document.source.path
    return KnownObject(path, resource.api_version, resource.kind, resource.namespace, resource.name, text)


def run_test_file(source: Source, store: Store, read_path: ReadPath, find_relations: FindRelations = lambda texts: ()) -> TestReport:
    """Run the tests in a file. `read_path`: reads policies and objects, relative to the file."""
    run = _TestRun(source, store, read_path, find_relations)
    for document in parse(source):
        if document.fault is not None:
            run.faults.append(TestFault(document.root, document.fault.message))
        else:
            run.run(document.root)
    return TestReport(source, run.number, tuple(run.faults), frozenset(run.judged))


class _TestRun:
    def __init__(self, source: Source, store: Store, read_path: ReadPath, find_relations: FindRelations) -> None:
        self.source = source
        self.find_relations = find_relations
        self.context: list[str] = []
        self.store = store
        self.read_path = read_path
        self.faults: list[TestFault] = []
        self.number = 0
        self.judged: set[str] = set()

    def run(self, root: Node) -> None:
        entries = self.entries(root, _FILE_KEYS)
        files = [file for key in ("policies", "objects") for each in self.texts(entries.get(key)) for file in self.files(each)]
        if self.faults:
            return
        self.context = [text for path, text in files if not path.endswith(SUFFIX)]
        policies = policy_set_of(dict(files).items(), self.store)
        for each in entries.get("tests", ()):
            self.run_test(each, policies)

    def entries(self, node: Node, known: tuple[str, ...]) -> dict[str, Node]:
        found = {}
        for name, child in node.entries:
            if name in known:
                found[name] = child
            else:
                self.faults.append(TestFault(child, f'unknown key "{name}"; {suggest(name, known)}'))
        return found

    def texts(self, node: Node | None) -> list[Node]:
        return [] if node is None else list(node) if node.is_list else [node]

    def files(self, node: Node) -> Iterable[tuple[str, str]]:
        path = os.path.normpath(os.path.join(os.path.dirname(self.source.path), node.text))
        try:
            found = list(self.read_path(path))
        except OSError as error:
            found = []
            self.faults.append(TestFault(node, f"{path}: {error.strerror or error}"))
        return found

    def run_test(self, node: Node, policies: PolicySet) -> None:
        entries = self.entries(node, _TEST_KEYS)
        subjects = list(self.subjects(entries["object"])) if "object" in entries else []
        if not subjects:
            self.faults.append(TestFault(node, "object is missing; add an object, or the path of a file with objects"))
            return
        old = list(self.subjects(entries["old"])) if "old" in entries else []
        for resource in subjects:
            resource.older = old[0] if old else None
            # Objects of one file are applied together.
            text = "\n---\n".join((*self.context, documents_of([resource.node.plain()])))
            policies.use_relations(partial(self.find_relations, [("objects.yaml", text)]))
            found = outcomes(policies, resource)
            if "mutated" in entries:
                self.number += 1
                self.compare_mutated(entries["mutated"], policies, resource)
            if "expect" not in entries and "mutated" not in entries:
                actual = {id.removeprefix("policy/"): each.result for id, each in found.items() if each.result != "excluded"}
                self.faults.append(TestFault(node.virtual("expect"), "expect is missing; --update adds the present results", actual))
                continue
            for name, expected in entries["expect"].entries if "expect" in entries else ():
                self.number += 1
                self.compare(name, expected, found, resource)

    def subjects(self, node: Node) -> Iterator[Resource]:
        if node.is_map:
            found = resource_of_json(node.plain(), self.source.path)
            if found is not None:
                yield found
            return
        for path, text in self.files(node):
            for document in parse(Source(path, text)):
                yield from resources(document)

    def compare(self, name: str, expected: Node, found: Mapping[str, PolicyOutcome], resource: Resource) -> None:
        outcome = found.get(f"policy/{name}")
        if outcome is None:
            help = suggest(name, sorted(id.removeprefix("policy/") for id in found))
            self.faults.append(TestFault(expected, f'no policy "{name}"; {help}'))
            return
        self.judged |= {f"policy/{name}"} if outcome.result in ("pass", "fail", "changed") else set()
        entries = self.entries(expected, _EXPECTATION_KEYS) if expected.is_map else {"result": expected}
        for key, node in entries.items():
            actual = str(getattr(outcome, key))
            if node.text != actual:
                self.faults.append(TestFault(node, _difference(key, node, outcome, resource), actual))

    def compare_mutated(self, expected: Node, policies: PolicySet, resource: Resource) -> None:
        """Compare the object after the mutating policies with the fields that are expected of it."""
        review = policies.review(resource)
        notices = [each.message for each in policies.mutate(review)]
        for node, actual in _differing_fields(expected, review.object):
            was = "it is absent" if actual is _ABSENT else f"it is {json.dumps(actual, ensure_ascii=False)}"
            because = f" ({notices[0]})" if notices else ""
            field = node.path.removeprefix(expected.path).lstrip(".") or "the object"
            wanted = f"no {field}" if node.plain() is None else f"{field} {json.dumps(node.plain(), ensure_ascii=False)}"
            message = f"expected {wanted} after the mutation, but {was}{because}"
            self.faults.append(
                TestFault(node, _masked(hide_values(message, [review.object]), resource), None if actual is _ABSENT else actual)
            )


_ABSENT = object()
"""The value of a field that an object does not have."""


def _differing_fields(expected: Node, actual: Any) -> Iterator[tuple[Node, Any]]:
    """Yield the expected values that an object does not have, with those that it has. Other fields may have any value."""
    if expected.is_map and isinstance(actual, dict):
        for key, each in expected.entries:
            yield from _differing_fields(each, actual.get(key, _ABSENT))
    elif expected.is_list and isinstance(actual, list) and len(actual) == len(expected):
        for each, other in zip(expected, actual, strict=True):
            yield from _differing_fields(each, other)
    elif expected.plain() is None:
        if actual is not _ABSENT and actual is not None:
            yield expected, actual
    elif actual is _ABSENT or expected.plain() != actual:
        yield expected, actual


def _difference(key: str, node: Node, outcome: PolicyOutcome, resource: Resource) -> str:
    if key != "result":
        expected, actual = (json.dumps(each, ensure_ascii=False) for each in (node.plain(), getattr(outcome, key)))
        return f"expected {key} {expected}, but it is {actual}"
    if node.text not in RESULTS:
        return f"{json.dumps(node.plain())} is not a result; {suggest(node.text, RESULTS)}"
    because = f": {outcome.message or outcome.detail}" if outcome.message or outcome.detail else ""
    at = f" (at {outcome.at})" if outcome.at else ""
    return f"expected {node.text}, but the result for {resource.title} is {outcome.result}{because}{at}"

"""The examples of short rules: objects that a rule must accept or refuse."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kcheck.kube.resource import Resource, resources
from kcheck.policy.known_objects import KnownObjects
from kcheck.policy.policy_input import FindRelations, KnownObject
from kcheck.policy.review import Review
from kcheck.policy.rules.definitions import RuleExample, ShortRule
from kcheck.policy.rules.engine import RuleEngine
from kcheck.policy.rules.programs import uses_relations
from kcheck.policy.rules.scopes import ResolvedScope
from kcheck.policy.verdict import Path, PolicyNotice, ProposedChange, Verdict, shown_path
from kcheck.schema.shape import Shape
from kcheck.schema.store import Store
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse

_NAME = "example"


class ExampleFailure(NamedTuple):
    """An example with another result than expected. `node`: the example, or its expected message or field."""

    node: Node
    message: str


def example_failures(
    rule: ShortRule, example: RuleExample, store: Store, find_relations: FindRelations = lambda texts: ()
) -> Iterator[ExampleFailure]:
    """Yield how the result of an example differs from what it must be."""
    scope = ResolvedScope(rule.scope, store)
    value = complete_object(example.node.plain(), scope)
    resource = resource_of_json(value, rule.source.path)
    if resource is None:
        yield ExampleFailure(example.node, "an example must be an object with apiVersion and kind")
        return
    known = KnownObjects(_known_object(each) for each in example.context)
    engine = RuleEngine([rule], store, known, None)
    if uses_relations(rule):
        # Objects of one file are applied together.
        objects = [*(each.plain() for each in example.context), value]
        engine.use_relations(find_relations([("objects.yaml", documents_of(objects))]))
    review = Review(resource, store)
    found = list(engine.verdicts(review, lambda id: True))
    verdicts = [each for each in found if isinstance(each, Verdict)]
    notices = [each.message for each in found if isinstance(each, PolicyNotice)]
    excluded = next(clause for _, clause in engine.reasons(review))
    if excluded:
        yield ExampleFailure(example.node, f"the rule does not apply to this example: {excluded}")
    elif notices:
        yield ExampleFailure(example.node, notices[0])
    elif example.passes and verdicts:
        first = verdicts[0]
        yield ExampleFailure(node_at(example.node, first.path), f"this example must pass, but fails: {first.message}")
    elif not example.passes and not verdicts:
        yield ExampleFailure(example.node, "this example must fail, but passes")
    elif verdicts:
        yield from _unexpected(rule, example, verdicts)
        yield from _ineffective_fix(rule, example, value, verdicts, engine, store)


def _unexpected(rule: ShortRule, example: RuleExample, verdicts: list[Verdict]) -> Iterator[ExampleFailure]:
    entry = example.node.parent
    messages = [each.message for each in verdicts]
    if entry is not None and example.message and example.message not in messages:
        yield ExampleFailure(entry["message"], f'the message is "{messages[0]}"')
    fields = [shown_path(each.path) for each in verdicts]
    if entry is not None and example.at and example.at not in fields:
        yield ExampleFailure(entry["at"], f"the field is {fields[0]}")


def _ineffective_fix(
    rule: ShortRule, example: RuleExample, value: Any, verdicts: list[Verdict], engine: RuleEngine, store: Store
) -> Iterator[ExampleFailure]:
    changes = [change for each in verdicts for change in each.changes]
    if not rule.fix:
        return
    fixed = apply_changes(value, changes)
    resource = resource_of_json(fixed, rule.source.path)
    left = [] if resource is None else list(engine.verdicts(Review(resource, store), lambda id: True))
    if not changes or left:
        reason = f": {left[0].message}" if left else ", because its values cannot be computed"
        yield ExampleFailure(example.node, f"the fix does not solve the problem of this example{reason}")


def complete_object(value: Any, scope: ResolvedScope) -> Any:
    """Return an example as an object: a value of an API type in an object that contains it, and what every object has."""
    if not isinstance(value, Mapping):
        return value
    found = dict(value)
    if scope.types and "kind" not in found:
        found = _around(found, scope)
    elif "kind" not in found:
        named = [name for name, _ in scope.described_kinds()]
        if len({each.kind for each in named}) == 1:
            first = named[0]
            found = {"apiVersion": first.api_version, "kind": first.kind, **found}
    elif "apiVersion" not in found:
        served = scope.store.versions_of(str(found["kind"]))
        found = {"apiVersion": served[0], **found} if served else found
    if "kind" in found:
        metadata = found.get("metadata") or {}
        found["metadata"] = {"name": _NAME, **metadata} if isinstance(metadata, Mapping) else metadata
    return found


def _around(value: Mapping[str, Any], scope: ResolvedScope) -> dict[str, Any]:
    """Return an object with a value of an API type: a Pod if possible, otherwise the kind that contains it nearest to its root."""
    store = scope.store
    candidates: list[tuple[int, str, str, Path]] = []
    for version, kind in [("v1", "Pod"), *store.definitions.kinds()]:
        builtin = store.builtin(version, kind)
        shape: Shape | None = builtin.shape if builtin is not None and builtin.plural else None
        path = scope.occurrences.nearest_path(shape) if shape is not None and scope.occurrences.leads_to(shape) else None
        if path is not None:
            candidates.append((len(path), version, kind, path))
            if kind == "Pod":
                break
    if not candidates:
        return dict(value)
    _, version, kind, path = min(candidates)
    inner: Any = dict(value)
    for key in reversed(path):
        inner = [inner] if isinstance(key, int) else {key: inner}
    return {"apiVersion": version, "kind": kind, **inner}


def resource_of_json(value: Any, path: str) -> Resource | None:
    """Return an object in JSON as a resource. `path`: the file that contains it."""
    for document in parse(Source(path, json.dumps(value, default=str))):
        for each in resources(document):
            return each
    return None


def documents_of(objects: Iterable[Any]) -> str:
    """Return objects in JSON as a file with a document of each."""
    return "\n---\n".join(json.dumps(each, default=str) for each in objects)


def _known_object(node: Node) -> KnownObject:
    metadata = node["metadata"]
    return KnownObject(
        "",
        node["apiVersion"].text,
        node["kind"].text,
        metadata["namespace"].text,
        metadata["name"].text,
        json.dumps(node.plain(), default=str),
    )


def apply_changes(value: Any, changes: list[ProposedChange]) -> Any:
    """Return a copy of an object in JSON with the changes of a fix."""
    root = copy.deepcopy(value)
    for action, path, text in changes:
        holder, key = root, path[-1]
        for each in path[:-1]:
            if isinstance(holder, dict):
                holder = holder.setdefault(each, {})
            elif isinstance(holder, list) and isinstance(each, int) and each < len(holder):
                holder = holder[each]
        if isinstance(holder, list) and isinstance(key, int) and key < len(holder):
            holder[key : key + 1] = [] if action == "remove" else [json.loads(text)]
        elif isinstance(holder, dict) and action == "remove":
            holder.pop(key, None)
        elif isinstance(holder, dict):
            holder[key] = [*(holder.get(key) or []), json.loads(text)] if action == "add" else json.loads(text)
    return root


def node_at(node: Node, path: Path) -> Node:
    """Return the node of a path below an example, or the nearest one that exists. A value of an API type begins at any part of the path."""
    for start in range(len(path)):
        found = node.at(*path[start:])
        if found.exists:
            return found
    return node

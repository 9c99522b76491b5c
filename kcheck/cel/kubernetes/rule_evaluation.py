"""Evaluation of x-kubernetes-validations: the compiled rules of a structural schema, and the violations of objects.

    rules = find_rules(schema)              # openAPIV3Schema as plain JSON; None where it has no rules
    for each in rules.evaluate(object_): print(each.field, each.reason, each.message)
    rules.evaluate(object_, old)            # as an update, with transition rules

Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel. The object must be defaulted, pruned and valid except for its rules.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kcheck.cel.eval.program import CALL_LIMIT, LATEST, Program
from kcheck.cel.kubernetes.environments import environment_of
from kcheck.cel.language.issues import Issue
from kcheck.cel.schema.declarations import CelShape, Schema, is_resource, properties_of, shape_of, with_metadata
from kcheck.cel.schema.field_paths import BadFieldPath, normalize
from kcheck.cel.schema.native_values import read_value
from kcheck.cel.values.types import BOOL, STRING
from kcheck.cel.values.values import NONE, EvaluationError, Optional, Value
from kcheck.finding.problem import Reason
from kcheck.kube.names import GENERATED_BASE
from kcheck.kube.object_change import is_equal
from kcheck.text.record import NamedTuple

BUDGET = 10_000_000
"""The maximum cost of all rules of one object (celconfig.RuntimeCELCostBudget)."""

_MAX_MESSAGE_BYTES = 5 * 1024


@dataclass(frozen=True, slots=True)
class RuleViolation:
    """`field`: as the API server reports it, `<nil>` for the object itself. `reason`: Invalid, Forbidden, Required or Duplicate.

    `rule`: the violated expression. `path`: keys and indices from the object to the field's holder.
    """

    field: str
    reason: Reason
    message: str
    rule: str
    path: tuple[str | int, ...]


class CompiledRule:
    """One compiled rule: its program, or its issues."""

    __slots__ = ("field_path", "fits", "issues", "message", "message_program", "optional_old", "program", "reason", "text", "uses_old")

    def __init__(self, raw: Mapping[str, Any], schema: Schema, shape: CelShape, minor: int) -> None:
        self.text = _string(raw, "rule")
        self.message = _string(raw, "message")
        self.optional_old = raw.get("optionalOldSelf") is True
        self.reason: Reason = _REASONS.get(_string(raw, "reason"), "Invalid")
        environment = environment_of(shape, self.optional_old, minor)
        compiled = environment.compile(self.text)
        self.issues: tuple[Issue, ...] = () if isinstance(compiled, Program) else compiled
        self.program = compiled if isinstance(compiled, Program) and compiled.type is BOOL else None
        self.uses_old = isinstance(compiled, Program) and compiled.uses("oldSelf")
        message = environment.compile(_string(raw, "messageExpression")) if _string(raw, "messageExpression").strip() else None
        self.message_program = message if isinstance(message, Program) and message.type is STRING else None
        try:
            self.field_path = normalize(_string(raw, "fieldPath"), schema)
        except BadFieldPath:
            self.field_path = ""

    @property
    def fallback(self) -> str:
        """The message of the API server for a violation without a messageExpression."""
        return self.message.strip() or f"failed rule: {self.text.strip()}"


class ObjectRules:
    """The rules of a schema and of the schemas below it."""

    __slots__ = ("additional", "all_of", "items", "properties", "resource", "rules", "shape")

    def __init__(self, shape: CelShape) -> None:
        self.shape = shape
        self.resource = False
        self.rules: list[CompiledRule] = []
        self.properties: dict[str, ObjectRules] = {}
        self.items: ObjectRules | None = None
        self.additional: ObjectRules | None = None
        self.all_of: list[ObjectRules] = []

    def evaluate(self, object_: Any, old: Any = None) -> list[RuleViolation]:
        """The violations of an object, in the order of the schema. `old`: the stored object that it replaces, None for a new object."""
        return list(self._visit(_named(object_) if self.resource else object_, old, (), "", _Meter()))

    def _visit(self, raw: Any, old: Any, path: tuple[str | int, ...], field: str, meter: _Meter) -> Iterator[RuleViolation]:
        if raw is None or meter.left < 0:
            return
        if self.rules:
            yield from self._judge(raw, old, path, field, meter)
        for inner, value, way, name in self._below(raw, path, field):
            before = None if old is None else old if way == path else correlated(old, raw, way[-1], self.shape.schema)
            yield from inner._visit(value, before, way, name, meter)

    def _below(self, raw: Any, path: tuple[str | int, ...], field: str) -> Iterator[tuple[ObjectRules, Any, tuple[str | int, ...], str]]:
        """Yield the rules of the parts of a value, each with the part, its path and its field."""
        for each in self.all_of:
            yield each, raw, path, field
        if isinstance(raw, list):
            if self.items is not None:
                for place, item in enumerate(raw):
                    yield self.items, item, (*path, place), f"{field}[{place}]"
        elif isinstance(raw, dict):
            if self.additional is not None:
                for key, value in raw.items():
                    yield self.additional, value, (*path, key), f"{field}[{key}]"
            for name, inner in self.properties.items():
                if name in raw:
                    yield inner, raw[name], (*path, name), f"{field}.{name}" if field else name

    def uncompiled(self, raw: Any, path: tuple[str | int, ...] = (), field: str = "") -> Iterator[tuple[str, str, tuple[str | int, ...]]]:
        """Yield rules for a value that do not compile: the field, the reason, and the path."""
        if raw is None:
            return
        for rule in self.rules:
            if rule.program is None:
                yield field, str(rule.issues[0]) if rule.issues else "the rule must return bool", path
        for inner, value, way, name in self._below(raw, path, field):
            yield from inner.uncompiled(value, way, name)

    def _judge(self, raw: Any, old: Any, path: tuple[str | int, ...], field: str, meter: _Meter) -> Iterator[RuleViolation]:
        try:
            value = read_value(raw, self.shape)
            old_value = read_value(old, self.shape) if old is not None else None
        except EvaluationError:
            return
        is_unchanged = old is not None and is_equal(old, raw)
        for rule in self.rules:
            program = rule.program
            # An unchanged value keeps the violations of rules that do not compare (CRDValidationRatcheting).
            if program is None or (is_unchanged if not rule.uses_old else old is None and not rule.optional_old):
                continue
            variables = {"self": value, "oldSelf": old_value}
            if rule.optional_old:
                variables["oldSelf"] = NONE if old is None else Optional(old_value)
            fault = ""
            holds = False
            try:
                holds = program.evaluate(variables) is True
            except EvaluationError as error:
                fault = f"{error.message} evaluating rule: {rule.message.strip() or rule.text.strip()}"  # as the API server writes it
            meter.left -= program.spent
            if meter.left < 0 or program.spent > CALL_LIMIT:
                meter.left = -1
                yield RuleViolation(
                    field or "<nil>", "Invalid", "the CEL validation rules exceed the runtime cost limit of the API server", rule.text, path
                )
                return
            if fault:
                yield RuleViolation(field or "<nil>", "Invalid", fault, rule.text, path)
            elif not holds:
                yield self._violation(rule, variables, path, field, meter)

    def _violation(
        self, rule: CompiledRule, variables: Mapping[str, Value], path: tuple[str | int, ...], field: str, meter: _Meter
    ) -> RuleViolation:
        message = _message(rule, variables, meter)
        if rule.field_path:
            field = f"{field}.{rule.field_path}" if field else rule.field_path
        return RuleViolation(field or "<nil>", rule.reason, message or rule.fallback, rule.text, path)


def correlated(old: Any, new: Any, key: str | int, schema: Schema) -> Any:
    """The part of an old value that corresponds to the part of the new value at a key; None if there is none.

    Items of lists correspond only if their keys distinguish them. Source: CorrelatedObject (k8s.io/apiserver, pkg/cel/common).
    """
    if isinstance(key, str):
        return old.get(key) if isinstance(old, dict) else None
    keys = schema.get("x-kubernetes-list-map-keys")
    if schema.get("x-kubernetes-list-type") != "map" or not isinstance(keys, list) or not isinstance(old, list):
        return None
    item = new[key]
    if not isinstance(item, dict):
        return None
    return next((each for each in old if isinstance(each, dict) and all(each.get(name) == item.get(name) for name in keys)), None)


class _Meter:
    """The rest of the cost budget; negative when it is exceeded."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = BUDGET


_REASONS: dict[str, Reason] = {"FieldValueForbidden": "Forbidden", "FieldValueRequired": "Required", "FieldValueDuplicate": "Duplicate"}


def find_rules(
    schema: Schema,
    minor: int = LATEST,
    resource: bool = True,
    refused: Collection[int] = frozenset(),
    ruled: Collection[int] | None = None,
) -> ObjectRules | None:
    """The rules of a schema, None where there are none. `resource`: whether it describes whole objects with apiVersion, kind and metadata.

    `refused`: the ids of rules (their maps) that the API server rejects and that are left out. `ruled`: the result of `ruled_schemas`, if
    known.
    """
    if ruled is None:
        ruled = ruled_schemas(schema)
    shape = shape_of(schema, resource, "selfType") if ruled else None
    if shape is None:
        return None
    found = _build(schema, with_metadata(schema) if resource else schema, shape, minor, _Kept(ruled, refused))
    found.resource = resource
    return found


def ruled_schemas(schema: Schema) -> set[int]:
    """The ids of the schemas that have rules themselves or below, including places where rules are not allowed."""
    found: set[int] = set()
    _mark(schema, found)
    return found


def _mark(schema: Schema, ruled: set[int]) -> bool:
    marked = bool(schema.get("x-kubernetes-validations"))
    for key in _INNER.intersection(schema):
        value = schema[key]
        if value.__class__ is dict:
            value = value.values() if key == "properties" else (value,)
        elif value.__class__ is not list:
            continue
        for each in value:
            # Most schemas are those of scalars, without these keys.
            if each.__class__ is dict and not _RELEVANT.isdisjoint(each) and _mark(each, ruled):
                marked = True
    if marked:
        ruled.add(id(schema))
    return marked


_INNER = frozenset({"properties", "items", "additionalProperties", "allOf", "oneOf", "anyOf", "not"})
_RELEVANT = _INNER | {"x-kubernetes-validations"}


def _list(value: Any) -> list[Any]:
    """The value, or an empty list where it is not a list. Other checks report an invalid definition."""
    return value if isinstance(value, list) else []


class _Kept(NamedTuple):
    """`ruled`: see ruled_schemas; `refused`: rules that are left out; both by id."""

    ruled: Collection[int]
    refused: Collection[int]


def _build(schema: Schema, node: Schema, shape: CelShape, minor: int, kept: _Kept) -> ObjectRules:
    """`schema`: the schema with the rules; `node`: the schema that declares the values, which within allOf is the outer one."""
    ruled = kept.ruled
    found = ObjectRules(shape)
    for raw in _list(schema.get("x-kubernetes-validations")):
        if isinstance(raw, dict) and _string(raw, "rule").strip() and id(raw) not in kept.refused:
            found.rules.append(CompiledRule(raw, node, shape, minor))
    items, declared = schema.get("items"), node.get("items")
    if isinstance(items, dict) and id(items) in ruled and isinstance(declared, dict) and shape.element is not None:
        found.items = _build(items, declared, shape.element, minor, kept)
    additional, declared = schema.get("additionalProperties"), node.get("additionalProperties")
    if isinstance(additional, dict) and id(additional) in ruled and isinstance(declared, dict) and shape.element is not None:
        found.additional = _build(additional, declared, shape.element, minor, kept)
    declared = properties_of(node)
    for name, inner in properties_of(schema).items():
        if id(inner) in ruled and isinstance(declared.get(name), dict):
            inner_shape = shape.of_property(name) or shape_of(declared[name], is_resource(declared[name]), f"{shape.type.name}.{name}")
            if inner_shape is not None:
                found.properties[name] = _build(inner, declared[name], inner_shape, minor, kept)
    for each in _list(schema.get("allOf")):
        if id(each) in ruled:
            found.all_of.append(_build(each, node, shape, minor, kept))
    return found


def _named(object_: Any) -> Any:
    """The object with a name generated from generateName, as in the API server before it evaluates rules."""
    metadata = object_.get("metadata") if isinstance(object_, dict) else None
    if not isinstance(metadata, dict) or metadata.get("name") or not isinstance(metadata.get("generateName"), str):
        return object_
    return {**object_, "metadata": {**metadata, "name": metadata["generateName"][:GENERATED_BASE] + "x" * 5}}


def _message(rule: CompiledRule, variables: Mapping[str, Value], meter: _Meter) -> str:
    """The result of messageExpression; "" where the API server uses `message` instead."""
    if rule.message_program is None:
        return ""
    try:
        text = rule.message_program.evaluate(variables)
    except EvaluationError:
        return ""
    finally:
        meter.left -= rule.message_program.spent
    text = text.strip() if isinstance(text, str) else ""
    return "" if "\n" in text or len(text.encode()) > _MAX_MESSAGE_BYTES else text


def _string(raw: Mapping[str, Any], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""

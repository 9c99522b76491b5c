"""Validation of the rules (x-kubernetes-validations) of the schema of a CRD: fields, types and cost.

    for each in check_rules(schema): print(each.field, each.reason, each.message)

Source: k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation. Fields are relative to the schema
(`properties[spec].x-kubernetes-validations[0].rule`). The schema must be structural; its other problems are not reported here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kcheck.cel.cost.cost import estimate_cost
from kcheck.cel.cost.size_estimate import MAX_COST, capped
from kcheck.cel.eval.program import LATEST, Program
from kcheck.cel.kubernetes.environments import environment_of
from kcheck.cel.kubernetes.rule_evaluation import ruled_schemas
from kcheck.cel.schema.declarations import CelShape, Schema, is_resource, properties_of, shape_of
from kcheck.cel.schema.field_paths import BadFieldPath, normalize
from kcheck.cel.values.types import BOOL, STRING
from kcheck.finding.problem import Reason
from kcheck.text.complaint import Complaint

RULE_LIMIT = 10_000_000
SCHEMA_LIMIT = 100_000_000
_REQUEST = 3 * 1024 * 1024
_MAX_REPORTED = 4
_NESTED = ("allOf", "oneOf", "anyOf", "not")
_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")


@dataclass(frozen=True, slots=True)
class RuleFault:
    """`field`: below the schema, "" for itself. `reason`: Required, Invalid, NotSupported, Forbidden or Internal.

    `path`: keys and indices to the node. `offset`: in the expression, None for the whole field.
    """

    field: str
    reason: Reason
    message: str
    path: tuple[str | int, ...]
    offset: int | None = None


def check_rules(schema: Schema, minor: int = LATEST, ruled: Collection[int] | None = None) -> list[RuleFault]:
    """The faults of all rules in an openAPIV3Schema. `minor`: the version 1.N of the API server.

    `ruled`: the result of `ruled_schemas`, if known.
    """
    if ruled is None:
        ruled = ruled_schemas(schema)
    if not ruled:
        return []
    checker = _RuleChecker(minor, ruled)
    checker.visit(schema, "", (), shape_of(schema, True, "selfType"), 1, "")
    return [*checker.faults, *checker.total_faults()]


def refused_rules(schema: Schema, minor: int = LATEST, ruled: Collection[int] | None = None) -> frozenset[int]:
    """The ids of the rules (their maps) that exceed the cost limit, so that the API server rejects the definition."""
    found = set()
    for fault in check_rules(schema, minor, ruled):
        if fault.reason == "Forbidden" and fault.path:
            raw: Any = schema
            for step in fault.path[:-1]:
                raw = raw[step]
            found.add(id(raw))
    return frozenset(found)


class _RuleChecker:
    def __init__(self, minor: int, ruled: Collection[int]) -> None:
        self.minor = minor
        self.ruled = ruled
        self.faults: list[RuleFault] = []
        self.costs: list[tuple[int, str, tuple[str | int, ...]]] = []

    def visit(
        self, schema: Schema, field: str, path: tuple[str | int, ...], shape: CelShape | None, cardinality: int | None, loose: str
    ) -> bool:  # fmt: skip
        """Check a schema and all below; whether the fields of all rules are valid. `cardinality`: the maximum number of its values.

        `loose`: the path of the outer schema whose values the API server cannot find in the old object, "" for none.
        """
        good = True
        spread = _spread(schema, cardinality)
        map_type = schema.get("x-kubernetes-map-type")
        inner_loose = loose or (field or "." if map_type not in (None, "granular", "atomic") else "")
        for name, inner in properties_of(schema).items():
            if id(inner) in self.ruled:
                child = (shape.of_property(name) if shape is not None else None) or shape_of(inner, is_resource(inner), name)
                good &= self.visit(inner, _join(field, f"properties[{name}]"), (*path, "properties", name), child, spread, inner_loose)
        element = shape.element if shape is not None else None
        items = schema.get("items")
        if isinstance(items, dict) and id(items) in self.ruled:
            here = loose or ("" if schema.get("x-kubernetes-list-type") == "map" else _join(field, "items"))
            good &= self.visit(items, _join(field, "items"), (*path, "items"), element, spread, here)
        additional = schema.get("additionalProperties")
        if isinstance(additional, dict) and id(additional) in self.ruled:
            here = _join(field, "additionalProperties")
            good &= self.visit(additional, here, (*path, "additionalProperties"), element, spread, inner_loose)
        for fault in _forms_only(schema, field, path):
            self.faults.append(fault)
            good = False
        rules = schema.get("x-kubernetes-validations")
        # Other checks report rules that are not a list.
        if rules and isinstance(rules, list):
            forms = list(_forms(rules, schema, field, path))
            self.faults += forms
            good = good and not forms
            if good:
                self.compile(rules, field, path, shape, cardinality, loose)
        return good

    def compile(
        self, rules: list[Any], field: str, path: tuple[str | int, ...], shape: CelShape | None, cardinality: int | None, loose: str
    ) -> None:
        if shape is None:
            message = Complaint("x-kubernetes-validations requires a schema with a type", "add type, or remove the rules")
            self.fault(_join(field, "x-kubernetes-validations"), "Internal", message, (*path, "x-kubernetes-validations"))
            return
        for place, raw in enumerate(rules):
            if not isinstance(raw, dict):
                continue
            base = _join(field, f"x-kubernetes-validations[{place}]")
            here = (*path, "x-kubernetes-validations", place)
            optional = raw.get("optionalOldSelf")
            environment = environment_of(shape, optional is True, self.minor)
            compiled = environment.compile(_text(raw, "rule"))
            uses_old = self.expression(compiled, base, here, "rule", shape, cardinality)
            if optional is not None and not uses_old:
                message = Complaint("optionalOldSelf has no effect because the rule does not use oldSelf", "remove it")
                self.fault(f"{base}.optionalOldSelf", "Invalid", message, (*here, "optionalOldSelf"))
            # The API server only checks messageExpression if the rule is valid.
            if _text(raw, "messageExpression").strip() and isinstance(compiled, Program) and compiled.type is BOOL:
                self.expression(environment.compile(_text(raw, "messageExpression")), base, here, "messageExpression", shape, 1)
            if uses_old and loose:
                what = "oldSelf cannot be used here, because the API server cannot match the value with one of the old object"
                message = Complaint(what, "remove oldSelf, or set x-kubernetes-list-type: map on the list")
                self.fault(f"{base}.rule", "Invalid", message, (*here, "rule"))

    def expression(self, compiled: Any, base: str, path: tuple[str | int, ...], key: str, shape: CelShape, cardinality: int | None) -> bool:
        """Check one expression; whether it uses oldSelf."""
        field, place = f"{base}.{key}", (*path, key)
        if not isinstance(compiled, Program):
            issue = compiled[0]
            self.faults.append(RuleFault(field, "Invalid", f"compilation failed: {issue}", place, issue.offset if issue.line else None))
            return False
        wanted, name = (BOOL, "bool") if key == "rule" else (STRING, "string")
        if compiled.type is not wanted:
            self.fault(field, "Invalid", f"{key} must return {name}, not {compiled.type!r}", place)
            return False
        cost = _estimate(compiled, shape, self.minor)
        cost = capped(cost * (_REQUEST // (shape.least + 1) if cardinality is None else cardinality))
        if cost > RULE_LIMIT:
            self.fault(field, "Forbidden", _excess(f"the estimated cost of this {key}", cost, RULE_LIMIT), place)
        self.costs.append((cost, field, place))
        return compiled.uses("oldSelf")

    def fault(self, field: str, reason: Reason, message: str, path: tuple[str | int, ...]) -> None:
        self.faults.append(RuleFault(field, reason, message, path))

    def total_faults(self) -> Iterator[RuleFault]:
        """Yield the rules that contribute most where all rules together exceed the cost limit."""
        total = sum(cost for cost, _, _ in self.costs)
        if total > SCHEMA_LIMIT:
            dearest = sorted((each for each in self.costs if each[0] >= SCHEMA_LIMIT // 100), key=lambda each: -each[0])[:_MAX_REPORTED]
            for _, field, path in dearest:
                message = "the rule contributes to a total estimated cost of all rules that exceeds the limit of the API server"
                yield RuleFault(field, "Forbidden", message, path)
            yield RuleFault("", "Forbidden", _excess("the estimated cost of all rules together", min(total, MAX_COST), SCHEMA_LIMIT), ())


def _estimate(program: Program, shape: CelShape, minor: int) -> int:
    """The estimated maximum cost of an expression, cached for all places that share its schema."""
    key = (id(program), id(shape.schema), minor)
    found = _estimates.get(key)
    if found is None:
        if len(_estimates) > 4096:
            _estimates.clear()
        # Both objects are stored as well, so that their ids are not reused.
        found = _estimates[key] = (program, shape.schema, estimate_cost(program.expr, shape, minor=minor))
    return found[2]


_estimates: dict[tuple[int, int, int], tuple[Program, Schema, int]] = {}


def _forms_only(schema: Schema, field: str, path: tuple[str | int, ...]) -> Iterator[RuleFault]:
    """The faults of fields of rules within allOf, oneOf, anyOf and not, whose expressions the API server does not check."""
    for key in _NESTED:
        nested = schema.get(key)
        for place, each in enumerate(_listed(nested)):
            if isinstance(each, dict):
                step = f"{key}[{place}]" if isinstance(nested, list) else key
                here = (*path, key, place) if isinstance(nested, list) else (*path, key)
                rules = each.get("x-kubernetes-validations")
                yield from _forms(rules if isinstance(rules, list) else (), each, _join(field, step), here)
                yield from _forms_only(each, _join(field, step), here)


def _forms(rules: Sequence[Any], schema: Schema, field: str, path: tuple[str | int, ...]) -> Iterator[RuleFault]:
    for place, raw in enumerate(rules):
        if not isinstance(raw, dict):
            continue
        base = _join(field, f"x-kubernetes-validations[{place}]")
        for key, reason, message in _form(raw, schema):
            yield RuleFault(f"{base}.{key}", reason, message, (*path, "x-kubernetes-validations", place, key))


def _form(raw: Mapping[str, Any], schema: Schema) -> Iterator[tuple[str, Reason, str]]:
    rule, message, expression = _text(raw, "rule"), _text(raw, "message"), _text(raw, "messageExpression")
    if not rule.strip():
        yield "rule", "Required", "rule is required"
    elif message and not message.strip():
        yield "message", "Invalid", "message is only whitespace"
    elif "\n" in message.strip():
        yield "message", "Invalid", "message has line breaks"
    elif "\n" in rule.strip() and not message.strip():
        yield "message", "Required", "message is required for a rule with line breaks"
    if expression and not expression.strip():
        yield "messageExpression", "Required", "messageExpression is only whitespace"
    reason = raw.get("reason")
    if reason is not None and reason not in _REASONS:
        yield "reason", "NotSupported", Complaint(f'reason "{reason}" is not supported', f"use one of {', '.join(_REASONS)}")
    path = _text(raw, "fieldPath")
    if path and not path.strip():
        yield "fieldPath", "Invalid", "fieldPath is only whitespace"
    if "\n" in path:
        yield "fieldPath", "Invalid", "fieldPath has line breaks"
    if path:
        try:
            normalize(path, schema)
        except BadFieldPath as error:
            yield "fieldPath", "Invalid", f"fieldPath is not valid: {error}"


def _excess(what: str, cost: int, limit: int) -> str:
    factor = cost / limit
    times = "more than 100x" if factor > 100 else f"{factor:.1f}x"
    message = f"{what} exceeds the limit of the API server by {times}"
    return Complaint(message, "simplify the expression, or set maxItems, maxProperties and maxLength on the fields that it reads")


def _spread(schema: Schema, cardinality: int | None) -> int | None:
    """The maximum number of parts of the values of a schema, given the maximum number of values; None for unknown."""
    kind = schema.get("type")
    if kind == "object" and schema.get("additionalProperties") is not None:
        return _times(cardinality, schema.get("maxProperties"))
    return _times(cardinality, schema.get("maxItems")) if kind == "array" else cardinality


def _times(cardinality: int | None, most: Any) -> int | None:
    if cardinality is None or not isinstance(most, (int, float)):
        return None
    return capped(cardinality * max(0, int(most)))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if isinstance(value, dict) else []


def _join(field: str, step: str) -> str:
    return f"{field}.{step}" if field else step


def _text(raw: Mapping[str, Any], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""

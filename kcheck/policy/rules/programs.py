"""The compiled expressions of short rules, and their static types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kcheck.cel.eval.program import LATEST, Environment, Program
from kcheck.cel.kubernetes.expressions import source_offset
from kcheck.cel.kubernetes.policies import NAMESPACE, REQUEST
from kcheck.cel.language.declarations import Overload
from kcheck.cel.language.issues import Issue
from kcheck.cel.language.syntax import Call, Comprehension, Expr, Ident, Literal, Select
from kcheck.cel.library import relations
from kcheck.cel.values.types import BOOL, DYN, ERROR, STRING, Type, list_of
from kcheck.policy.admission.expression_analysis import UNKNOWN, ExpressionAnalysis
from kcheck.policy.resource_names import ResourceName
from kcheck.policy.rules.cel_types import ShapeFields, cel_type
from kcheck.policy.rules.definitions import RuleExpression, ShortRule
from kcheck.policy.rules.explanations import Context, FieldMisses, explained
from kcheck.policy.rules.scopes import ResolvedScope
from kcheck.policy.verdict import Path
from kcheck.schema.shape import Field, Shape
from kcheck.schema.store import Store
from kcheck.text.mistake import Mistake
from kcheck.text.record import NamedTuple

_UNDECLARED = re.compile(r"undeclared reference to '([^']+)'")
RELATIONS_TYPE = relations.TYPE
OBJECTS = "objects"
"""The variable with the objects of the input by kind: `objects.Service` is a list."""


RELATIONS = "@relations"
"""The hidden variable that functions such as podsOf receive."""


def _environment(whole: Type, value: Type, objects: Type = DYN, pod: Type = DYN, service: Type = DYN, other: Type = DYN) -> Environment:
    source = Type("opaque", RELATIONS_TYPE)
    named = {
        "object": whole, "oldObject": whole, "self": value, "request": REQUEST, "namespaceObject": NAMESPACE, OBJECTS: objects,
        RELATIONS: source,
    }  # fmt: skip
    results = {"podsOf": list_of(pod), "servicesOf": list_of(service), "ownerOf": DYN, "namespaceOf": NAMESPACE}
    functions = {
        name: Overload(name, name, "relations", 0, False, (source, DYN), results.get(name, list_of(other)), ()) for name in relations.NAMES
    }
    return Environment(named, LATEST, functions=functions, context=RELATIONS)


_untyped = _environment(DYN, DYN)


class RulePrograms:
    """The expressions of a rule, compiled for evaluation: as in the API server, the types of fields are known only then.

    `check_rule` has found the errors before, so a fault here is an error of the program.
    """

    def __init__(self, rule: ShortRule) -> None:
        self.when = compiled(rule.when) if rule.when is not None else None
        self.check = compiled(rule.check)
        self.at = compiled(rule.at) if rule.at is not None else None
        self.message = [each if isinstance(each, str) else compiled(each) for each in rule.message]
        self.help = [each if isinstance(each, str) else compiled(each) for each in rule.help]
        self.fix = [
            (step.action, path, compiled(step.value) if step.value is not None else None)
            for step in rule.fix
            if (path := field_path(compiled(step.path).expr)) is not None
        ]


def compiled(expression: RuleExpression) -> Program:
    """Return the program of an expression that has been checked."""
    found = _untyped.compile(expression.text)
    if isinstance(found, Program):
        return found
    raise ValueError(f"{expression.text}: {found[0]}")


def kinds_read(rule: ShortRule) -> set[str]:
    """Return the kinds whose objects the expressions of a rule read: `objects.Service`."""
    found: set[str] = set()
    for _, expression in rule.expressions():
        program = _untyped.compile(expression.text)
        todo = [program.expr] if isinstance(program, Program) else []
        while todo:
            each = todo.pop()
            if isinstance(each, Select) and isinstance(each.operand, Ident) and each.operand.name == OBJECTS:
                found.add(each.field)
            todo += [each.over, *each.parts] if isinstance(each, Comprehension) else each.children
    return found


def uses_relations(rule: ShortRule) -> bool:
    """Return whether expressions of a rule call a function such as podsOf."""
    programs = (_untyped.compile(expression.text) for _, expression in rule.expressions())
    return any(isinstance(each, Program) and each.uses(RELATIONS) for each in programs)


class _KindFields:
    """The variable `objects`: a list of each kind. Unknown kinds are recorded in `misses`."""

    def __init__(self, store: Store, misses: FieldMisses) -> None:
        self._store = store
        self._misses = misses

    def is_escaped(self, name: str) -> bool:
        return False

    def field(self, name: str) -> Type | None:
        versions = self._store.versions_of(name)
        if not versions:
            self._misses.of(OBJECTS).record(name, self._store.kind_like(name) or "")
            return None
        builtin = self._store.builtin(versions[0], name) if len(versions) == 1 else None
        return list_of(cel_type(builtin.shape if builtin is not None else None, self._misses.of(name)))


class FieldPath(NamedTuple):
    """The keys of a field that an expression names. `is_relative`: from `self`, otherwise from `object`."""

    keys: Path
    is_relative: bool


def field_path(expr: Expr) -> FieldPath | None:
    """Return the field that an expression such as `self.ports[0].name` names, None for any other expression."""
    keys: list[str | int] = []
    while not isinstance(expr, Ident):
        if isinstance(expr, Select) and not expr.test:
            keys.append(expr.field)
            expr = expr.operand
        elif isinstance(expr, Call) and expr.function == "_[_]" and isinstance(index := expr.args[1], Literal):
            if not isinstance(index.value, (str, int)) or isinstance(index.value, bool):
                return None
            keys.append(index.value)
            expr = expr.args[0]
        else:
            return None
    return FieldPath(tuple(reversed(keys)), expr.name == "self") if expr.name in ("object", "self") and keys else None


_ANY_KIND = ResourceName("", "", "", "", True)
_ANY_OBJECT = "an object"


class _RuleTarget:
    """The types of the variables of a rule for one kind, or for one API type in any kind."""

    def __init__(
        self, store: Store, title: str, whole: Shape | None, value: Shape | None, name: ResourceName | None, every: bool = False
    ) -> None:  # fmt: skip
        self.title = title
        self.misses = FieldMisses(title)
        whole_type = _any_object(self.misses.of(_ANY_OBJECT)) if every else cel_type(whole, self.misses)
        objects = Type("object", OBJECTS, fields=_KindFields(store, self.misses))
        pod, service = (
            cel_type(builtin.shape if (builtin := store.builtin("v1", kind)) is not None else None, self.misses.of(kind))
            for kind in ("Pod", "Service")
        )
        own = whole_type if value is None else cel_type(value, self.misses)
        self.environment = _environment(whole_type, own, objects, pod, service, _any_object(self.misses.of(_ANY_OBJECT)))
        self.name = name
        self.shape = whole
        self.own = value

    def analysis(self) -> ExpressionAnalysis | None:
        """Return an analysis of expressions for this kind or type, None if nothing is known of it."""
        if self.own is not None:
            return ExpressionAnalysis(_ANY_KIND, Shape("any"), {}, frozenset(), self.own)
        if self.name is None or self.shape is None:
            return None
        return ExpressionAnalysis(self.name, self.shape, {}, frozenset())


def check_rule(rule: ShortRule, store: Store) -> Iterator[Mistake]:
    """Yield the errors of a rule: unknown kinds and fields, wrong types, and a check that never fails."""
    scope = ResolvedScope(rule.scope, store)
    for _, message in scope.faults:
        yield _mistake(rule, rule.scope_node.start, message)
    if scope.faults:
        return
    targets = _targets(scope, store)
    seen: set[tuple[int, str]] = set()
    values: list[object] = []
    for target in targets:
        for role, expression in rule.expressions():
            for offset, message in _faults(role, expression, target, len(targets) > 1):
                at = _offset(rule, expression, offset)
                if (at, message) not in seen and not any(place == at for place, _ in seen):
                    seen.add((at, message))
                    yield _mistake(rule, at, message)
        values.append(_constant(rule.check, target))
    if values and all(value is True for value in values) and not seen:
        yield _mistake(rule, _offset(rule, rule.check, 0), "this check never fails")


def _targets(scope: ResolvedScope, store: Store) -> list[_RuleTarget]:
    found = []
    if scope.types:
        return [_RuleTarget(store, each, None, store.definitions.shape(each), None, every=True) for each in scope.types]
    for name, shape in scope.described_kinds():
        version = name.api_version
        found.append(_RuleTarget(store, f"{version} {name.kind}", shape, None, name))
    return found or [_RuleTarget(store, "objects of all kinds", None, None, None, every=True)]


def _any_object(misses: FieldMisses) -> Type:
    """Return the type of an object of any kind: its metadata is known, all other fields are dyn."""
    return Type("object", "object", fields=_CommonFields(misses))


_TEXT = Field(Shape("string"))
_TEXTS = Field(Shape("map", items=Shape("string")))
_METADATA = Shape("object", "metadata", fields={
    **dict.fromkeys(("name", "generateName", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"), _TEXT),
    "labels": _TEXTS, "annotations": _TEXTS, "generation": Field(Shape("integer")),
    "finalizers": Field(Shape("list", items=Shape("string"))),
    "ownerReferences": Field(Shape("any")), "managedFields": Field(Shape("any")), "selfLink": _TEXT,
    "deletionGracePeriodSeconds": Field(Shape("integer")),
})  # fmt: skip


class _CommonFields:
    """The fields of an object whose kind is not known."""

    def __init__(self, misses: FieldMisses) -> None:
        self._misses = misses

    def is_escaped(self, name: str) -> bool:
        return False

    def field(self, name: str) -> Type | None:
        if name == "metadata":
            return Type("object", "metadata", fields=ShapeFields(_METADATA, self._misses.below(name)))
        return STRING if name in ("apiVersion", "kind") else DYN


_WANTED: Mapping[str, Type] = {"when": BOOL, "check": BOOL}


def _faults(role: str, expression: RuleExpression, target: _RuleTarget, several: bool) -> Iterator[tuple[int, str]]:
    """Yield the errors of an expression, with their offsets in it."""
    target.misses.found.clear()
    found = target.environment.compile(expression.text)
    if not isinstance(found, Program):
        context = Context(target.misses, target.shape, target.own)
        # Further errors often follow from the first.
        issue = next((each for each in found if repr(ERROR) not in each.message), found[0])
        yield _word_start(issue, expression.text), explained(issue, expression.text, context)
        return
    wanted = _WANTED.get(role)
    if wanted is not None and found.type is not wanted and found.type is not DYN:
        yield 0, f"{role} must be true or false, but its type is {found.type!r}"
    if role == "at" and not has_fields(found):
        yield 0, "at must read a field, such as object.spec.replicas"
    if role == "field" and field_path(found.expr) is None:
        yield 0, "a fix changes a field, such as object.spec.replicas or self.image"
    analysis = target.analysis()
    if analysis is not None:
        analysis.analyse(found.expr)
        for problem in analysis.problems:
            if problem.rule == "policy-type-mismatch":
                of = f" in {target.title}" if several else ""
                yield problem.at, f"{problem.message}{of}{f'; {problem.help}' if problem.help else ''}"


def has_fields(program: Program) -> bool:
    """Return whether an expression reads a variable with the object."""
    return any(program.uses(name) for name in ("object", "self"))


def _constant(expression: RuleExpression, target: _RuleTarget) -> object:
    found = target.environment.compile(expression.text)
    analysis = target.analysis()
    return UNKNOWN if analysis is None or not isinstance(found, Program) else analysis.analyse(found.expr).value


def _word_start(issue: Issue, text: str) -> int:
    """Return the offset of an error; of an unknown function the offset of its name instead of that of its parenthesis."""
    undeclared = _UNDECLARED.search(issue.message)
    start = issue.offset - len(undeclared[1]) if undeclared is not None else -1
    return start if undeclared is not None and start >= 0 and text.startswith(undeclared[1], start) else issue.offset


def _offset(rule: ShortRule, expression: RuleExpression, offset: int) -> int:
    """Return the offset in the file of a character of an expression, or that of the expression if it is written in several lines."""
    found = source_offset(expression.node, expression.start + offset, rule.source.text)
    return expression.node.start if found is None else found


def _mistake(rule: ShortRule, offset: int, message: str) -> Mistake:
    line, column = rule.source.position(offset)
    return Mistake(rule.source.path, line, column, message)


def value_at(value: Any, path: Path) -> Any:
    """Return the value at a path in JSON, None if there is none."""
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return None
    return value

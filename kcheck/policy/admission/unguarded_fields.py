"""Expressions that fail with an error for valid objects without an optional field.

The expressions are evaluated for the smallest object of each kind (`minimal_objects`). If a field is missing, they are evaluated again with
its zero value: if the result is another verdict than that of the error, the author did not think of objects without the field.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from kcheck.cel.eval.program import Program
from kcheck.cel.language.syntax import Call, Comprehension, Expr, Ident, Literal, Select
from kcheck.cel.library.authorization import AUTHORIZER, RESOURCE
from kcheck.cel.values.values import EvaluationError, Undecided, Value
from kcheck.defaulting.objects import default_object
from kcheck.policy.admission.definitions import AdmissionPolicy, Expression
from kcheck.policy.admission.evaluation import Activation, CostExceeded
from kcheck.policy.admission.matched_kinds import MatchedKind
from kcheck.policy.admission.minimal_objects import minimal_object, minimal_value, zero_value
from kcheck.policy.admission.programs import PolicyPrograms
from kcheck.policy.admission.requests import UnknownValue
from kcheck.policy.tracing import ReadTrace
from kcheck.policy.verdict import Path
from kcheck.schema.shape import Shape
from kcheck.schema.store import Store
from kcheck.text.record import NamedTuple

_MAX_KINDS = 12
_MAX_FILLED = 6
_MAX_VARIANTS = 8
_MISSING = "no such key: "

_TRIAL_LIMIT = 50_000
"""The cost limit of one evaluation."""
TRIAL_BUDGET = 2_000_000
"""The cost limit of all evaluations for one policy."""


class TrialBudget:
    """The cost that the evaluations for a policy may have together. `left`: what is left of it."""

    def __init__(self) -> None:
        self.left = TRIAL_BUDGET

    def evaluate(self, program: Program, activation: Activation) -> Value:
        """Return the value of an expression. Raises EvaluationError, also if the limit is exceeded."""
        if self.left < 0:
            raise EvaluationError("the cost limit is exceeded")
        activation.frame.limit = activation.budget = _TRIAL_LIMIT
        try:
            return activation.evaluate(program)
        finally:
            self.left -= program.spent + 100


class UnguardedField(NamedTuple):
    """A valid object for which an expression fails with an error.

    Attributes:
        kind: The kind of the object.
        path: The missing field.
        expression: The match condition or validation.
        at: The offset of the field in `where`.
        where: The name of the variable that reads the field, "" if the expression itself does.
    """

    kind: str
    path: Path
    expression: Expression
    at: int
    where: str


def unguarded_fields(
    policy: AdmissionPolicy, programs: PolicyPrograms, kinds: tuple[MatchedKind, ...], store: Store
) -> Iterator[UnguardedField]:  # fmt: skip
    """Yield the optional fields that expressions read without a test, for the kinds that the rules of a policy name."""
    written = [each for each in kinds if each.operations & {"CREATE", "UPDATE"}]
    judged = [each for each in written if not each.subresource and (each.is_named or not each.wildcard.startswith("rule"))]
    budget = TrialBudget()
    for kind in judged[:_MAX_KINDS]:
        body = minimal_object(kind.name, kind.shape, store)
        if body is not None:
            yield from _Trial(policy, programs, kind, store, budget).fields(body)


class _Trial:
    """Evaluates the expressions of a policy for objects of one kind."""

    def __init__(self, policy: AdmissionPolicy, programs: PolicyPrograms, kind: MatchedKind, store: Store, budget: TrialBudget) -> None:
        self.budget = budget
        self.policy = policy
        self.programs = programs
        self.kind = kind
        self.store = store
        self.seen: set[tuple[int, Path]] = set()

    def fields(self, body: dict[str, Any]) -> Iterator[UnguardedField]:
        """Yield the fields for the smallest object, and for those with one more field that expressions test with has()."""
        todo, tried = [body], set[Path]()
        for number, each in enumerate(todo):
            held = default_object(each, self.store, namespace="default", creation=not number)
            absent: list[Path] = []
            yield from self._fields_of(held, absent)
            for path in absent:
                if path not in tried and len(todo) <= _MAX_VARIANTS:
                    tried.add(path)
                    value = minimal_value(_shape_at(self.kind.shape, path))
                    if isinstance(value, (dict, list)):
                        todo.append(_with(each, path, value))

    def _fields_of(self, held: dict[str, Any], absent: list[Path]) -> Iterator[UnguardedField]:
        found = None
        for expression, program in zip(self.policy.conditions, self.programs.conditions, strict=True):
            value, missing, filled = self._judge(program, held, absent)
            if value is False:
                return
            if found is None and missing and (self.policy.fails_closed or filled is True):
                found = self._field(expression, program, missing)
        if found is not None:
            yield found
            return
        wanted = self.policy.fails_closed
        for validation, (program, _) in zip(self.policy.validations, self.programs.validations, strict=True):
            _, missing, filled = self._judge(program, held, absent)
            if missing and filled is wanted:
                field = self._field(validation.expression, program, missing)
                if field is not None:
                    yield field

    def _judge(self, program: Program, held: dict[str, Any], absent: list[Path]) -> tuple[Value, Path, Value]:
        """Return the value of an expression, or the field that is missing and the value with its zero value; None if it is not known."""
        first: Path = ()
        for _ in range(_MAX_FILLED):
            trace = ReadTrace()
            activation = Activation(self.programs, values_of(self.kind, held), UnknownValue()).traced(self.programs, trace)
            try:
                value = self.budget.evaluate(program, activation)
            except Undecided:
                return None, (), None
            except (EvaluationError, CostExceeded) as error:
                path = trace.reads[-1] if trace.reads else ()
                message = str(getattr(error, "message", error))
                if not message.startswith(_MISSING) or not path or message != f"{_MISSING}{path[-1]}":
                    return None, (), None
                zero = zero_value(_shape_at(self.kind.shape, path))
                if zero is None:
                    return None, (), None
                first = first or path
                held = _with(held, path, zero)
                continue
            if not first:
                absent += [path for path in trace.reads if not _exists(held, path)]
            return (None, first, value) if first else (value, (), None)
        return None, (), None

    def _field(self, expression: Expression, program: Program, path: Path) -> UnguardedField | None:
        key = id(expression.node), path
        if key in self.seen:
            return None
        self.seen.add(key)
        wanted = str(path[-1])
        sources = [("", program.expr), *((name, each.expr) for name, each in self.programs.variables.items())]
        for name, expr in sources:
            at = _place_of(expr, wanted)
            if at is not None:
                return UnguardedField(self.kind.name.kind, path, expression, at, name)
        return UnguardedField(self.kind.name.kind, path, expression, 0, "")


def values_of(matched: MatchedKind, held: Mapping[str, Any]) -> Mapping[str, Value]:
    """Return the variables of expressions for a request to create an object, or else to update it without a change."""
    name = matched.name
    kind = {"group": name.group, "version": name.version, "kind": name.kind}
    resource = {"group": name.group, "version": name.version, "resource": name.plural}
    operation = "CREATE" if "CREATE" in matched.operations else "UPDATE"
    old = None if operation == "CREATE" else held
    request = {
        "kind": kind, "requestKind": kind, "resource": resource, "requestResource": resource, "operation": operation, "name": "example",
        "userInfo": UnknownValue(), "dryRun": False, "options": UnknownValue(), **({"namespace": "default"} if name.namespaced else {}),
    }  # fmt: skip
    return {
        "object": held, "oldObject": old, "request": request, "namespaceObject": UnknownValue() if name.namespaced else None,
        "authorizer": AUTHORIZER, "authorizer.requestResource": RESOURCE,
    }  # fmt: skip


def _place_of(expr: Expr, field: str) -> int | None:
    """Return the offset at which an expression reads a field, None if it does not."""
    todo = [expr]
    while todo:
        each = todo.pop(0)
        if isinstance(each, Select) and each.field == field and not each.test:
            return each.at
        if isinstance(each, Call) and each.function == "_[_]" and isinstance(each.args[1], Literal) and each.args[1].value == field:
            return each.at
        todo += [each.over, *each.parts] if isinstance(each, Comprehension) else [] if isinstance(each, Ident) else each.children
    return None


def _shape_at(shape: Shape | None, path: Path) -> Shape | None:
    for key in path:
        if shape is None:
            return None
        if shape.kind == "object":
            field = shape.fields.get(key) if isinstance(key, str) else None
            shape = field.shape if field is not None else None
        else:
            shape = shape.item_shape() if shape.kind in ("list", "map") else None
    return shape


def _exists(value: Any, path: Path) -> bool:
    for key in path:
        known = key in value if isinstance(value, Mapping) else isinstance(value, list) and isinstance(key, int) and key < len(value)
        if not known:
            return False
        value = value[key]
    return True


def _with(value: dict[str, Any], path: Path, inner: Any) -> dict[str, Any]:
    """Return a copy of an object with a further field."""
    found = copy.deepcopy(value)
    holder: Any = found
    for key in path[:-1]:
        if isinstance(holder, dict):
            holder = holder.setdefault(key, {})
        elif isinstance(holder, list) and isinstance(key, int) and key < len(holder):
            holder = holder[key]
    if isinstance(holder, dict):
        holder[path[-1]] = inner
    return found

"""The compiled expressions of an admission policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kcheck.cel.eval.program import LATEST, Program
from kcheck.cel.kubernetes.policies import PolicyCompiler
from kcheck.cel.language.issues import Issue
from kcheck.cel.values.values import EvaluationError, Value, View
from kcheck.policy.admission.definitions import AdmissionPolicy, Expression


class InvalidPolicy(Exception):
    """The API server refuses the policy: an expression does not compile."""

    def __init__(self, expression: Expression, issues: tuple[Issue, ...]) -> None:
        super().__init__(issues[0].message)
        self.expression = expression


class PolicyPrograms:
    """The expressions of a policy, compiled in the order of their dependencies. Raises InvalidPolicy.

    Attributes:
        conditions: The matchConditions.
        variables: The variables, by name.
        validations: The validations, with the program of messageExpression or None.
        annotations: The auditAnnotations.
        mutations: The mutations.
    """

    def __init__(self, policy: AdmissionPolicy, minor: int) -> None:
        self._minor = minor or LATEST
        has_params = policy.param_kind is not None
        bare = PolicyCompiler(has_params, False, False, self._minor)
        self.conditions = [_compiled(bare, each, "bool") for each in policy.conditions]
        compiler = PolicyCompiler(has_params, bool(policy.variables) or policy.is_mutating, policy.is_mutating, self._minor)
        self.variables: dict[str, Program] = {}
        for each in policy.variables:
            issues = compiler.declare(each.name, each.text)
            if issues:
                raise InvalidPolicy(each, issues)
        # Compiled again: the result of a declaration is only its type, and variables refer to earlier ones.
        declared = PolicyCompiler(has_params, bool(policy.variables) or policy.is_mutating, False, self._minor)
        for each in policy.variables:
            self.variables[each.name] = _compiled(declared, each, "any")
            declared.declare(each.name, each.text)
        self.validations: list[tuple[Program, Program | None]] = []
        for validation in policy.validations:
            message = validation.message_expression
            self.validations.append(
                (
                    _compiled(compiler, validation.expression, "bool"),
                    _compiled(compiler, message, "string", authorizer=False) if message is not None else None,
                )
            )
        self.annotations = [_compiled(compiler, each, "string or null") for each in policy.annotations]
        self.mutations = [
            _compiled(compiler, each, "patches" if patch_type == "JSONPatch" else "object") for patch_type, each in policy.mutations
        ]


def _compiled(compiler: PolicyCompiler, expression: Expression, result: str, authorizer: bool = True) -> Program:
    found = compiler.compile(expression.text, result, authorizer=authorizer)
    if isinstance(found, Program):
        return found
    raise InvalidPolicy(expression, found)


class Variables(View):
    """The variables of a policy for one object: each is evaluated when it is first read. `spent`: their accumulated cost."""

    __slots__ = ("_activation", "_known", "_programs", "spent")

    object_type = "kubernetes.variables"

    def __init__(self, programs: Mapping[str, Program], activation: Mapping[str, Value]) -> None:
        self._programs = programs
        self._activation = activation
        self._known: dict[str, tuple[bool, Any]] = {}
        self.spent = 0

    def __contains__(self, key: object) -> bool:
        return key in self._programs

    def __getitem__(self, key: str) -> Value:
        found = self._known.get(key)
        if found is None:
            program = self._programs[key]
            try:
                found = True, program.evaluate(self._activation)
            except EvaluationError as error:
                found = False, error
            self._known[key] = found
            self.spent += program.spent
        if not found[0]:
            raise found[1]
        return found[1]

    def __iter__(self) -> Iterable[str]:  # type: ignore[override]
        return iter(self._programs)

    def __len__(self) -> int:
        return len(self._programs)

    def values(self) -> dict[str, Value]:
        """Return the variables that were read and could be evaluated."""
        return {name: value for name, (found, value) in self._known.items() if found}

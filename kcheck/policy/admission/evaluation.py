"""The verdict of a ValidatingAdmissionPolicy on an object.

Source: k8s.io/apiserver, pkg/admission/plugin/policy/validating (dispatcher.go, validator.go).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from kcheck.cel.eval.activation import Frame
from kcheck.cel.eval.program import CALL_LIMIT, Program
from kcheck.cel.values.values import EvaluationError, Undecided, Value
from kcheck.finding.evidence import PolicyEvidence
from kcheck.finding.severity import ERROR, INFO, WARNING, Severity
from kcheck.policy.admission.definitions import AdmissionPolicy, Binding, Expression, PolicyValidation
from kcheck.policy.admission.programs import PolicyPrograms, Variables
from kcheck.policy.shown_values import shown_value
from kcheck.policy.tracing import ReadTrace, traced
from kcheck.policy.verdict import PolicyNotice, Verdict
from kcheck.redaction.redact import STARS
from kcheck.text.record import NamedTuple

RUNTIME_BUDGET = 10_000_000
"""The cost limit of all expressions of a policy for one object (celconfig.RuntimeCELCostBudget)."""

MATCH_BUDGET = RUNTIME_BUDGET // 4
"""The cost limit of all matchConditions (celconfig.RuntimeCELCostBudgetMatchConditions)."""

_OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"


class Activation:
    """The values of the variables of expressions, for one object, binding and parameter.

    Attributes:
        values: The values by name.
        variables: The variables of the policy, None if it has none.
        budget: The cost that the remaining expressions may have together.
    """

    __slots__ = ("_is_public", "budget", "frame", "values", "variables")

    def __init__(self, programs: PolicyPrograms, values: Mapping[str, Value], params: Value) -> None:
        self.frame = Frame(values, CALL_LIMIT)
        self.frame["params"] = params
        self.values = values
        self.budget = RUNTIME_BUDGET
        self._is_public: bool | None = None
        self.variables: Variables | None = None
        if programs.variables:
            self.variables = self.frame["variables"] = Variables(programs.variables, self.frame)

    def evaluate(self, program: Program) -> Value:
        """Return the value of an expression. Raises EvaluationError, and CostExceeded if the limit for all expressions is exceeded."""
        variables = self.variables
        before = variables.spent if variables is not None else 0
        try:
            return program.evaluate_in(self.frame)
        finally:
            self.budget -= program.spent + (variables.spent - before if variables is not None else 0)
            if self.budget < 0:
                raise CostExceeded(_OUT_OF_BUDGET)

    def shown(self, programs: PolicyPrograms) -> Activation:
        """Return the values that messages may show: without the values of Secrets."""
        frame = self.frame
        if self._is_public is None:
            self._is_public = not any(map(_is_secret, (frame["object"], frame["oldObject"], frame["params"])))
        if self._is_public:
            return self
        masked = {name: without_secrets(frame[name]) for name in ("object", "oldObject", "params")}
        return Activation(programs, {**self.values, **masked}, masked["params"])

    def traced(self, programs: PolicyPrograms, trace: ReadTrace) -> Activation:
        """Return the same values, which record what is read of the object."""
        return Activation(programs, {**self.values, "object": traced(self.values["object"], (), trace)}, self.frame["params"])


def _is_secret(value: Value) -> bool:
    return isinstance(value, dict) and value.get("kind") == "Secret" and value.get("apiVersion") == "v1"


def without_secrets(secret: Value) -> Value:
    """Return an object in JSON with asterisks in place of the values of a Secret; any other object unchanged."""
    if not _is_secret(secret):
        return secret
    texts = {key: dict.fromkeys(each, STARS) for key in ("data", "stringData") if isinstance(each := secret.get(key), dict)}
    return {**secret, **texts}


class CostExceeded(Exception):
    """The expressions of a policy exceed the cost limit together."""


class PolicyFailure(NamedTuple):
    """Why a policy denies an object, or cannot decide it.

    Attributes:
        message: The message of the API server.
        expression: The expression that decided.
        reason: The reason that the policy gives.
        program: The compiled expression, None if no single expression decided.
        is_error: Whether the expression could not be evaluated, so that failurePolicy decides.
        is_undecided: Whether the result depends on something unknown.
        always_denies: Whether the object is denied whatever the actions of the binding.
    """

    message: str
    expression: Expression
    reason: str = ""
    program: Program | None = None
    is_error: bool = False
    is_undecided: bool = False
    always_denies: bool = False


def applies(policy: AdmissionPolicy, programs: PolicyPrograms, activation: Activation) -> PolicyFailure | bool:
    """Return whether all matchConditions are true, or the failure if none is false and one cannot be evaluated."""
    failure: PolicyFailure | None = None
    spent = 0
    # The API server does not look up the namespace for them.
    values = {**activation.values, "namespaceObject": None, "params": activation.frame["params"]}
    for condition, program in zip(policy.conditions, programs.conditions, strict=True):
        try:
            if program.evaluate(values) is False:
                return False
        except EvaluationError as error:
            failure = failure or _error(condition, program, error)
        spent += program.spent
        if spent > MATCH_BUDGET:
            return PolicyFailure("match condition evaluation exceeds the cost limit", condition, is_error=True)
    return failure or True


def failures(policy: AdmissionPolicy, programs: PolicyPrograms, activation: Activation) -> Iterator[PolicyFailure]:
    """Yield why the validations and audit annotations of a policy deny an object."""
    try:
        for validation, (program, message) in zip(policy.validations, programs.validations, strict=True):
            try:
                if activation.evaluate(program) is True:
                    continue
            except EvaluationError as error:
                yield _without_values(_error(validation.expression, program, error), activation)
                continue
            yield PolicyFailure(_message(validation, message, programs, activation), validation.expression, validation.reason, program)
        for annotation, program in zip(policy.annotations, programs.annotations, strict=True):
            try:
                activation.evaluate(program)
            except EvaluationError as error:
                yield _error(annotation, program, error)._replace(always_denies=True)
    except CostExceeded as error:
        yield PolicyFailure(str(error), policy.validations[0].expression if policy.validations else policy.annotations[0], is_error=True)


def _error(expression: Expression, program: Program, error: EvaluationError) -> PolicyFailure:
    if isinstance(error, Undecided):
        return PolicyFailure(error.message, expression, "", program, is_error=True, is_undecided=True)
    message = f"expression {_quoted(expression.text)} resulted in error: {error.message}"
    return PolicyFailure(message, expression, "", program, is_error=True)


def _without_values(failure: PolicyFailure, activation: Activation) -> PolicyFailure:
    """Return a failure whose message does not contain the values of Secrets, which errors of conversions quote."""
    objects = [activation.frame[name] for name in ("object", "oldObject", "params")]
    return failure._replace(message=hide_values(failure.message, objects))


def hide_values(message: str, objects: Iterable[Value]) -> str:
    """Return a message with asterisks in place of the values of the Secrets among these objects in JSON."""
    for each in objects:
        data = each.get("data") if _is_secret(each) else None
        for value in data.values() if isinstance(data, dict) else ():
            if isinstance(value, str) and len(value) >= _MIN_SECRET_CHARS:
                message = message.replace(value, STARS)
    return message


_MIN_SECRET_CHARS = 3


def _quoted(expression: str) -> str:
    return f"'{' '.join(expression.split())}'"


def _message(validation: PolicyValidation, program: Program | None, programs: PolicyPrograms, activation: Activation) -> str:
    """Return the message of a failed validation: an invalid result of messageExpression is ignored."""
    if program is not None:
        try:
            text = activation.shown(programs).evaluate(program)
        except (EvaluationError, CostExceeded):
            text = ""
        if isinstance(text, str) and text.strip() and "\n" not in text and len(text.encode("utf-8", "surrogatepass")) <= _MAX_MESSAGE_BYTES:
            return text.strip()
    return validation.message.strip() or f"failed expression: {' '.join(validation.expression.text.split())}"


_MAX_MESSAGE_BYTES = 5 * 1024


def severity_of(binding: Binding) -> Severity:
    """Return the severity of the denials of a binding by its validationActions."""
    if "Deny" in binding.actions:
        return ERROR
    return WARNING if "Warn" in binding.actions else INFO


def verdict_of(
    policy: AdmissionPolicy, binding: Binding, programs: PolicyPrograms, failure: PolicyFailure, activation: Activation, param: str,
) -> Verdict:  # fmt: skip
    """Return the verdict for a failure, with the field that decided: the expression is evaluated again to find it."""
    trace = ReadTrace()
    again = activation.traced(programs, trace)
    if failure.program is not None:
        with suppress(EvaluationError, CostExceeded):
            again.evaluate(failure.program)
    path = trace.decisive_path()
    variables = _shown_variables(again, activation.shown(programs))
    evidence = PolicyEvidence("vap", policy.name, binding.name, param, failure.expression.text.strip(), variables)
    severity = ERROR if failure.always_denies else severity_of(binding)
    return Verdict(
        policy.id, failure.message, severity, path, evidence, policy.place(failure.expression.node),
    )  # fmt: skip


def _shown_variables(evaluated: Activation, shown: Activation) -> tuple[tuple[str, str], ...]:
    """Return the values of the variables that were evaluated. `shown`: the values that may be shown."""
    if evaluated.variables is None or shown.variables is None:
        return ()
    found = []
    for name in evaluated.variables.values():
        with suppress(EvaluationError):
            found.append((name, shown_value(shown.variables[name])))
    return tuple(found)


def undecided_notice(policy: AdmissionPolicy, failure: PolicyFailure) -> PolicyNotice:
    """Return the notice that a policy cannot decide some objects."""
    message = f'policy "{policy.name}" is not decided for some objects: {failure.message}'
    help = "set policies.user in the config" if "user" in failure.message else ""
    return PolicyNotice("undecided-policy", policy.id, message, help, policy.place(failure.expression.node))


def param_title(params: Mapping[str, Any] | None) -> str:
    """Return the name of a parameter as namespace/name, "" without one."""
    metadata = (params or {}).get("metadata") or {}
    namespace, name = metadata.get("namespace"), metadata.get("name") or ""
    return f"{namespace}/{name}" if namespace else str(name)

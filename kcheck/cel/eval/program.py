"""Expressions, compiled once and evaluated many times.

environment = Environment({"self": INT})
program = environment.compile("self > 0")      # a Program, or the Issues that prevent compilation
program.evaluate({"self": 5})                  # True; raises EvaluationError
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kcheck.cel.eval.activation import MAX_DEFAULT_DEPTH, Frame, Step, deep_stack
from kcheck.cel.eval.evaluator import emit
from kcheck.cel.language.checker import check_types
from kcheck.cel.language.declarations import Overload
from kcheck.cel.language.issues import Broken, Issue, issue_at
from kcheck.cel.language.names import Names
from kcheck.cel.language.parser import parse
from kcheck.cel.language.syntax import Expr, Ident, Select
from kcheck.cel.values.types import Type
from kcheck.cel.values.values import Cancelled, EvaluationError, Value

CALL_LIMIT = 1_000_000
"""The cost limit of one evaluation (celconfig.PerCallLimit)."""

LATEST = 36
"""The minor version of Kubernetes whose libraries are used by default."""

_MAX_CACHED_PROGRAMS = 4096


class Program:
    """A compiled expression. `type`: the type of its value. `spent`: the cost of the last evaluation."""

    __slots__ = ("_is_deep", "_step", "_variables", "expr", "spent", "text", "type")

    def __init__(self, text: str, expr: Expr, step: Step) -> None:
        self.text = text
        self.expr = expr
        self.type = expr.type
        self.spent = 0
        self._is_deep = expr.depth > MAX_DEFAULT_DEPTH
        self._step = step
        self._variables: frozenset[str] | None = None

    def evaluate(self, variables: Mapping[str, Value], limit: int = CALL_LIMIT) -> Value:
        """Return the value. Raises EvaluationError for errors and if the cost exceeds the limit."""
        return self.evaluate_in(Frame(variables, limit))

    def evaluate_in(self, frame: Frame) -> Value:
        """Return the value with the variables of a frame, which evaluations of several expressions may share, one after the other."""
        frame.spent = frame.allocated = 0
        try:
            if self._is_deep:
                with deep_stack(self.expr.depth):
                    value = self._step(frame)
            else:
                value = self._step(frame)
        except Cancelled as error:
            raise EvaluationError(str(error)) from None
        except RecursionError:
            raise EvaluationError("operation cancelled: nested too deeply") from None
        finally:
            self.spent = frame.spent
        if frame.spent > frame.limit:
            raise EvaluationError("operation cancelled: actual cost limit exceeded")
        return value

    def uses(self, variable: str) -> bool:
        """Whether the expression refers to a variable."""
        if self._variables is None:
            self._variables = _variables_of(self.expr)
        return variable in self._variables


class Environment:
    """The names that expressions may use. `minor`: the version 1.N of the API server, which accepts the libraries of 1.N-1."""

    def __init__(
        self, variables: Mapping[str, Type], minor: int = LATEST, messages: Callable[[str], Type | None] | None = None,
        libraries: frozenset[str] = frozenset(), functions: Mapping[str, Overload] | None = None, context: str = "",
    ) -> None:  # fmt: skip
        self.names = Names(dict(variables), minor - 1, messages, libraries, functions, context)
        self._programs: dict[str, Program | tuple[Issue, ...]] = {}

    def compile(self, text: str) -> Program | tuple[Issue, ...]:
        """Return the program, or the issues for which the server rejects the expression. The result is cached."""
        found = self._programs.get(text)
        if found is None:
            if len(self._programs) >= _MAX_CACHED_PROGRAMS:
                self._programs.clear()
            found = self._programs[text] = _compile(text, self.names)
        return found


def _compile(text: str, names: Names) -> Program | tuple[Issue, ...]:
    try:
        with deep_stack(max(map(text.count, "([{?.+-"))):
            expr = parse(text, names.minor, "bindings" in names.libraries)
            faults = check_types(expr, names)
            if not faults and _has_constants(text):
                from kcheck.cel.library.literals import SINCE, check_literals  # imported late: few expressions contain such constants

                faults = check_literals(expr) if names.minor >= SINCE else []
            if faults:
                return tuple(issue_at(text, at, message) for at, message in faults)
            return Program(text, expr, emit(expr, names))
    except Broken as broken:
        return (issue_at(text, broken.offset, broken.message),)
    except EvaluationError as error:
        return (Issue(f"program instantiation failed: {error.message}"),)
    except RecursionError:
        return (Issue("max recursion depth exceeded"),)


def _has_constants(text: str) -> bool:
    return "[" in text or "{" in text or "matches" in text or "duration" in text or "timestamp" in text


def _variables_of(expr: Expr) -> frozenset[str]:
    """Return the variables that an expression refers to."""
    found = set()
    todo = [expr]
    while todo:
        each = todo.pop()
        if isinstance(each, Ident):
            found.add(each.name)
        elif isinstance(each, Select) and each.resolved:
            found.add(each.resolved)
        else:
            todo += each.children
    return frozenset(found)

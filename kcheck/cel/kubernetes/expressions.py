"""CEL for rules. The CEL packages are imported at the first expression, because most inputs have none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from kcheck.finding.problem import Reason
from kcheck.kube.resource import Resource
from kcheck.text.complaint import Complaint, help_of
from kcheck.text.record import NamedTuple
from kcheck.text.span import Span
from kcheck.yaml.node import Node

_INSTANTIATION = "program instantiation failed: "
_WORD = re.compile(r"\.?\w+|[<>=!&|]+")
# The suffix of messages about unknown names; all names are in this container.
_CONTAINER = " (in container '')"


class ExpressionFault(NamedTuple):
    """A fault of an expression. `offset`: in its text, None for the whole. `internal`: reported as an internal error of the API server."""

    message: str
    offset: int | None = None
    internal: bool = False


class ExpressionRuleFault(NamedTuple):
    """A fault of a rule at a node of it; at the root of the schema for all rules together."""

    node: Node
    message: str
    reason: Reason
    offset: int | None = None


class ExpressionViolation(NamedTuple):
    """A rule that a default violates. `field`: below the default, as the API server reports it; `path`: the keys to the node."""

    field: str
    message: str
    reason: Reason
    path: tuple[str | int, ...]


class Policy:
    """Compiles the expressions of an admission policy or webhook, in the order of their dependencies. See `policies.PolicyCompiler`."""

    def __init__(self, minor: int, *, params: bool = False, variables: bool = False, patches: bool = False) -> None:
        self._minor = minor
        self._settings = (params, variables, patches)
        self._compiler: Any = None

    @property
    def compiler(self) -> Any:
        """The compiler, imported on first use."""
        if self._compiler is None:
            from kcheck.cel.eval.program import LATEST
            from kcheck.cel.kubernetes.policies import PolicyCompiler

            self._compiler = PolicyCompiler(*self._settings, self._minor or LATEST)
        return self._compiler

    def declare(self, name: str, expression: str) -> list[ExpressionFault]:
        """Compile a variable and declare it for later expressions; its faults."""
        return _faults(self.compiler.declare(name, expression))

    def compile(self, expression: str, result: str, *, authorizer: bool = True) -> list[ExpressionFault]:
        """The faults of an expression that must return a "bool", a "string", a "string or null", an "object" or "patches"."""
        found = self.compiler.compile(expression, result, authorizer=authorizer)
        return _faults(found) if isinstance(found, tuple) else []


def schema_faults(root: Node, minor: int) -> Iterator[ExpressionRuleFault]:
    """Yield faults of the expressions of x-kubernetes-validations and of their estimated cost."""
    from kcheck.cel.eval.program import LATEST
    from kcheck.cel.kubernetes.rule_validation import check_rules

    for fault in check_rules(root.shared(), minor or LATEST):
        message = fault.message.removeprefix("compilation failed: ").removesuffix(_CONTAINER)
        offset = fault.offset
        complaint = Complaint(_bare(message) if offset is not None else message, help_of(fault.message))
        yield ExpressionRuleFault(root.at(*fault.path), complaint, fault.reason, offset)


def default_violations(schema: Node, whole: bool, minor: int) -> list[ExpressionViolation]:
    """Rules of a schema that its default violates, and those that do not compile. `whole`: whether it is the schema of whole objects."""
    from kcheck.schema.crd.structural import has_rules

    if not has_rules(schema):
        return []
    from kcheck.cel.eval.program import LATEST
    from kcheck.cel.kubernetes.rule_evaluation import find_rules

    rules = find_rules(schema.shared(), minor or LATEST, whole or schema["x-kubernetes-embedded-resource"].boolean is True)
    if rules is None:
        return []
    value = schema["default"].plain()
    broken = [
        ExpressionViolation(field, f"x-kubernetes-validations cannot be evaluated for this default: {issue}", "Invalid", path)
        for field, issue, path in rules.uncompiled(value)
    ]
    found = [
        ExpressionViolation("" if each.field == "<nil>" else each.field, " ".join(each.message.split()), each.reason, each.path)
        for each in rules.evaluate(value)
    ]
    return broken + found


def place(node: Node, offset: int, resource: Resource) -> Span | None:
    """The span of a word of an expression in the file, None where it is unknown."""
    source, text = resource.document.source.text, node.text
    start = source_offset(node, offset, source)
    if start is None or source[start : start + 1] != text[offset : offset + 1]:
        return None
    word = _WORD.match(source, start)
    return Span(start, word.end() if word is not None else start + 1)


def source_offset(node: Node, offset: int, source: str) -> int | None:
    """The offset in the file of a character of a scalar: of a scalar on one line without escapes, or of a literal block."""
    if node.style == "|":
        lines = node.text[:offset].split("\n")
        at = node.start
        for line in range(len(lines)):
            at = source.find("\n", at) + 1
            if not at:
                return None
            if line == len(lines) - 1:
                whole = node.text.split("\n")[line]
                column = source.find(whole, at)
                return column + len(lines[-1]) if column >= 0 else None
        return None
    margin = 1 if node.style in ("'", '"') else 0
    return node.start + margin + offset if node.end - node.start == len(node.text) + 2 * margin else None


def _faults(issues: tuple[Any, ...]) -> list[ExpressionFault]:
    faults = []
    for each in issues:
        message = each.message.removeprefix(_INSTANTIATION)
        offset = each.offset if each.line else None
        faults.append(ExpressionFault(message.removesuffix(_CONTAINER), offset, message != each.message))
    return faults


def _bare(message: str) -> str:
    """The message without its line and column."""
    return message.split(": ", 1)[1] if message[:1].isdigit() else message

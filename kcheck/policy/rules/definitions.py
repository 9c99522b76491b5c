"""Short rules as they are written, without their compiled expressions."""

from __future__ import annotations

from kcheck.finding.severity import Severity
from kcheck.kube.selector import Selector
from kcheck.text.mistake import InvalidFile
from kcheck.text.record import NamedTuple
from kcheck.text.source import Source
from kcheck.yaml.node import Node

SUFFIX = ".kcheck.yaml"
"""The end of the names of files with short rules, and the name of the config."""


class InvalidRules(InvalidFile):
    """Short rules are invalid."""


class RuleExpression(NamedTuple):
    """An expression. `node`: the scalar that contains it; `start`: its offset in the text of the scalar."""

    text: str
    node: Node
    start: int = 0


Template = tuple["str | RuleExpression", ...]
"""A text with `{expression}` pieces."""


class RuleScope(NamedTuple):
    """What a rule applies to; an empty condition selects everything.

    Attributes:
        kinds: Pairs of apiVersion, "" for all versions, and kind.
        types: API types, such as core/v1 Container. The rule judges each value of these types, wherever it occurs.
        groups: API groups, "core" for the group of Pods.
        labels: A selector of the labels of the object.
        namespaces: Globs of namespaces; one that begins with "!" excludes.
    """

    kinds: tuple[tuple[str, str], ...] = ()
    types: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    labels: Selector | None = None
    namespaces: tuple[str, ...] = ()


class FixStep(NamedTuple):
    """A change that a fix makes. `action`: set, add or remove; `path`: the expression of the field; `value`: None to remove it."""

    action: str
    path: RuleExpression
    value: RuleExpression | None


class RuleExample(NamedTuple):
    """An object that a rule must accept or refuse.

    Attributes:
        passes: Whether the rule accepts it.
        node: The object, or the value of the API type that the rule is about.
        context: Other objects, such as its Namespace.
        message: The expected message, "" if any is right.
        at: The expected field, "" if any is right.
    """

    passes: bool
    node: Node
    context: tuple[Node, ...] = ()
    message: str = ""
    at: str = ""


class ShortRule(NamedTuple):
    """A short rule.

    Attributes:
        name: Its id without the prefix policy/.
        title: What it demands, in one line.
        message: What is wrong with an object.
        help: What to do.
        severity: The severity of its findings.
        scope: What it applies to.
        scope_node: The key `on`, or the rule without one.
        when: A further condition, None without one.
        check: What must be true.
        at: An expression that reads the field to report, None for the field that decided.
        fix: The changes that solve the problem.
        safe: Whether the fix is applied without --unsafe.
        examples: Objects that it accepts and refuses.
        source: The file.
        node: The rule in the file.
    """

    name: str
    title: str
    message: Template
    help: Template
    severity: Severity
    scope: RuleScope
    scope_node: Node
    when: RuleExpression | None
    check: RuleExpression
    at: RuleExpression | None
    fix: tuple[FixStep, ...]
    safe: bool
    examples: tuple[RuleExample, ...]
    source: Source
    node: Node

    @property
    def id(self) -> str:
        """The id of the rule."""
        return f"policy/{self.name}"

    def expressions(self) -> list[tuple[str, RuleExpression]]:
        """Return all expressions with their role: when, check, at, message, field or fix (its value)."""
        found = [("when", self.when), ("check", self.check), ("at", self.at)]
        found += [("message", each) for each in (*self.message, *self.help) if not isinstance(each, str)]
        found += [pair for step in self.fix for pair in (("field", step.path), ("fix", step.value))]
        return [(role, each) for role, each in found if each is not None]

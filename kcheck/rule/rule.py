"""Rule: an id, a title and a function. The decorators return values and do not register anything."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, Literal, get_type_hints

from kcheck.facts.bundle import Bundle
from kcheck.facts.facts import Facts
from kcheck.facts.removed import RemovedObject
from kcheck.finding.problem import Problem
from kcheck.finding.severity import ERROR, WARNING, Severity
from kcheck.kube.object_change import ObjectChange
from kcheck.kube.pod import Container, Pod
from kcheck.kube.resource import Resource
from kcheck.kube.suggestions import suggest
from kcheck.kube.typed_value import TypedValue
from kcheck.rule.options import Option, options_of
from kcheck.text.record import NamedTuple
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node

Scope = Literal["document", "object", "change", "type", "bundle", "removal", "engine"]

# The first parameter of a function determines what it is called with. Pods and containers are API types like any other.
_TYPES_BY_SUBJECT = {
    Pod: ("core/v1 PodSpec",),
    Container: ("core/v1 Container", "core/v1 EphemeralContainer"),
}
_SCOPES_BY_SUBJECT: dict[type, Scope] = {
    Document: "document", Resource: "object", Pod: "type", Container: "type", TypedValue: "type", Node: "type", Facts: "bundle",
    ObjectChange: "change", RemovedObject: "removal",
}  # fmt: skip
SUBJECTS: Mapping[str, type] = {subject.__name__: subject for subject in _SCOPES_BY_SUBJECT}
"""The supported types of a rule's first parameter, by name."""


_NO_OPTIONS: Mapping[str, Option] = {}


class Late(NamedTuple):
    """Reference to a module attribute that is imported on demand: importing hundreds of modules takes longer than a small run."""

    module: str
    attribute: str

    def load(self) -> Any:
        """Import the module and return the attribute."""
        return getattr(import_module(self.module), self.attribute)


class Rule(NamedTuple):
    """A single check.

    Attributes:
        id: the id that users select and suppress.
        title: one line.
        severity: the default severity.
        family: "spec" or "practice".
        groups: names that select this rule together with others.
        default: whether the rule runs without being selected.
        scope: what the rule checks, derived from `subject`.
        subject: the type of the function's first parameter.
        types: API types whose values the function is called with.
        options: the options, by name.
        fixable: whether the rule can fix its findings.
        equivalents: checks of other tools that a plug-in's rule replaces; those of built-in rules are in `equivalents.json`.
        function: the function, where to import it from, or None for a declared rule.
        module: the name of the module that defines the rule.
        fields: fields of the value, one of which must be present; optionally by API type.
        kinds: kinds of the objects that the function is called with; empty for all.
        facts: fields of Facts that must not be empty.
        references: kinds, one of which the object must refer to.
    """

    id: str
    title: str
    severity: Severity
    family: str
    groups: frozenset[str] = frozenset()
    default: bool = True
    scope: Scope = "engine"
    subject: type = Node
    types: tuple[str, ...] = ()
    options: Mapping[str, Option] = _NO_OPTIONS
    fixable: bool = False
    equivalents: tuple[str, ...] = ()
    function: Callable[..., Iterable[Problem]] | Late | None = None
    module: str = ""
    fields: tuple[str, ...] | Mapping[str, tuple[str, ...]] = ()
    kinds: frozenset[str] = frozenset()
    facts: tuple[str, ...] = ()
    references: frozenset[str] = frozenset()

    def load(self) -> Callable[..., Iterable[Problem]]:
        """Return the function, importing its module if necessary. The rule must have one."""
        function = self.function.load().function if isinstance(self.function, Late) else self.function
        assert function is not None
        return function


def rule(
    id: str,
    title: str,
    *,
    severity: Severity = WARNING,
    family: str = "practice",
    groups: Iterable[str] = (),
    default: bool = True,
    types: str | Iterable[str] = (),
    fields: str | Iterable[str] | Mapping[str, Iterable[str]] = (),
    kinds: str | Iterable[str] = (),
    facts: str | Iterable[str] = (),
    references: str | Iterable[str] = (),
    fixable: bool = False,
    equivalents: str | Iterable[str] = (),
) -> Callable[[Callable[..., Iterable[Problem]]], Rule]:
    """Decorator that makes a Rule of a generator function. The type of the first parameter determines what the rule is called with;
    keyword-only parameters are options.

    Document: every document. Pod, Container: every Pod and container. Node, TypedValue: values of the API types in `types`, such as
    "core/v1 ContainerPort". `fields` restricts these to values in which one of the named fields is present; a mapping names the fields by
    type. Resource: every object. ObjectChange: every object that differs from its older version, if there is one (`kcheck check --before`).
    RemovedObject, with a Bundle of the input as second parameter: every object that only the older state has. Facts, with a Bundle as
    second parameter: every object together with all others. `kinds` selects objects by kind, such as "apps Deployment" or "core Service"
    (see `kcheck.kube.kinds`). For Facts, `facts` selects objects whose named fields of Facts are not empty, and `references` selects
    objects that refer to an object of one of these kinds. `equivalents`: checks of other tools that a plug-in's rule replaces, such as
    "kube-linter/latest-tag". Raises TypeError for an unsupported signature or keyword.
    """

    def make(function: Callable[..., Iterable[Problem]]) -> Rule:
        subject = first_parameter(function)
        made = Rule(
            id,
            title,
            severity,
            family,
            frozenset(groups),
            default,
            _SCOPES_BY_SUBJECT[subject],
            subject,
            words(types) or _TYPES_BY_SUBJECT.get(subject, ()),
            options_of(function),
            fixable,
            words(equivalents),
            function,
            function.__module__,
            {name: words(each) for name, each in fields.items()} if isinstance(fields, Mapping) else words(fields),
            frozenset(words(kinds)),
            words(facts),
            frozenset(words(references)),
        )
        _require_fit(made)
        return made

    return make


def _require_fit(rule: Rule) -> None:
    """Raise TypeError if a keyword does not fit the type of the first parameter."""
    subject = rule.subject
    about = f"rule {rule.id}: a rule for {subject.__name__}"
    if subject in (Node, TypedValue) and not rule.types:
        raise TypeError(f"{about} needs types=, the API types of its values")
    if rule.types and subject in (Document, Facts, ObjectChange, RemovedObject):
        raise TypeError(f"{about} does not accept types=: it is not called with values of API types")
    if rule.fields and not rule.types:
        raise TypeError(f"{about} does not accept fields=: it is not called with values of API types")
    if rule.kinds and (rule.types or subject not in (Resource, ObjectChange, Facts, RemovedObject)):
        raise TypeError(f"{about} does not accept kinds=: it is not called with whole objects")
    if (rule.facts or rule.references) and subject is not Facts:
        raise TypeError(f"{about} does not accept facts= or references=: these select Facts")
    unknown = [name for name in rule.facts if name not in Facts.__slots__]
    if unknown:
        raise TypeError(f"rule {rule.id}: Facts has no field {unknown[0]!r}; {suggest(unknown[0], Facts.__slots__)}")


def words(one_or_more: str | Iterable[str]) -> tuple[str, ...]:
    """Return the value of a keyword that accepts one string or several, as a tuple."""
    return (one_or_more,) if isinstance(one_or_more, str) else tuple(one_or_more)


def declare(
    id: str,
    title: str,
    *,
    severity: Severity = ERROR,
    groups: Iterable[str] = (),
    default: bool = True,
    family: str = "spec",
    options: Iterable[Option] = (),
    fixable: bool = False,
    equivalents: str | Iterable[str] = (),
) -> Rule:
    """Return a rule without a function: validators, `fields` tables or the engine report problems under its id."""
    module = sys._getframe(1).f_globals.get("__name__", "")
    named = {o.name: o for o in options}
    return Rule(
        id, title, severity, family, frozenset(groups), default,
        options=named, fixable=fixable, equivalents=words(equivalents), module=module,
    )  # fmt: skip


def first_parameter(function: Callable[..., Any]) -> type:
    """Return the type of a rule function's first parameter. Raises TypeError if rules cannot be called with that type."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    types = [_type_of(function, name) for name in names[:2]]
    subject = types[0] if types else None
    if subject not in _SCOPES_BY_SUBJECT:
        raise TypeError(f"{function.__qualname__}: the first parameter must be one of {', '.join(t.__name__ for t in _SCOPES_BY_SUBJECT)}")
    if subject in (Facts, RemovedObject) and types[1:] != [Bundle]:
        raise TypeError(f"{function.__qualname__}: a rule for {subject.__name__} must take a Bundle as second parameter")
    return subject  # type: ignore[no-any-return]


def _type_of(function: Callable[..., Any], parameter: str) -> Any:
    """Return the annotation of a parameter. Usually it is a bare name; `typing.get_type_hints` would be slow for hundreds of functions."""
    hint = function.__annotations__.get(parameter)
    if isinstance(hint, str):
        return function.__globals__.get(hint) or get_type_hints(function).get(parameter)
    return hint

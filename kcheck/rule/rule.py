"""The rule: an id, a sentence, and the function that looks. Decorators return frozen values and register nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, Literal, get_type_hints

from kcheck.finding.problem import Problem
from kcheck.finding.severity import ERROR, WARNING, Severity
from kcheck.kube.bundle import Bundle
from kcheck.kube.facts import Facts
from kcheck.kube.part import Part
from kcheck.kube.pod import Container, Pod
from kcheck.kube.resource import Resource
from kcheck.rule.options import Option, options_of
from kcheck.text.record import NamedTuple
from kcheck.tree.document import Document
from kcheck.tree.node import Node

Scope = Literal["document", "object", "type", "bundle", "engine"]

# What a rule looks at follows from its first parameter; pods and containers are API types like any other.
_TYPES = {
    Pod: ("core/v1 PodSpec",),
    Container: ("core/v1 Container", "core/v1 EphemeralContainer"),
}
_SCOPES: dict[type, Scope] = {
    Document: "document", Resource: "object", Pod: "type", Container: "type", Part: "type", Node: "type", Facts: "bundle",
}  # fmt: skip
SUBJECTS: Mapping[str, type] = {subject.__name__: subject for subject in _SCOPES}
"""What a rule may look at, by its name."""


_NO_OPTIONS: Mapping[str, Option] = {}


class Late(NamedTuple):
    """What a module defines under a name, for who can wait for it: importing hundreds of modules takes longer than a small run."""

    module: str
    attribute: str

    def load(self) -> Any:
        """The thing itself."""
        return getattr(import_module(self.module), self.attribute)


class Rule(NamedTuple):
    """One thing that kcheck knows.

    `subject`: the type of the function's first parameter; `types`: API types it subscribes to; `groups`: names that switch it
    together with others; `default`: whether it is on without being asked. `kinds`: of the objects that it is asked of, none for all;
    `needs`: the fields of Facts that must not be empty for it; `having`: it is asked of values in which one of these fields is written,
    which may differ by the type, or of Facts that refer to one of these kinds.
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
    like: tuple[str, ...] = ()
    function: Callable[..., Iterable[Problem]] | Late | None = None
    module: str = ""
    kinds: frozenset[str] = frozenset()
    needs: tuple[str, ...] = ()
    having: tuple[str, ...] | Mapping[str, tuple[str, ...]] = ()

    def load(self) -> Callable[..., Iterable[Problem]]:
        """The function of a rule that has one."""
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
    on: str | Iterable[str] = (),
    kinds: Iterable[str] = (),
    having: str | Iterable[str] | Mapping[str, Iterable[str]] = (),
    fixable: bool = False,
    like: Iterable[str] = (),
) -> Callable[[Callable[..., Iterable[Problem]]], Rule]:
    """Make a Rule of a generator function.

    The first parameter's type says what it looks at: Document, Resource, Pod, Container, Node or Part (then `on` names API types
    such as "core/v1 ContainerPort"), or Facts with a Bundle as second parameter (then `on` may name fields of Facts: it is asked of
    objects alone where none of these is empty). Of a rule about a Resource or Facts `kinds` may name the kinds of objects that it is asked
    of. Of a rule about values of API types, pods and containers among them, `having` may name fields without which it has nothing to say:
    it is asked where one of them is written. A mapping names them for each type. Of a rule about Facts it names kinds: it is asked of
    objects that refer to one of these. Keyword-only parameters are its options.
    `like`: ids of other tools' checks that it stands for, as "kube-linter/latest-tag". Raises TypeError for a wrong signature.
    """

    def make(function: Callable[..., Iterable[Problem]]) -> Rule:
        subject = first_parameter(function)
        types = (on,) if isinstance(on, str) else tuple(on)
        if subject in (Node, Part) and not types:
            raise TypeError(f"rule {id}: a rule about a {subject.__name__} says on which API types (on=...)")
        about = _fields_of(having)
        if about and (isinstance(about, Mapping) if subject is Facts else not (types or subject in _TYPES)):
            raise TypeError(f"rule {id}: a rule about a {subject.__name__} is asked of whole ones (having=...)")
        needs = types if subject is Facts else ()
        return Rule(
            id, title, severity, family, frozenset(groups), default, _SCOPES[subject], subject,
            () if needs else types or _TYPES.get(subject, ()), options_of(function), fixable, tuple(like), function, function.__module__,
            frozenset(kinds), needs, about,
        )  # fmt: skip

    return make


def _fields_of(having: str | Iterable[str] | Mapping[str, Iterable[str]]) -> tuple[str, ...] | Mapping[str, tuple[str, ...]]:
    if isinstance(having, Mapping):
        return {name: tuple(fields) for name, fields in having.items()}
    return (having,) if isinstance(having, str) else tuple(having)


def topic(
    id: str,
    title: str,
    *,
    severity: Severity = ERROR,
    groups: Iterable[str] = (),
    default: bool = True,
    family: str = "spec",
    options: Iterable[Option] = (),
    like: Iterable[str] = (),
) -> Rule:
    """A rule whose work is done by `checks` functions, `fields` tables or the engine itself, under one id that users know."""
    module = sys._getframe(1).f_globals.get("__name__", "")
    named = {o.name: o for o in options}
    return Rule(id, title, severity, family, frozenset(groups), default, options=named, like=tuple(like), module=module)


def first_parameter(function: Callable[..., Any]) -> type:
    """The type that a rule function looks at. Raises TypeError where it is none that the engine hands out."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    types = [_type_of(function, name) for name in names[:2]]
    subject = types[0] if types else None
    if subject not in _SCOPES:
        raise TypeError(f"{function.__qualname__}: the first parameter must be one of {', '.join(t.__name__ for t in _SCOPES)}")
    if subject is Facts and types[1:] != [Bundle]:
        raise TypeError(f"{function.__qualname__}: a rule about Facts takes a Bundle as second parameter")
    return subject  # type: ignore[no-any-return]


def _type_of(function: Callable[..., Any], parameter: str) -> Any:
    """What a parameter is annotated with. Mostly that is a bare name, and there are hundreds: typing's own way is the slow one."""
    hint = function.__annotations__.get(parameter)
    if isinstance(hint, str):
        return function.__globals__.get(hint) or get_type_hints(function).get(parameter)
    return hint

"""The API types and kinds that Kubernetes has in any of its versions, against which the names in rules are checked.

`vocabulary.json` is made by `tools/refresh_schemas.py`. Plug-ins are checked when they are loaded, built-in rules by a test.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from kcheck.kube.kinds import CORE
from kcheck.kube.suggestions import nearest, suggest
from kcheck.rule.constraint import Validator
from kcheck.rule.groups import Group
from kcheck.rule.index import contents
from kcheck.rule.rule import Rule
from kcheck.text.pattern import pattern

FILE = Path(__file__).with_name("vocabulary.json")

_VERSION = pattern(r"v[0-9]+(?:(?:alpha|beta)[0-9]+)?")


class Vocabulary:
    """`types`: names of API types; `groups`: kinds by API group, the core group as "core"."""

    def __init__(self, types: Iterable[str], groups: dict[str, list[str]]) -> None:
        self.types = frozenset(types)
        self.groups = groups

    def fault_of_type(self, name: str) -> str:
        """What is wrong with the name of an API type, "" where nothing is."""
        return "" if name in self.types else f"unknown API type {name!r}; {suggest(name, sorted(self.types))}"

    def fault_of_kind(self, name: str) -> str:
        """What is wrong with the name of a kind, "" where nothing is. Groups and kinds that resemble no known one are custom."""
        prefix, _, kind = name.rpartition(" ")
        if not prefix:
            return self._fault_of_bare(kind)
        group, _, version = prefix.rpartition("/")
        group = group or (CORE if _VERSION.fullmatch(version) else version)
        if group in self.groups:
            return "" if kind in self.groups[group] else f"unknown kind {name!r}; {suggest(kind, self.groups[group])}"
        near = nearest(group, [each for each, kinds in self.groups.items() if kind in kinds])
        return f'unknown kind {name!r}; did you mean "{near} {kind}"?' if near else ""

    def _fault_of_bare(self, kind: str) -> str:
        # The group extensions was emptied into the others.
        among = [f'"{group} {kind}"' for group, kinds in self.groups.items() if kind in kinds and group != "extensions"]
        if len(among) > 1:
            return f"kind {kind!r} is in several API groups; use one of {', '.join(among)}"
        near = None if among else nearest(kind, sorted({each for kinds in self.groups.values() for each in kinds}))
        return f'unknown kind {kind!r}; did you mean "{near}"?' if near else ""


@cache
def vocabulary() -> Vocabulary:
    """The one of `vocabulary.json`."""
    data = json.loads(FILE.read_text(encoding="utf-8"))
    return Vocabulary(data["types"], data["groups"])


def require_known_names(modules: Iterable[ModuleType]) -> None:
    """Raise ValueError where rules, validators or tables of these modules name an API type or kind that does not exist."""
    for module in modules:
        for where, fault in faults(module):
            raise ValueError(f"{where}: {fault}")


def faults(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Where a module names an unknown API type or kind, and what is wrong with the name."""
    known = vocabulary()
    for name, value in contents(module):
        if isinstance(value, Group):
            continue
        types, kinds = _names(value)
        where = f"rule {value.id}" if isinstance(value, Rule) else f"{module.__name__}.{name}"
        for fault in (*map(known.fault_of_type, types), *map(known.fault_of_kind, kinds)):
            if fault:
                yield where, fault
    for line, kind in _asked_kinds(module):
        fault = known.fault_of_kind(kind)
        if fault:
            yield f"{module.__name__}, line {line}", fault


def _names(value: Any) -> tuple[list[str], list[str]]:
    """The API types and the kinds that a rule, a validator or a list of tables names."""
    if isinstance(value, Rule):
        by_type = () if isinstance(value.fields, tuple) else value.fields
        return [*value.types, *by_type], sorted(value.kinds | value.references)
    if isinstance(value, Validator):
        return list(value.types), []
    return [name for table in value for name in table.types], []


def _asked_kinds(module: ModuleType) -> Iterator[tuple[int, str]]:
    """The kinds in calls of `is_a`, with their lines: texts, and constants of the module that hold texts."""
    file = getattr(module, "__file__", None)
    text = Path(file).read_text(encoding="utf-8") if file and file.endswith(".py") and Path(file).is_file() else ""
    for call in ast.walk(ast.parse(text)) if ".is_a(" in text else ():
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "is_a":
            for argument in call.args:
                for kind in _texts(argument, module):
                    yield call.lineno, kind


def _texts(argument: ast.expr, module: ModuleType) -> Iterator[str]:
    value: Any = None
    if isinstance(argument, ast.Starred):
        argument = argument.value
    if isinstance(argument, ast.Constant):
        value = argument.value
    elif isinstance(argument, ast.Name):
        value = getattr(module, argument.id, None)
    for each in (value,) if isinstance(value, str) else value if isinstance(value, (tuple, list, set, frozenset)) else ():
        if isinstance(each, str):
            yield each

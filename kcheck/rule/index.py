"""An index of a package's rules that can be read without importing its modules.

A wheel contains such an index for each built-in package, generated when the wheel is built (`hatch_build.py`), so that a run imports only
the rules of the types and kinds in its input. Without an index, as in an editable install, all modules are imported at startup.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from kcheck.finding.severity import Severity
from kcheck.rule.constraint import FieldTable, LateTable, Validator
from kcheck.rule.groups import Group
from kcheck.rule.options import TYPES, Option
from kcheck.rule.rule import SUBJECTS, Late, Rule

NAME = "_index"
"""The name of the module of a package that contains its index."""

_TYPES: Mapping[str, type] = {kind.__name__: kind for kind in TYPES}


def modules(package: str) -> list[ModuleType]:
    """Import the modules of a package and its sub-packages, sorted by name. Names that begin with an underscore are skipped."""
    roots = map(Path, import_module(package).__path__)
    paths = sorted(path.relative_to(root).with_suffix("").parts for root in roots for path in root.rglob("*.py"))
    return [import_module(".".join([package, *parts])) for parts in paths if not any(part.startswith("_") for part in parts)]


def contents(module: ModuleType) -> Iterator[tuple[str, Group | Rule | Validator | list[FieldTable]]]:
    """Yield the groups, rules, validators and lists of tables that a module defines, with their names in the module."""
    for name, value in list(vars(module).items()):
        if (
            isinstance(value, Group)
            or (isinstance(value, Rule) and value.module == module.__name__)
            or (isinstance(value, Validator) and value.module == module.__name__)
            or (isinstance(value, list) and value and isinstance(value[0], FieldTable))
        ):
            yield name, value


class Index:
    """The rules of a package by id, and its tables."""

    def __init__(self, rules: Iterable[tuple[Any, ...]], validators: Iterable[tuple[Any, ...]], tables: Iterable[tuple[Any, ...]]) -> None:
        self.rules = {each[0]: _rule(*each) for each in rules}
        self.tables = [LateTable(types, Late(module, name), number) for types, module, name, number in tables]
        self._validators = validators

    def validators(self, rules: Mapping[str, Rule]) -> Iterator[Validator]:
        """Yield the validators of the declared rules in `rules`."""
        for rule, types, subject, module, name, fields, metadata in self._validators:
            yield Validator(rules[rule], types, SUBJECTS[subject], Late(module, name), fields, metadata)


def read_index(package: str) -> Index | None:
    """Return the index of a package, or None if it has none."""
    if find_spec(f"{package}.{NAME}") is None:
        return None
    index = import_module(f"{package}.{NAME}")
    return Index(index.RULES, index.VALIDATORS, index.TABLES)


def index_of(package: str) -> str:
    """Return the source text of the index module of a package. Imports the whole package."""
    rules, validators, tables = [], [], []
    for module in modules(package):
        for name, value in contents(module):
            if isinstance(value, Rule):
                rules.append(_entry(value, name))
            elif isinstance(value, Validator):
                subject = value.subject.__name__
                validators.append((value.rule.id, value.types, subject, module.__name__, name, value.fields, value.metadata))
            elif isinstance(value, list):
                tables += [(table.types, module.__name__, name, number) for number, table in enumerate(value)]
    parts = {"RULES": rules, "VALIDATORS": validators, "TABLES": tables}
    return "".join(f"{name} = (\n{''.join(f'    {each!r},{chr(10)}' for each in entries)})\n" for name, entries in parts.items())


def _entry(rule: Rule, name: str) -> tuple[Any, ...]:
    """Return a rule as a tuple of literals in the order of its fields; the function is represented by its name."""
    options = tuple((o.name, o.type.__name__, o.default, o.help) for o in rule.options.values())
    return (
        rule.id, rule.title, rule.severity.word, rule.family, tuple(sorted(rule.groups)), rule.default, rule.scope, rule.subject.__name__,
        rule.types, options, rule.fixable, rule.equivalents, name if rule.function is not None else "", rule.module, rule.fields,
        tuple(sorted(rule.kinds)), rule.facts, tuple(sorted(rule.references)),
    )  # fmt: skip


def _rule(
    id: str, title: str, severity: str, family: str, groups: tuple[str, ...], default: bool, scope: Any, subject: str,
    types: tuple[str, ...], options: tuple[tuple[str, str, Any, str], ...], fixable: bool, equivalents: tuple[str, ...], name: str,
    module: str, fields: tuple[str, ...] | Mapping[str, tuple[str, ...]], kinds: tuple[str, ...], facts: tuple[str, ...],
    references: tuple[str, ...],
) -> Rule:  # fmt: skip
    """Return the rule of an index entry."""
    return Rule(
        id, title, Severity.parse(severity), family, frozenset(groups), default, scope, SUBJECTS[subject], types,
        {each[0]: Option(each[0], _TYPES[each[1]], each[2], each[3]) for each in options}, fixable, equivalents,
        Late(module, name) if name else None, module, fields, frozenset(kinds), facts, frozenset(references),
    )  # fmt: skip

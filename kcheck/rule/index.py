"""What is known of a package's rules without loading its modules.

A wheel brings such an index for each built-in package, made of it when the wheel is built (`hatch_build.py`): so a run imports the
rules of the types and kinds that it meets, and no others. Without one, as in an editable install, all modules are imported at the start.
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
"""The module of a package that holds its index."""

_TYPES: Mapping[str, type] = {kind.__name__: kind for kind in TYPES}


def modules(package: str) -> list[ModuleType]:
    """The modules of a package and of its sub-packages, by name. Names that begin with an underscore are left out."""
    roots = map(Path, import_module(package).__path__)
    paths = sorted(path.relative_to(root).with_suffix("").parts for root in roots for path in root.rglob("*.py"))
    return [import_module(".".join([package, *parts])) for parts in paths if not any(part.startswith("_") for part in parts)]


def contents(module: ModuleType) -> Iterator[tuple[str, Group | Rule | Validator | list[FieldTable]]]:
    """The groups, rules and validators that a module defines, and its lists of tables, with their names there."""
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
        """The validators of declared rules that are among these."""
        for rule, types, subject, module, name, fields, metadata in self._validators:
            yield Validator(rules[rule], types, SUBJECTS[subject], Late(module, name), fields, metadata)


def read_index(package: str) -> Index | None:
    """The index of a package, None where it has none."""
    if find_spec(f"{package}.{NAME}") is None:
        return None
    found = import_module(f"{package}.{NAME}")
    return Index(found.RULES, found.VALIDATORS, found.TABLES)


def index_of(package: str) -> str:
    """The text of a module that is the index of a package. Imports the whole package."""
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
    """A rule in literals, in the order of its fields; its function is a name."""
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
    """The rule of an entry."""
    return Rule(
        id, title, Severity.parse(severity), family, frozenset(groups), default, scope, SUBJECTS[subject], types,
        {each[0]: Option(each[0], _TYPES[each[1]], each[2], each[3]) for each in options}, fixable, equivalents,
        Late(module, name) if name else None, module, fields, frozenset(kinds), facts, frozenset(references),
    )  # fmt: skip

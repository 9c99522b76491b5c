"""All rules that there are: the built-in ones and those of plug-ins, collected the same way."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

import pluggy

from kcheck.rule.constraint import Check, FieldTable
from kcheck.rule.installed import EntryPoint, entry_points
from kcheck.rule.plugin import PROJECT, Specs
from kcheck.rule.rule import Rule

BUILT_IN = ("kcheck_spec", "kcheck_practice")


def _built_in_first(point: EntryPoint) -> tuple[int, str]:
    return (BUILT_IN.index(point.name) if point.name in BUILT_IN else len(BUILT_IN)), point.name


class PluginFailure(NamedTuple):
    """A plug-in that could not be loaded, and why."""

    name: str
    reason: str


class Registry:
    """Rules by id, field tables, checks, reporters and schema folders."""

    def __init__(self, rules: Mapping[str, Rule] = MappingProxyType({})) -> None:
        self.rules = dict(rules)
        self.tables: list[FieldTable] = []
        self.checks: list[Check] = []
        self.reporters: dict[str, Any] = {}
        self.schemas: list[Path] = []
        self.failures: list[PluginFailure] = []

    @classmethod
    def load(cls) -> Registry:
        """Everything that is installed. A plug-in that fails is named in `failures`; the others go on."""
        registry = cls()
        manager = pluggy.PluginManager(PROJECT)
        manager.add_hookspecs(Specs)
        for point in sorted(entry_points(PROJECT), key=_built_in_first):
            try:
                manager.register(point.load(), point.name)
                registry._take(manager, point.name)
            except Exception as error:
                registry.failures.append(PluginFailure(point.name, f"{type(error).__name__}: {error}"))
        return registry

    def _take(self, manager: pluggy.PluginManager, name: str) -> None:
        plugin = manager.get_plugin(name)
        others = [p for p in manager.get_plugins() if p is not plugin]
        hooks = {hook: manager.subset_hook_caller(hook, others) for hook in ("kcheck_rules", "kcheck_reporters", "kcheck_schemas")}
        for modules in hooks["kcheck_rules"]():
            for module in modules:
                self.add(module, foreign=name not in BUILT_IN)
        for reporters in hooks["kcheck_reporters"]():
            self.reporters.update(reporters)
        for folders in hooks["kcheck_schemas"]():
            self.schemas.extend(folders)

    def add(self, module: ModuleType, foreign: bool = False) -> None:
        """Collect what a module defines: Rules, Checks, and FieldTables in a list.

        Raises ValueError for an id that is taken, or a foreign one without prefix.
        """
        for value in list(vars(module).values()):
            if isinstance(value, Rule) and value.module == module.__name__:
                known = self.rules.get(value.id)
                if known is not None and known is not value:
                    raise ValueError(f"rule id {value.id!r} is taken by {known.module}")
                if foreign and "/" not in value.id:
                    raise ValueError(f"rule id {value.id!r} needs a prefix of its own, such as acme/{value.id}")
                self.rules[value.id] = value
            elif isinstance(value, list) and value and isinstance(value[0], FieldTable):
                self.tables.extend(value)
            elif isinstance(value, Check) and value.function.__module__ == module.__name__:
                self.checks.append(value)

    @cached_property
    def groups(self) -> dict[str, frozenset[str]]:
        """Group -> ids; the families are groups, and so is "all"."""
        table: dict[str, set[str]] = {"all": set(self.rules)}
        for rule in self.rules.values():
            for group in {*rule.groups, rule.family}:
                table.setdefault(group, set()).add(rule.id)
        return {k: frozenset(v) for k, v in sorted(table.items())}

    def page(self, rule: Rule) -> Path | None:
        """The page of a rule, None where its module has none."""
        file = getattr(sys.modules.get(rule.module), "__file__", None)
        if file is None:
            return None
        page = Path(file).parent / "pages" / f"{rule.id.rpartition('/')[2]}.md"
        return page if page.is_file() else None

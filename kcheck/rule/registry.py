"""All rules that there are: the built-in ones and those of plug-ins, collected the same way."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from kcheck.kube.suggestions import suggest
from kcheck.rule.constraint import FieldTable, LateTable, Validator
from kcheck.rule.groups import FAMILIES, GROUPS, Group
from kcheck.rule.index import contents, read_index
from kcheck.rule.installed import PROJECT, EntryPoint, entry_points
from kcheck.rule.rule import Rule
from kcheck.text.record import NamedTuple

BUILT_IN = ("kcheck_spec", "kcheck_practice")


def _built_in_first(point: EntryPoint) -> tuple[int, str]:
    return (BUILT_IN.index(point.name) if point.name in BUILT_IN else len(BUILT_IN)), point.name


class PluginFailure(NamedTuple):
    """A plug-in that could not be loaded, and why."""

    name: str
    reason: str


def _manager() -> Any:
    """A `pluggy.PluginManager`; a run of our own rules alone does without."""
    import pluggy

    from kcheck.rule.plugin import Specs

    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(Specs)
    return manager


class Registry:
    """Rules by id, field tables, validators, groups, reporters and schema folders."""

    def __init__(self, rules: Mapping[str, Rule] = MappingProxyType({})) -> None:
        self.rules = dict(rules)
        self.tables: list[FieldTable | LateTable] = []
        self.validators: list[Validator] = []
        self.added_groups: dict[str, str] = {}
        self.reporters: list[Any] = []
        self.schemas: list[Path] = []
        self.failures: list[PluginFailure] = []

    @classmethod
    def load(cls) -> Registry:
        """Everything that is installed. A plug-in that fails is named in `failures`; the others go on."""
        registry = cls()
        manager: Any = None
        for point in sorted(entry_points(PROJECT), key=_built_in_first):
            try:
                if point.name in BUILT_IN and registry._look_up(point.name):
                    continue
                manager = manager or _manager()
                manager.register(point.load(), point.name)
                registry._take(manager, point.name)
            except Exception as error:
                registry.failures.append(PluginFailure(point.name, f"{type(error).__name__}: {error}"))
        return registry

    def _look_up(self, package: str) -> bool:
        """Take in what the index of a package says that is in it, if it has one."""
        index = read_index(package)
        if index is None:
            return False
        self.rules.update(index.rules)
        self.validators += index.validators(self.rules)
        self.tables += index.tables
        return True

    def _take(self, manager: Any, name: str) -> None:
        plugin = manager.get_plugin(name)
        others = [p for p in manager.get_plugins() if p is not plugin]
        hooks = {hook: manager.subset_hook_caller(hook, others) for hook in ("kcheck_rules", "kcheck_reporters", "kcheck_schemas")}
        for modules in hooks["kcheck_rules"]():
            self.add(*modules, foreign=name not in BUILT_IN)
        for reporters in hooks["kcheck_reporters"]():
            self.reporters.extend(reporters)
        for folders in hooks["kcheck_schemas"]():
            self.schemas.extend(folders)

    def add(self, *modules: ModuleType, foreign: bool = False) -> None:
        """Collect what modules define: Groups, Rules, Validators, and FieldTables in a list. `foreign`: they are a plug-in's.

        Raises ValueError for an id that is taken, a foreign one without prefix, or a name that does not exist: of a group and, in what a
        plug-in defines, of an API type or kind.
        """
        found = [value for module in modules for _, value in contents(module)]
        self.added_groups.update({each.name: each.description for each in found if isinstance(each, Group)})
        if foreign:
            from kcheck.rule.vocabulary import require_known_names

            require_known_names(modules)
        for value in found:
            if isinstance(value, Rule):
                self._enter(value, foreign)
            elif isinstance(value, Validator):
                self.validators.append(value)
            elif isinstance(value, list):
                self.tables.extend(value)

    def _enter(self, rule: Rule, foreign: bool) -> None:
        known = self.rules.get(rule.id)
        if known is not None and known is not rule:
            raise ValueError(f"rule id {rule.id!r} is taken by {known.module}")
        if foreign and "/" not in rule.id:
            raise ValueError(f"rule id {rule.id!r} needs a prefix of its own, such as acme/{rule.id}")
        for group in rule.groups:
            if group not in GROUPS and group not in self.added_groups:
                raise ValueError(f"rule {rule.id}: unknown group {group!r}; {suggest(group, [*GROUPS, *self.added_groups])}")
        self.rules[rule.id] = rule

    @cached_property
    def groups(self) -> dict[str, frozenset[str]]:
        """Group -> ids; the families are groups, and so is "all"."""
        table: dict[str, set[str]] = {"all": set(self.rules)}
        for rule in self.rules.values():
            for group in {*rule.groups, rule.family}:
                table.setdefault(group, set()).add(rule.id)
        return {k: frozenset(v) for k, v in sorted(table.items())}

    def describe_group(self, name: str) -> str:
        """What the rules of a group are about, in one line."""
        return {**FAMILIES, **GROUPS, **self.added_groups}.get(name, "")

    def page(self, rule: Rule) -> Path | None:
        """The page of a rule, None where its module has none."""
        module = sys.modules.get(rule.module)
        spec = find_spec(rule.module) if module is None and rule.module else None
        file = getattr(module, "__file__", None) or (spec.origin if spec is not None else None)
        if file is None:
            return None
        page = Path(file).parent / "pages" / f"{rule.id.rpartition('/')[2]}.md"
        return page if page.is_file() else None

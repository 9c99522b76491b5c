"""The registry of all rules. Built-in rules and reporters are collected like those of plug-ins."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping
from copy import copy
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
from kcheck.rule.local import is_local, load_module
from kcheck.rule.rule import Rule
from kcheck.rule.user_policies import PREFIX, is_policy, policy_rule
from kcheck.text.record import NamedTuple

BUILT_IN = ("kcheck_spec", "kcheck_practice")
"""The plug-ins with the built-in rules."""

BUILT_IN_REPORTERS = EntryPoint("kcheck", "kcheck.reporters.plugin")
"""The plug-in with the built-in reporters. Its hook is called without pluggy, as importing that is slow."""


def _built_in_first(point: EntryPoint) -> tuple[int, str]:
    return (BUILT_IN.index(point.name) if point.name in BUILT_IN else len(BUILT_IN)), point.name


class PluginFailure(NamedTuple):
    """A plug-in that could not be loaded, and the reason."""

    name: str
    reason: str


def _manager() -> Any:
    """Return a `pluggy.PluginManager`. A run with built-in rules only does not need pluggy."""
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
        self.refuses_plugins = False

    def copy(self) -> Registry:
        """Return a registry with the same contents, to which rules can be added."""
        other = copy(self)
        other.rules, other.added_groups = dict(self.rules), dict(self.added_groups)
        for name in ("tables", "validators", "reporters", "schemas", "failures"):
            setattr(other, name, list(getattr(self, name)))
        return other

    def find(self, id: str) -> Rule | None:
        """Return a rule, or None if the id is unknown. The ids of user-defined policies are always known."""
        return self.rules.get(id) or (policy_rule(id) if is_policy(id) else None)

    def unknown_of(self, ids: Iterable[str]) -> set[str]:
        """Return the ids that are unknown."""
        return {id for id in ids if id not in self.rules and not is_policy(id)}

    @property
    def lacks_plugins(self) -> bool:
        """Whether a plug-in was not loaded, so that unknown names may belong to it."""
        return bool(self.failures) or self.refuses_plugins

    @property
    def local_modules(self) -> set[str]:
        """The modules of rules in Python files of the project."""
        return {rule.module for rule in self.rules.values() if is_local(rule.module)}

    @classmethod
    def load(cls) -> Registry:
        """Load everything that is installed. A plug-in that fails is added to `failures`; the others are loaded nevertheless."""
        registry = cls()
        registry.reporters += BUILT_IN_REPORTERS.load().kcheck_reporters()
        manager: Any = None
        for point in sorted(entry_points(PROJECT), key=_built_in_first):
            try:
                if point.name in BUILT_IN and registry._load_index(point.name):
                    continue
                manager = manager or _manager()
                manager.register(point.load(), point.name)
                registry._register_plugin(manager, point.name)
            except Exception as error:
                registry.failures.append(PluginFailure(point.name, f"{type(error).__name__}: {error}"))
        return registry

    def add_local(self, path: Path) -> None:
        """Add the rules of a Python file, which runs it. Raises any exception that the file raises, and ValueError if it has no rules."""
        module = load_module(path)
        if not any(True for _ in contents(module)):
            raise ValueError("the file defines no rule")
        self.add(module, foreign=True)
        vars(self).pop("groups", None)

    def _load_index(self, package: str) -> bool:
        """Add the contents of a package's index. Returns False if the package has no index."""
        index = read_index(package)
        if index is None:
            return False
        self.rules.update(index.rules)
        self.validators += index.validators(self.rules)
        self.tables += index.tables
        return True

    def _register_plugin(self, manager: Any, name: str) -> None:
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
        """Add the Groups, Rules, Validators and lists of FieldTables that modules define. `foreign`: the modules belong to a plug-in.

        Raises ValueError for a duplicate id, a plug-in rule id without prefix, or an unknown group; in modules of plug-ins, also for an
        unknown API type or kind.
        """
        found = [value for module in modules for _, value in contents(module)]
        groups = {each.name: each.description for each in found if isinstance(each, Group)}
        if foreign:
            from kcheck.rule.vocabulary import require_known_names

            require_known_names(modules)
        known_groups = {*GROUPS, *self.added_groups, *groups}
        rules: dict[str, Rule] = {}
        for value in found:
            if isinstance(value, Rule):
                self._require_valid(value, rules.get(value.id) or self.rules.get(value.id), foreign, known_groups)
                rules[value.id] = value
        # Nothing is added before everything is valid: a plug-in works completely or not at all.
        self.added_groups.update(groups)
        self.rules.update(rules)
        for value in found:
            if isinstance(value, Validator):
                self.validators.append(value)
            elif isinstance(value, list):
                self.tables.extend(value)

    def _require_valid(self, rule: Rule, known: Rule | None, foreign: bool, groups: Collection[str]) -> None:
        """Raise ValueError for a rule that cannot be added. `known`: the rule that already has its id."""
        if known is not None and known is not rule:
            raise ValueError(f"rule id {rule.id!r} is already used by {known.module}")
        if foreign and "/" not in rule.id:
            raise ValueError(f"rule id {rule.id!r} needs a plug-in prefix, such as acme/{rule.id}")
        if rule.id.startswith(PREFIX):
            raise ValueError(f"rule id {rule.id!r} has the prefix of user-defined policies; use another prefix")
        for group in rule.groups:
            if group not in groups:
                raise ValueError(f"rule {rule.id}: unknown group {group!r}; {suggest(group, sorted(groups))}")

    @cached_property
    def groups(self) -> dict[str, frozenset[str]]:
        """Group -> ids. Families and "all" are groups, too."""
        table: dict[str, set[str]] = {"all": set(self.rules)}
        for rule in self.rules.values():
            for group in {*rule.groups, rule.family}:
                table.setdefault(group, set()).add(rule.id)
        return {k: frozenset(v) for k, v in sorted(table.items())}

    def describe_group(self, name: str) -> str:
        """Return a one-line description of a group."""
        return {**FAMILIES, **GROUPS, **self.added_groups}.get(name, "")

    def page(self, rule: Rule) -> Path | None:
        """Return the path of a rule's page, or None if its module has none."""
        module = sys.modules.get(rule.module)
        spec = find_spec(rule.module) if module is None and rule.module else None
        file = getattr(module, "__file__", None) or (spec.origin if spec is not None else None)
        if file is None:
            return None
        page = Path(file).parent / "pages" / f"{rule.id.rpartition('/')[2]}.md"
        return page if page.is_file() else None

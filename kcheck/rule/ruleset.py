"""Selection of the rules to run, their severities and options, from the registry, the config and the command line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from kcheck.finding.severity import Severity
from kcheck.rule.presets import DEFAULT, PRESETS
from kcheck.rule.registry import Registry
from kcheck.rule.rule import Rule
from kcheck.rule.user_policies import EVERY, FAMILY, NO_POLICIES, PolicySelection, is_policy
from kcheck.text.record import NamedTuple

ALWAYS = frozenset({"internal-error", "unreadable-file", "invalid-yaml"})
"""Rules that cannot be switched off: a file that was not checked must never be reported as clean."""


class Setting(NamedTuple):
    """The config of a rule or group: enabled or disabled (None: not set), severity and options."""

    on: bool | None = None
    severity: Severity | None = None
    options: Mapping[str, Any] = {}


def merge(settings: dict[str, Setting], more: Mapping[str, Setting]) -> dict[str, Setting]:
    """Return settings overridden by others, field by field and option by option."""
    merged = dict(settings)
    for name, new in more.items():
        old = merged.get(name, Setting())
        merged[name] = Setting(
            old.on if new.on is None else new.on,
            new.severity or old.severity,
            {**old.options, **new.options},
        )
    return merged


class Active(NamedTuple):
    """An enabled rule."""

    rule: Rule
    severity: Severity
    options: dict[str, Any]


class RuleSet:
    """The enabled rules, by id. `policies`: which user-defined policies are enabled; none by default."""

    def __init__(self, active: Mapping[str, Active] = MappingProxyType({}), policies: PolicySelection = NO_POLICIES) -> None:
        self.active = dict(active)
        self.policies = policies

    def __contains__(self, id: str) -> bool:
        return id in self.active

    def runs(self, id: str) -> bool:
        """Return whether a rule is enabled, or a user-defined policy would be if it exists."""
        return id in self.active or (is_policy(id) and self.policies.is_enabled(id))

    def __getitem__(self, id: str) -> Active:
        return self.active[id]


def choose(
    registry: Registry,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    settings: Mapping[str, Setting] | None = None,
    preset: str = DEFAULT,
) -> RuleSet:
    """Return the rules to run.

    The rules of a preset and their options are the starting point. `settings` (from the config; groups are applied before ids) enable and
    disable rules and set severities and options. `select` (from the command line) replaces the enabled rules, and `ignore` disables rules.
    Ids and groups must have been validated.
    """
    groups = registry.groups
    settings = settings or {}
    chosen = PRESETS[preset].rules(registry)
    severity: dict[str, Severity] = {}
    options: dict[str, dict[str, Any]] = {id: dict(values) for id, values in PRESETS[preset].options.items()}
    named = [(k, v) for k, v in settings.items() if k in groups and k not in registry.rules]
    named += [(k, v) for k, v in settings.items() if k in registry.rules]
    for name, setting in named:
        ids = {name} if name in registry.rules else groups[name]
        if setting.on is True:
            chosen |= ids
        elif setting.on is False:
            chosen -= ids
        for id in ids:
            if setting.severity is not None:
                severity[id] = setting.severity
            if setting.options:
                options[id] = {**options.get(id, {}), **setting.options}
    if select:
        chosen = _expand(registry, select, chosen)
    chosen -= _expand(registry, ignore, registry.rules.keys())
    chosen |= ALWAYS & registry.rules.keys()
    return RuleSet(
        {
            id: Active(rule, severity.get(id, rule.severity), {n: o.default for n, o in rule.options.items()} | options.get(id, {}))
            for id, rule in sorted(registry.rules.items())
            if id in chosen
        },
        _choose_policies(tuple(select), tuple(ignore), settings),
    )


def _choose_policies(select: tuple[str, ...], ignore: tuple[str, ...], settings: Mapping[str, Setting]) -> PolicySelection:
    """Return which user-defined policies run. The same settings apply to them as to other rules."""
    known = {id: setting for id, setting in settings.items() if is_policy(id)}
    on = known[EVERY].on is not False if EVERY in known else True
    named = {id: setting.on for id, setting in known.items() if setting.on is not None and id != EVERY}
    severities = {id: setting.severity for id, setting in known.items() if setting.severity is not None}
    if select:
        on, named = not _FOR_ALL.isdisjoint(select), {name: True for name in select if is_policy(name)}
    if not _FOR_ALL.isdisjoint(ignore):
        on, named = False, {}
    named |= {name: False for name in ignore if is_policy(name)}
    return PolicySelection(on, named, severities, "undecided-policy" in select)


_FOR_ALL = frozenset((FAMILY, EVERY, "all"))
"""The names that select all user-defined policies."""


_VERDICT = "verdict"
"""The group of rules about what API servers answer, but that no user can or needs to change, so that they are off by default."""


def _expand(registry: Registry, names: Iterable[str], usual: Collection[str]) -> set[str]:
    """Return the ids of rules and groups.

    A group selects all its rules, a family (spec, practice) only its rules in `usual`, and those that the verdict of the API server needs.
    """
    families = {r.family for r in registry.rules.values()}
    ids: set[str] = set()
    for name in names:
        if name in registry.rules:
            ids.add(name)
        else:
            members = registry.groups.get(name, frozenset())
            ids |= {id for id in members if id in usual or _VERDICT in registry.rules[id].groups} if name in families else members
    return ids

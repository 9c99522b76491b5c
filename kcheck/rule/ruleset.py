"""Which rules run, how severe each is, and with which options: the registry seen through config and command line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from kcheck.finding.severity import Severity
from kcheck.rule.registry import Registry
from kcheck.rule.rule import Rule
from kcheck.text.record import NamedTuple

ALWAYS = frozenset({"internal-error", "unreadable-file", "invalid-yaml"})
"""What no selection switches off: a file that was not checked must never look clean."""


class Setting(NamedTuple):
    """What a config says of a rule or group: on or off (None: not said), a severity, options."""

    on: bool | None = None
    severity: Severity | None = None
    options: Mapping[str, Any] = {}


def merge(settings: dict[str, Setting], more: Mapping[str, Setting]) -> dict[str, Setting]:
    """Settings changed by others, field by field and option by option."""
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
    """A rule that runs."""

    rule: Rule
    severity: Severity
    options: dict[str, Any]


class RuleSet:
    """The rules that run, by id."""

    def __init__(self, active: Mapping[str, Active] = MappingProxyType({})) -> None:
        self.active = dict(active)

    def __contains__(self, id: str) -> bool:
        return id in self.active

    def __getitem__(self, id: str) -> Active:
        return self.active[id]


def choose(
    registry: Registry,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    settings: Mapping[str, Setting] | None = None,
) -> RuleSet:
    """The rules to run.

    Without `select`, those that are on by default; `settings` (config: groups first, then ids) switch on, off, re-rate and set
    options; `select` (command line) says what is on instead, `ignore` takes away. Ids and groups are taken as known here.
    """
    groups = registry.groups
    settings = settings or {}
    chosen = {r.id for r in registry.rules.values() if r.default}
    severity: dict[str, Severity] = {}
    options: dict[str, dict[str, Any]] = {}
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
        }
    )


def _expand(registry: Registry, names: Iterable[str], usual: Collection[str]) -> set[str]:
    """Ids of names. A group means all its rules; a family (spec, practice) those of it that are usual."""
    families = {r.family for r in registry.rules.values()}
    ids: set[str] = set()
    for name in names:
        if name in registry.rules:
            ids.add(name)
        else:
            members = registry.groups.get(name, frozenset())
            ids |= members.intersection(usual) if name in families else members
    return ids

"""The `rules` key of a config, at the top level and in overrides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kcheck.config.config import merge_origins
from kcheck.config.values import Values, quoted, shown
from kcheck.finding.severity import Severity
from kcheck.kube.suggestions import did_you_mean, nearest, suggest
from kcheck.regex.patterns import pattern_fault
from kcheck.rule.options import BadOption, Option, Pattern
from kcheck.rule.registry import Registry
from kcheck.rule.rule import Rule
from kcheck.rule.ruleset import ALWAYS, Setting, merge
from kcheck.rule.user_policies import EVERY, FAMILY
from kcheck.yaml.node import Node

_SEVERITIES = tuple(s.word for s in Severity)
_SWITCHES = {"on": True, "off": False}


class RuleSettings(NamedTuple):
    """The setting of each rule, by rule id, and where it is set, as FILE:LINE."""

    settings: dict[str, Setting]
    origins: dict[str, tuple[str, ...]]


def read_rules(node: Node, values: Values, registry: Registry) -> RuleSettings:
    """Returns the setting of each rule from a map of rules and groups.

    Groups are expanded here, larger ones first: the setting of a smaller group or of a rule wins over the setting of a larger group.
    """
    if not node:
        return RuleSettings({}, {})
    if not node.is_map:
        values.wrong(node, f"rules must be a map from rules and groups to settings, not {shown(node)}")
        return RuleSettings({}, {})
    return _Rules(values, registry).read(node)


class _Rules:
    def __init__(self, values: Values, registry: Registry) -> None:
        self.values = values
        self.registry = registry
        self.families = {rule.family for rule in registry.rules.values()}

    def read(self, node: Node) -> RuleSettings:
        by_name: dict[str, Setting] = {}
        places = {name: self.values.place(child) for name, child in node.entries}
        for name, child in node.entries:
            rule = self.registry.find(name)
            if rule is None and name not in self.registry.groups:
                if not self.is_of_missing_plugin(name):
                    self.values.wrong(child, self.unknown(name), at="key")
            elif name in ALWAYS:
                self.values.wrong(child, f"{name} is always on and always an error; remove this line", at="key")
            elif (setting := self.setting(child, name, rule)) is not None:
                by_name[name] = setting
        settings: dict[str, Setting] = {}
        origins: dict[str, tuple[str, ...]] = {}
        for name in sorted(by_name, key=self.precedence):
            setting = by_name[name]
            new = dict.fromkeys(self.members(name, setting), setting)
            origins = merge_origins(settings, origins, new, dict.fromkeys(new, (places[name],)))
            settings = merge(settings, new)
        return RuleSettings(settings, origins)

    def is_of_missing_plugin(self, name: str) -> bool:
        """Whether a name may belong to a plug-in that was not loaded, which is reported as such."""
        return self.registry.lacks_plugins and ("/" in name or nearest(name, [*self.registry.rules, *self.registry.groups]) is None)

    def precedence(self, name: str) -> int:
        """Sort key, lowest precedence first: "all", families, other groups, rules."""
        return 3 if self.registry.find(name) is not None else 0 if name == "all" else 1 if name in self.families else 2

    def members(self, name: str, setting: Setting) -> Iterable[str]:
        if self.registry.find(name) is not None:
            return (name,)
        ids = self.registry.groups[name] - ALWAYS
        if name in (FAMILY, "all"):
            ids |= {EVERY}
        if name in self.families and setting.on:
            # As on the command line, a family means its rules that are on by default.
            ids = frozenset(id for id in ids if id == EVERY or self.registry.rules[id].default)
        return sorted(ids)

    def setting(self, node: Node, name: str, rule: Rule | None) -> Setting | None:
        """Returns the setting of a rule, or of a group if `rule` is None; None if it is invalid."""
        # A severity of "all" or a family applies to the rules that are on; a severity of a rule or another group also switches it on.
        on = None if rule is None and name in {"all", *self.families} else True
        if node.is_map:
            options = self.options(node, name, rule)
            return Setting(on, self.severity(node["severity"]), options)
        if (switch := node.boolean if node.boolean is not None else _SWITCHES.get(node.text)) is not None:
            return Setting(switch)
        if node.text in _SEVERITIES:
            return Setting(on, Severity.parse(node.text))
        self.values.wrong(node, f"{name} must be off, on, info, warning, error or a map of options, not {shown(node)}")
        return None

    def severity(self, node: Node) -> Severity | None:
        if not node.exists:
            return None
        if node.text not in _SEVERITIES:
            self.values.wrong(node, f"severity must be info, warning or error, not {shown(node)}")
            return None
        return Severity.parse(node.text)

    def options(self, node: Node, name: str, rule: Rule | None) -> dict[str, Any]:
        known = {o.name.replace("_", "-"): o for o in rule.options.values()} if rule is not None else {}
        options: dict[str, Any] = {}
        for key, child in node.entries:
            if key == "severity":
                continue
            option = known.get(key)
            if option is None:
                self.values.wrong(child, _unknown_option(key, name, rule, known), at="key")
                continue
            try:
                value = option._replace(name=key).read(child.plain())
            except BadOption as error:
                self.values.wrong(child, str(error))
                continue
            fault = pattern_fault(value) if isinstance(value, Pattern) else ""
            if fault:
                self.values.wrong(child, f"{key} is not a valid regular expression: {fault}")
            else:
                options[option.name] = value
        return options

    def unknown(self, name: str) -> str:
        near = nearest(name, [*self.registry.rules, *self.registry.groups])
        if near:
            return f"unknown rule or group {quoted(name)}; {did_you_mean(near)}"
        if "/" in name:
            return f"unknown rule {quoted(name)}; check that its plug-in is installed"
        return f"unknown rule or group {quoted(name)}; see kcheck rules and kcheck rules --groups"


def _unknown_option(key: str, name: str, rule: Rule | None, known: Mapping[str, Option]) -> str:
    if rule is None:
        return f"group {name} has no option {quoted(key)}, only severity; set options on single rules"
    return f"unknown option {quoted(key)} of rule {name}; {suggest(key, [*sorted(known), 'severity'])}"

"""What a config says of rules: `rules` at its top and in each of its overrides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kcheck.config.values import Values, shown
from kcheck.finding.severity import Severity
from kcheck.kube.suggestions import nearest
from kcheck.regex.patterns import pattern_fault
from kcheck.rule.options import BadOption, Option, Pattern
from kcheck.rule.registry import Registry
from kcheck.rule.rule import Rule
from kcheck.rule.ruleset import ALWAYS, Setting, merge
from kcheck.yaml.node import Node

_SEVERITIES = tuple(s.word for s in Severity)
_SWITCHES = {"on": True, "off": False}


def read_rules(node: Node, values: Values, registry: Registry) -> dict[str, Setting]:
    """Rule id -> what a map of rules and groups says of it.

    Groups are taken apart here, the wider ones first, so that an override of a group beats what stands above of its members.
    """
    if not node:
        return {}
    if not node.is_map:
        values.wrong(node, f"rules is a map from a rule or group to what is said of it, not {shown(node)}")
        return {}
    return _Rules(values, registry).read(node)


class _Rules:
    def __init__(self, values: Values, registry: Registry) -> None:
        self.values = values
        self.registry = registry
        self.families = {rule.family for rule in registry.rules.values()}

    def read(self, node: Node) -> dict[str, Setting]:
        said: dict[str, Setting] = {}
        for name, child in node.entries:
            rule = self.registry.rules.get(name)
            if rule is None and name not in self.registry.groups:
                self.values.wrong(child, self.unknown(name), at="key")
            elif name in ALWAYS:
                self.values.wrong(child, f"{name} is always on and always an error: take this away", at="key")
            elif (setting := self.setting(child, name, rule)) is not None:
                said[name] = setting
        settings: dict[str, Setting] = {}
        for name in sorted(said, key=self.width):
            setting = said[name]
            settings = merge(settings, dict.fromkeys(self.members(name, setting), setting))
        return settings

    def width(self, name: str) -> int:
        """What comes first: "all", then families, other groups, rules."""
        return 3 if name in self.registry.rules else 0 if name == "all" else 1 if name in self.families else 2

    def members(self, name: str, setting: Setting) -> Iterable[str]:
        if name in self.registry.rules:
            return (name,)
        ids = self.registry.groups[name] - ALWAYS
        if name in self.families and setting.on:
            # As on the command line, a family means its usual rules.
            ids = frozenset(id for id in ids if self.registry.rules[id].default)
        return sorted(ids)

    def setting(self, node: Node, name: str, rule: Rule | None) -> Setting | None:
        """What is said of a rule, or of a group where `rule` is None; None where it makes no sense."""
        # A severity of everything re-rates what is on; of a rule or a small group it switches on, too.
        on = None if rule is None and name in {"all", *self.families} else True
        if node.is_map:
            options = self.options(node, name, rule)
            return Setting(on, self.severity(node["severity"]), options)
        if (switch := node.flag if node.flag is not None else _SWITCHES.get(node.text)) is not None:
            return Setting(switch)
        if node.text in _SEVERITIES:
            return Setting(on, Severity.parse(node.text))
        self.values.wrong(node, f"{name} is off, on, info, warning, error or a map of options, not {shown(node)}")
        return None

    def severity(self, node: Node) -> Severity | None:
        if not node.exists:
            return None
        if node.text not in _SEVERITIES:
            self.values.wrong(node, f"severity is info, warning or error, not {shown(node)}")
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
            return f"unknown rule {name!r}: did you mean {near}?"
        if "/" in name:
            return f"unknown rule {name!r}: is the plug-in installed that brings it?"
        return f"unknown rule {name!r}: no rule and no group is called so"


def _unknown_option(key: str, name: str, rule: Rule | None, known: Mapping[str, Option]) -> str:
    if rule is None:
        return f"{name} is a group, which has a severity and no options: write {key} under a rule"
    near = nearest(key, [*known, "severity"])
    if near:
        return f"unknown option {key!r} of {name}: did you mean {near}?"
    return f"unknown option {key!r} of {name}: it has {', '.join([*sorted(known), 'severity'])}"

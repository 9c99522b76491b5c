"""A config in the making: what the configs of other tools ask for, gathered check by check."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kcheck.finding.severity import WARNING, Severity
from kcheck.migration.equivalents import Counterparts
from kcheck.migration.note import Note
from kcheck.migration.option_overrides import PARTICULARS
from kcheck.rule.rule import Rule
from kcheck.rule.ruleset import Setting

SOLITARY = "practice"
"""What is switched off where a tool ran nothing but what its config names; what the API server refuses is told nevertheless."""


@dataclass
class ConfigDraft:
    """`origins`: the files that it comes from, with their tool; `solitary`: for each, whether it wanted nothing but what it names.

    `wanted`, `refused`: rule -> the checks for whose sake, as "kube-linter/latest-tag". `missing`: (file, tool) -> checks that run
    there unasked and have no counterpart.
    """

    counterparts: Counterparts
    origins: list[tuple[str, str]] = field(default_factory=list)
    solitary: list[bool] = field(default_factory=list)
    wanted: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    refused: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    severities: dict[str, Severity] = field(default_factory=dict)
    options: dict[str, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    exclude: list[str] = field(default_factory=list)
    kubernetes: str = ""
    notes: list[Note] = field(default_factory=list)
    missing: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))

    def want(self, tool: str, check: str, file: str, line: int = 0, severity: Severity | None = None) -> None:
        """Switch on what stands for a check. Without a severity, a rule that would merely inform warns: there, it failed the run."""
        rules = self.counterparts.rules(tool, check)
        if not rules and line:
            self.notes.append(Note(file, line, f"{tool} {check}: kcheck has no such rule"))
        elif not rules:
            self.missing[file, tool].add(check)
        for id in rules:
            self.want_rule(id, f"{tool}/{check}", severity)
        for (id, option), value in PARTICULARS.get(f"{tool}/{check}", {}).items():
            if id in rules:
                self.set_option(id, option, value, file, line)

    def want_rule(self, id: str, check: str, severity: Severity | None = None) -> None:
        self.wanted[id].add(check)
        least = max(self.counterparts.rule(id).severity, WARNING) if severity is None else severity
        self.severities[id] = max(least, self.severities.get(id, least))

    def refuse(self, tool: str, check: str, file: str, line: int = 0) -> None:
        """Switch off what stands for a check, where no other check wants it."""
        known = self.counterparts.checks(tool)
        if check not in known:
            self.notes.append(Note(file, line, f"{tool} {check}: no such check is known, so nothing is switched off for it"))
        for id in self.counterparts.rules(tool, check):
            self.refused[id].add(f"{tool}/{check}")

    def set_option(self, id: str, option: str, value: Any, file: str, line: int = 0) -> None:
        """Set an option of a rule. Lists grow; of two other values the first stays, which is told."""
        options = self.options[id]
        if option not in options:
            options[option] = value
        elif isinstance(value, tuple):
            options[option] = tuple(dict.fromkeys((*options[option], *value)))
        elif options[option] != value:
            shown = f"{id} {option.replace('_', '-')}"
            self.notes.append(Note(file, line, f"{shown} is {options[option]} already, so not {value}: a rule runs once"))

    def settings(self) -> dict[str, Setting]:
        """Rule -> what the config must say of it: the least that does it."""
        alone = bool(self.solitary) and all(self.solitary)
        settings: dict[str, Setting] = {}
        for id in sorted({*self.wanted, *self.refused}):
            rule = self.counterparts.rule(id)
            setting = self._on(rule, alone) if id in self.wanted else Setting(False) if rule.default and not alone else None
            if setting is not None:
                settings[id] = setting
        return settings

    def _on(self, rule: Rule, alone: bool) -> Setting | None:
        severity = self.severities[rule.id]
        stated = severity if severity != rule.severity else None
        options: Mapping[str, Any] = {
            name: value for name, value in sorted(self.options.get(rule.id, {}).items()) if value != rule.options[name].default
        }
        if rule.default and not (alone and rule.family == SOLITARY) and stated is None and not options:
            return None
        return Setting(True, stated, options)

    def settled(self) -> list[Note]:
        """All notes, with those about what runs unasked and about rules that one check wants and another one refuses."""
        missing = [
            Note(file, 0, f"kcheck has no rule for what {tool} does unasked: {', '.join(sorted(checks, key=_counted))}")
            for (file, tool), checks in self.missing.items()
        ]
        disputed = []
        for id in sorted(self.refused.keys() & self.wanted.keys()):
            refusing, wanting = (", ".join(sorted(checks)) for checks in (self.refused[id], self.wanted[id]))
            disputed.append(Note(self.origins[-1][0], 0, f"{id} stays on: {refusing} is off, and {wanting} is not"))
        return sorted([*self.notes, *missing, *disputed])


def _counted(check: str) -> list[tuple[int, str]]:
    """Sorts CKV_K8S_9 before CKV_K8S_10."""
    return [(int(part) if part.isdecimal() else -1, part) for part in re.split(r"(\d+)", check)]

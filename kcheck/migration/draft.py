"""A draft of a config, collected from the configs of other tools."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kcheck.finding.severity import WARNING, Severity
from kcheck.migration.equivalents import Counterparts
from kcheck.migration.note import Note
from kcheck.rule.rule import Rule
from kcheck.rule.ruleset import Setting

OPTION_OVERRIDES: dict[str, Mapping[tuple[str, str], Any]] = {
    "checkov/CKV_K8S_21": {("default-namespace", "unset"): True},
    "checkov/CKV_K8S_49": {("wildcard-resource", "groups"): True},
    "kube-linter/hpa-minimum-three-replicas": {("hpa-min-replicas", "minimum"): 3},
    "kube-linter/minimum-three-replicas": {("too-few-replicas", "minimum"): 3, ("too-few-replicas", "stateful_sets"): True},
    "kube-linter/no-anti-affinity": {("missing-anti-affinity", "spread"): False},
    "kube-linter/priority-class-name": {("forbidden-priority-class", "allow"): ("system-cluster-critical", "system-node-critical")},
    "kube-linter/required-annotation-email": {("missing-required-annotation", "annotations"): ("email",)},
    "kube-linter/required-label-owner": {("missing-recommended-labels", "labels"): ("owner",)},
    "kube-linter/use-namespace": {("default-namespace", "unset"): True},
    "kube-score/deployment-has-host-podantiaffinity": {("missing-anti-affinity", "spread"): False},
    "kube-score/deployment-replicas": {("too-few-replicas", "served"): True},
    "kube-score/deployment-strategy": {("non-rolling-update", "daemon_sets"): False},
    "kube-score/statefulset-has-host-podantiaffinity": {("missing-anti-affinity", "spread"): False},
    "polaris/missingPodDisruptionBudget": {("missing-pdb", "minimum"): 1},
}
"""Option values by check and (rule, option)."""


RESTRICTED_FAMILY = "practice"
"""The family that is switched off if the other tool ran only the checks that its config names. Rules of the spec family stay on."""


@dataclass
class ConfigDraft:
    """A draft of a config.

    Attributes:
        counterparts: The rules that replace checks of other tools.
        origins: The config files, each with its tool.
        exclusive: For each config file, whether only the checks that it names ran.
        wanted: Checks, such as "kube-linter/latest-tag", that switch a rule on, by rule id.
        refused: Checks that switch a rule off, by rule id.
        severities: Severities by rule id.
        options: Options by rule id.
        exclude: Globs of excluded files.
        kubernetes: Kubernetes version, "" for the default.
        notes: What could not be migrated.
        missing: Checks that run by default and have no equivalent, by (file, tool).
    """

    counterparts: Counterparts
    origins: list[tuple[str, str]] = field(default_factory=list)
    exclusive: list[bool] = field(default_factory=list)
    wanted: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    refused: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    severities: dict[str, Severity] = field(default_factory=dict)
    options: dict[str, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    exclude: list[str] = field(default_factory=list)
    kubernetes: str = ""
    notes: list[Note] = field(default_factory=list)
    missing: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))

    def want(self, tool: str, check: str, file: str, line: int = 0, severity: Severity | None = None) -> None:
        """Switches on the rules that replace a check. Without a severity, info becomes warning, as the check failed the other tool."""
        rules = self.counterparts.rules(tool, check)
        if not rules and line:
            self.notes.append(Note(file, line, f"{tool} {check}: kcheck has no such rule"))
        elif not rules:
            self.missing[file, tool].add(check)
        for id in rules:
            self.want_rule(id, f"{tool}/{check}", severity)
        for (id, option), value in OPTION_OVERRIDES.get(f"{tool}/{check}", {}).items():
            if id in rules:
                self.set_option(id, option, value, file, line)

    def want_rule(self, id: str, check: str, severity: Severity | None = None) -> None:
        self.wanted[id].add(check)
        least = max(self.counterparts.rule(id).severity, WARNING) if severity is None else severity
        self.severities[id] = max(least, self.severities.get(id, least))

    def refuse(self, tool: str, check: str, file: str, line: int = 0) -> None:
        """Switches off the rules that replace a check, unless another check needs them."""
        known = self.counterparts.checks(tool)
        if check not in known:
            self.notes.append(Note(file, line, f"{tool} {check}: unknown check, so no rule is switched off"))
        for id in self.counterparts.rules(tool, check):
            self.refused[id].add(f"{tool}/{check}")

    def set_option(self, id: str, option: str, value: Any, file: str, line: int = 0) -> None:
        """Sets an option of a rule. Lists are merged. For other values, the first one wins and the conflict is reported."""
        options = self.options[id]
        if option not in options:
            options[option] = value
        elif isinstance(value, tuple):
            options[option] = tuple(dict.fromkeys((*options[option], *value)))
        elif options[option] != value:
            shown = f"{id} {option.replace('_', '-')}"
            self.notes.append(
                Note(file, line, f"{shown} is already {options[option]}, so {value} is ignored: a rule has one value for all files")
            )

    def settings(self) -> dict[str, Setting]:
        """Returns the setting of each rule that differs from its default, by rule id."""
        alone = bool(self.exclusive) and all(self.exclusive)
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
        if rule.default and not (alone and rule.family == RESTRICTED_FAMILY) and stated is None and not options:
            return None
        return Setting(True, stated, options)

    def settled(self) -> list[Note]:
        """Returns all notes, including those about default checks without an equivalent and rules that are both wanted and refused."""
        missing = [
            Note(file, 0, f"kcheck has no rule for these default checks of {tool}: {', '.join(sorted(checks, key=_natural_order))}")
            for (file, tool), checks in self.missing.items()
        ]
        conflicts = []
        for id in sorted(self.refused.keys() & self.wanted.keys()):
            refusing, wanting = (", ".join(sorted(checks)) for checks in (self.refused[id], self.wanted[id]))
            conflicts.append(Note(self.origins[-1][0], 0, f"{id} stays on: {refusing} is off, but {wanting} is on"))
        return sorted([*self.notes, *missing, *conflicts])


def _natural_order(check: str) -> list[tuple[int, str]]:
    """Sort key that puts CKV_K8S_9 before CKV_K8S_10."""
    return [(int(part) if part.isdecimal() else -1, part) for part in re.split(r"(\d+)", check)]

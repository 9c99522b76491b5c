"""Presets: named sets of rules with their options. They decide what runs without `--select` and without `rules` in the config."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kcheck.rule.registry import Registry
from kcheck.text.record import NamedTuple

DEFAULT = "default"

_PEERS = ("checkov", "kube-linter", "polaris")
_PEER_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "cluster-admin-binding": {"administrators": True},
    "missing-memory-limit": {"short_lived": True},
}
"""Options with which rules report what the equivalent checks of the peers report."""

_OPPOSITES = frozenset({"cpu-limit"})
"""Rules that contradict another rule of `strict`: cpu-limit contradicts missing-cpu-limit."""


class Preset(NamedTuple):
    """A set of rules. `options`: options that differ from the defaults of the rules, by rule id."""

    description: str
    rules: Callable[[Registry], set[str]]
    options: Mapping[str, Mapping[str, Any]] = {}


def _minimal(registry: Registry) -> set[str]:
    return {rule.id for rule in registry.rules.values() if rule.default and rule.family == "spec"}


def _default(registry: Registry) -> set[str]:
    return {rule.id for rule in registry.rules.values() if rule.default}


def _recommended(registry: Registry) -> set[str]:
    # Imported late: only this preset reads the file.
    from kcheck.rule.equivalents import rules_of_default_checks

    return _default(registry) | {id for id in rules_of_default_checks(_PEERS) if id in registry.rules}


def _strict(registry: Registry) -> set[str]:
    policy = registry.groups.get("policy", frozenset())
    return set(registry.rules) - policy - _OPPOSITES | _default(registry)


PRESETS: Mapping[str, Preset] = {
    "minimal": Preset("what the API server rejects, ignores or warns about", _minimal),
    DEFAULT: Preset("minimal, and practice rules about what is dangerous or broken and rarely intended", _default),
    "recommended": Preset("default, and what kube-linter, polaris and checkov report by default", _recommended, _PEER_OPTIONS),
    "strict": Preset("all rules except those that enforce custom policies", _strict, _PEER_OPTIONS),
}
"""The presets by name, from the smallest to the largest."""

"""The rules of kcheck that replace checks of other tools."""

from __future__ import annotations

from collections.abc import Iterable

from kcheck.migration.tools import PEERS
from kcheck.rule.equivalents import equivalents
from kcheck.rule.registry import Registry
from kcheck.rule.rule import Rule


class Counterparts:
    """Looks up rules by the checks of other tools."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._rules = equivalents(registry.rules.values())

    def rules(self, tool: str, check: str) -> tuple[str, ...]:
        """Returns the ids of the rules that replace a check, sorted; () if there are none."""
        return self._rules.get(f"{tool}/{check}", ())

    def checks(self, tool: str) -> frozenset[str]:
        """Returns all known checks of a tool."""
        return PEERS[tool].checks | {name.partition("/")[2] for name in self._rules if name.startswith(f"{tool}/")}

    def of_all(self, tool: str, checks: Iterable[str]) -> frozenset[str]:
        return frozenset(id for check in checks for id in self.rules(tool, check))

    def rule(self, id: str) -> Rule:
        return self.registry.rules[id]

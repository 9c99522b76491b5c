"""User-defined policies as rules: their ids, and which of them are enabled.

Which policies exist is known only when the input has been read, so settings name them by id without checking that they exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kcheck.finding.severity import ERROR, Severity
from kcheck.rule.rule import Rule
from kcheck.text.record import NamedTuple

PREFIX = "policy/"
"""The prefix of the ids of user-defined policies."""

FAMILY = "policy"
"""The family and the group of all user-defined policies."""

EVERY = f"{PREFIX}*"
"""The id of all user-defined policies in settings and ignores."""


def is_policy(id: str) -> bool:
    """Whether an id is that of a user-defined policy."""
    return id.startswith(PREFIX) and len(id) > len(PREFIX)


def policy_rule(id: str) -> Rule:
    """Return the rule of a user-defined policy."""
    return Rule(id, f'Policy "{id.removeprefix(PREFIX)}"', ERROR, FAMILY, frozenset((FAMILY,)), scope="object")


class PolicySelection(NamedTuple):
    """Which user-defined policies are enabled.

    Attributes:
        on: Whether policies are enabled that `named` does not contain.
        named: Policies by id, and whether they are enabled.
        severities: Severities by id that replace those of the policies; that of `EVERY` applies to all others.
        notices: Whether policies are evaluated that are not enabled, for the rule undecided-policy.
    """

    on: bool = True
    named: Mapping[str, bool] = MappingProxyType({})
    severities: Mapping[str, Severity] = MappingProxyType({})
    notices: bool = False

    def is_evaluated(self, id: str) -> bool:
        """Return whether a policy is evaluated."""
        return self.notices or self.is_enabled(id)

    def is_enabled(self, id: str) -> bool:
        """Return whether a policy is enabled."""
        return self.named.get(id, self.on)

    def severity(self, id: str, usual: Severity) -> Severity:
        """Return the severity of the findings of a policy. `usual`: the severity that the policy gives them."""
        return self.severities.get(id) or self.severities.get(EVERY) or usual


NO_POLICIES = PolicySelection(on=False)
"""No policy is enabled."""

"""Which rules apply to files that only tests use."""

from __future__ import annotations

from kcheck.finding.role import ASSERTION, TEST_MANIFEST
from kcheck.finding.severity import ERROR
from kcheck.rule.ruleset import ALWAYS, Active, RuleSet

# An assertion is compared with objects, so only what can never match is a mistake.
_ASSERTION_RULES = ALWAYS | {"unknown-field", "unknown-kind", "wrong-type", "duplicate-key"}
# Tests use kinds that nothing in the repository defines, and data that are not complete objects.
_NOT_FOR_TESTS = frozenset({"missing-schema", "not-kubernetes-object"})
# What makes a test fail on another day or with another version of Kubernetes.
_TEST_GROUPS = frozenset({"images", "rbac", "upgrades"})


def limited_rules(rules: RuleSet, role: str) -> RuleSet:
    """Return the rules that apply to files with a role of `TESTS`.

    These are the rules of the API server and errors: what cannot work as written. The objects exist only in tests, so risks, above all
    those of security, do not count. Manifests that tests apply to a cluster also need images, permissions and API versions that last.
    """
    return RuleSet({id: active for id, active in rules.active.items() if _applies(id, active, role)})


def _applies(id: str, active: Active, role: str) -> bool:
    rule = active.rule
    if role == ASSERTION:
        return id in _ASSERTION_RULES
    if rule.family != "practice":
        return id not in _NOT_FOR_TESTS
    if "security" in rule.groups:
        return False
    return rule.severity == ERROR or (role == TEST_MANIFEST and not rule.groups.isdisjoint(_TEST_GROUPS))

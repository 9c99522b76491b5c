"""Which rules apply to files that only tests use, and to examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kcheck.finding.role import ASSERTION, EXAMPLES, INVALID_EXAMPLE, TEST_DATA, TEST_MANIFEST
from kcheck.finding.severity import ERROR
from kcheck.rule.ruleset import ALWAYS, Active, RuleSet

# An assertion is compared with objects, so only what can never match is a mistake.
_ASSERTION_RULES = ALWAYS | {"unknown-field", "unknown-kind", "wrong-type", "duplicate-key"}
# A file that is wrong on purpose may also have syntax errors.
_INVALID_EXAMPLE_RULES = frozenset({"internal-error", "unreadable-file"})
# Tests use kinds that nothing in the repository defines, and data that are not complete objects.
_NOT_FOR_TESTS = frozenset({"missing-schema", "not-kubernetes-object"})
# What makes a test fail on another day or with another version of Kubernetes.
_TEST_GROUPS = frozenset({"images", "rbac", "upgrades"})
# Slips in whole objects that tests only read. What else the API server would reject is up to the test: nothing applies the objects.
_TEST_DATA_RULES = ALWAYS | {"invalid-yaml", "unknown-field", "wrong-type", "duplicate-key"}
SELECTS_NOTHING = frozenset(
    {
        "service-without-pods",
        "service-with-unset-label",
        "network-policy-without-pods",
        "pdb-without-pods",
        "pod-monitor-without-pods",
        "service-monitor-without-services",
    }
)
"""Rules about selectors that match nothing. In data of tests and in examples, what they select may be in no file."""
# What workloads need in production. An example leaves it out, so that it shows one thing.
_PRODUCTION_GROUPS = frozenset({"availability", "probes", "resources"})
# A busybox image without a tag harms no example. Other images do: readers copy them.
_EXAMPLE_OPTIONS: Mapping[str, Mapping[str, Any]] = {"latest-tag": {"official_images": False}}


def limited_rules(rules: RuleSet, role: str, as_server: bool) -> RuleSet:
    """Return the rules that apply to files with a role of `TESTS` or `EXAMPLES`.

    For tests, these are the rules of the API server and errors: what cannot work as written. The objects exist only in tests, so risks,
    above all those of security, do not count. Manifests that tests apply to a cluster also need images, permissions and API versions that
    last; in data that a test only reads, only slips count. Examples need nothing that only matters in production.

    `as_server`: whether the report is what the API server would answer, so that all rules of the family spec apply to data of tests.
    """
    if role in EXAMPLES:
        active = {id: _for_examples(id, active) for id, active in rules.active.items() if not _is_for_production(active)}
        return RuleSet(active, rules.policies)
    return RuleSet({id: active for id, active in rules.active.items() if _applies_to_tests(id, active, role, as_server)})


def _applies_to_tests(id: str, active: Active, role: str, as_server: bool) -> bool:
    rule = active.rule
    if role == ASSERTION:
        return id in _ASSERTION_RULES
    if role == INVALID_EXAMPLE:
        return id in _INVALID_EXAMPLE_RULES
    if rule.family != "practice":
        return id not in _NOT_FOR_TESTS and (as_server or role not in TEST_DATA or id in _TEST_DATA_RULES)
    if "security" in rule.groups or (id in SELECTS_NOTHING and role in TEST_DATA):
        return False
    return rule.severity == ERROR or (role == TEST_MANIFEST and not rule.groups.isdisjoint(_TEST_GROUPS))


def _is_for_production(active: Active) -> bool:
    rule = active.rule
    if rule.family != "practice" or rule.severity == ERROR or "autoscaling" in rule.groups:
        return False
    return not rule.groups.isdisjoint(_PRODUCTION_GROUPS)


def _for_examples(id: str, active: Active) -> Active:
    options = _EXAMPLE_OPTIONS.get(id)
    return active if options is None else active._replace(options={**active.options, **options})

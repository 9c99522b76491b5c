"""Rules of our own, so that the tests do not change with the real ones."""

from __future__ import annotations

import pytest

from kcheck.finding.severity import ERROR, WARNING
from kcheck.rule.options import Option, Pattern
from kcheck.rule.registry import Registry
from kcheck.rule.rule import Rule


def _options(*options: Option) -> dict[str, Option]:
    return {o.name: o for o in options}


RULES = (
    Rule("latest-tag", "", WARNING, "practice", frozenset({"security"}), options=_options(Option("allow", tuple, (), ""))),
    Rule("host-network", "", WARNING, "practice", frozenset({"security"})),
    Rule("missing-probe", "", WARNING, "practice", frozenset({"reliability"}), options=_options(Option("min_replicas", int, 1, ""))),
    Rule("name-pattern-mismatch", "", WARNING, "practice", options=_options(Option("pattern", Pattern, Pattern("a"), ""))),
    Rule("redundant-default", "", WARNING, "practice", frozenset({"style"}), default=False),
    Rule("missing-schema", "", WARNING, "spec", options=_options(Option("ignore_groups", tuple, (), ""))),
    Rule("wrong-type", "", ERROR, "spec"),
    Rule("internal-error", "", ERROR, "spec"),
    Rule("unreadable-file", "", ERROR, "spec"),
    Rule("acme/owner", "", WARNING, "practice", options=_options(Option("ratio", float, 0.5, ""), Option("strict", bool, False, ""))),
)


@pytest.fixture(scope="session")
def registry() -> Registry:
    return Registry({rule.id: rule for rule in RULES})

"""The facts that migration rests on hang together with the rules."""

from __future__ import annotations

import pytest

from kcheck.migration import kube_score
from kcheck.migration.draft import OPTION_OVERRIDES
from kcheck.migration.equivalents import Counterparts
from kcheck.migration.kube_linter import PARAMETERS, Setter, TemplateChoice
from kcheck.migration.tools import KUBE_LINTER, PEERS, POLARIS, POLARIS_FORMER, Tool


def test_parameters_are_options_that_there_are(counterparts: Counterparts) -> None:
    rules = counterparts.registry.rules
    for known in PARAMETERS.values():
        if isinstance(known, Setter):
            assert known.option in rules[known.rule].options
        elif isinstance(known, TemplateChoice):
            assert all(id in rules for ids in known.rules.values() for id in ids)
    for check, options in OPTION_OVERRIDES.items():
        tool, _, name = check.partition("/")
        assert name in PEERS[tool].checks
        for (id, option), value in options.items():
            assert id in counterparts.rules(tool, name)
            assert type(value) is rules[id].options[option].type
    for id in (*kube_score._PARTIAL_IGNORES.values(), *kube_score._MINIMUM_OPTIONS.values()):
        assert id in rules


@pytest.mark.parametrize("peer", PEERS.values(), ids=lambda peer: peer.name)
def test_a_check_is_on_or_off(peer: Tool) -> None:
    assert peer.default.isdisjoint(peer.optional)


def test_former_names_have_new_ones() -> None:
    assert set(POLARIS_FORMER.values()) <= POLARIS.default


def test_most_defaults_have_counterparts(counterparts: Counterparts) -> None:
    found = [check for check in KUBE_LINTER.default if counterparts.rules("kube-linter", check)]
    assert len(found) >= 0.8 * len(KUBE_LINTER.default)

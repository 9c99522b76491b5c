"""Unusual inputs, some of each area; `benchmarks/fuzz.py` generates a hundred thousand."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.fuzz.areas import AREAS

EXAMPLES = {"many": 3, "shard": 15, "config": 25}
SHORT = settings(
    database=None,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much, HealthCheck.large_base_example],
)


@pytest.mark.parametrize("name", AREAS)
def test_whatever_it_is_given_it_answers(name: str) -> None:
    area = AREAS[name]

    @settings(SHORT, max_examples=EXAMPLES.get(name, 100))
    @given(st.randoms(use_true_random=False).map(area.make))
    def hold(made: str | bytes) -> None:
        begin = time.process_time()
        area.hold(made)
        # Machines differ, so this is for what never ends and no measure of speed.
        assert time.process_time() - begin < 20

    hold()

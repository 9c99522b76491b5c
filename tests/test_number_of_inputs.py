"""The fast loop tries fewer random inputs. CI tries all of them."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.conftest import ROOT, examples


def test_ci_runs_all_tests() -> None:
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").endswith("\npytest\n")


@pytest.mark.slow
def test_all_inputs_are_tried_with_the_slow_tests() -> None:
    assert settings.default is not None
    assert settings.default.max_examples == 100
    assert examples(1500).max_examples == 1500

from __future__ import annotations

import pytest

from kcheck.migration.draft import ConfigDraft
from kcheck.migration.equivalents import Counterparts
from kcheck.migration.input import Intake
from kcheck.rule.registry import Registry


@pytest.fixture(scope="session")
def counterparts() -> Counterparts:
    return Counterparts(Registry.load())


@pytest.fixture
def intake(counterparts: Counterparts) -> Intake:
    return Intake(ConfigDraft(counterparts))

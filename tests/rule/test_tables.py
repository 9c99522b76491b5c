"""Types and fields that rules subscribe to exist: a misspelt one would never be checked, without any error."""

import pytest

from kcheck.rule.registry import Registry
from kcheck.schema.builtin.components import Components
from kcheck.schema.builtin.definitions import available, load

REGISTRY = Registry.load()


@pytest.fixture(scope="module")
def fields() -> dict[str, set[str]]:
    """The fields of each type of the API and of component configuration, over all versions."""
    table: dict[str, set[str]] = {}
    for version in available():
        definitions = Components(load(version))
        for name in definitions.types():
            table.setdefault(name, set()).update(definitions.shape(name).fields)
    return table


def test_all_plug_ins_load() -> None:
    assert REGISTRY.failures == []


def test_types_of_rules_and_checks(fields: dict[str, set[str]]) -> None:
    named = {(rule.id, name) for rule in REGISTRY.rules.values() for name in rule.types}
    named |= {(f"{validator.rule.id}: {validator.load().__name__}", name) for validator in REGISTRY.validators for name in validator.types}
    assert sorted((who, name) for who, name in named if name not in fields) == []


def test_types_and_fields_of_tables(fields: dict[str, set[str]]) -> None:
    assert [name for table in REGISTRY.tables for name in table.types if name not in fields] == []
    # Of several types that share a table, such as the versions of one, not each has all fields.
    named = {(table.types, field) for table in REGISTRY.tables for field in table.load().fields}
    assert sorted((types, field) for types, field in named if not any(field in fields[name] for name in types)) == []


def test_topics_are_rules() -> None:
    ids = {validator.rule.id for validator in REGISTRY.validators}
    constraints = [each for table in REGISTRY.tables for listed in table.load().fields.values() for each in listed]
    ids |= {constraint.rule.id for constraint in constraints}
    assert ids <= REGISTRY.rules.keys()

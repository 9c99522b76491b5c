"""An index says of rules what their modules say, and finds there what it does not say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kcheck.rule.index import Index, index_of, modules, read_index
from kcheck.rule.plan import Hook, Plan, compile_plan
from kcheck.rule.registry import BUILT_IN, Registry
from kcheck.rule.rule import Late
from kcheck.rule.ruleset import choose


def loaded() -> Registry:
    """A registry of all built-in modules."""
    registry = Registry()
    for package in BUILT_IN:
        for module in modules(package):
            registry.add(module)
    return registry


def looked_up() -> Registry:
    """The same by indexes."""
    registry = Registry()
    for package in BUILT_IN:
        parts: dict[str, Any] = {}
        exec(index_of(package), parts)
        index = Index(parts["RULES"], parts["VALIDATORS"], parts["TABLES"])
        registry.rules.update(index.rules)
        registry.validators += index.validators(registry.rules)
        registry.tables += index.tables
    return registry


@pytest.fixture(scope="module")
def registries() -> tuple[Registry, Registry]:
    return loaded(), looked_up()


def test_rules_are_the_same(registries: tuple[Registry, Registry]) -> None:
    eager, late = registries
    assert list(eager.rules) == list(late.rules)
    for id, rule in eager.rules.items():
        other = late.rules[id]
        assert other._replace(function=None) == rule._replace(function=None)
        assert (rule.function is None) == (other.function is None)
        if rule.function is not None:
            assert isinstance(other.function, Late)
            assert other.load() is rule.load()
        assert eager.page(rule) == late.page(other)
    assert eager.groups == late.groups


def parts(hooks: list[Hook]) -> list[tuple[object, ...]]:
    return [(hook.rule, hook.subject, hook.function, hook.options, hook.type, hook.fields) for hook in hooks]


def described(plan: Plan, types: set[str]) -> dict[str, object]:
    """All that a plan has for these types, in its order."""
    table: dict[str, object] = {"documents": parts(plan.documents), "every": parts(plan.every)}
    for name in sorted(types):
        of = plan.of_type(name)
        assert of is not None
        table[name] = (parts(of.rules), parts(of.validators), of.absent, of.present, of.owned, of.closed, of.dropped)
    kinds = ("v1 Pod", "v1 Service", "networking.k8s.io/v1 NetworkPolicy", "a/v1 Unheard")
    for name in kinds:
        api_version, _, kind = name.partition(" ")
        table[name] = (parts(plan.objects.of_kind(api_version, kind)), parts(plan.bundle.of_kind(api_version, kind)))
    return table


@pytest.mark.parametrize("select", [(), ("all",), ("spec",)])
def test_plans_are_the_same(registries: tuple[Registry, Registry], select: tuple[str, ...]) -> None:
    types = {name for each in (*registries[0].tables, *registries[0].validators) for name in each.types}
    one, other = (described(compile_plan(registry, choose(registry, select)), types) for registry in registries)
    assert one == other


def test_what_has_no_index_is_loaded() -> None:
    assert read_index("tests") is None


PROGRAM = """
import sys
from kcheck.rule import index, registry
from kcheck.rule.plan import compile_plan
from kcheck.rule.ruleset import choose
import types
for package in registry.BUILT_IN:
    made = types.ModuleType(f"{package}._index")
    exec(open(f"{sys.argv[1]}/{package}.txt").read(), made.__dict__)
    made.__spec__ = __import__("importlib.machinery").machinery.ModuleSpec(made.__name__, None)
    sys.modules[made.__name__] = made
plan = compile_plan(*(lambda r: (r, choose(r)))(registry.Registry.load()))
before = set(sys.modules)
plan.of_type("core/v1 ServiceSpec")
print(*sorted(m for m in before if m.startswith("kcheck_")), "|", *sorted(m for m in set(sys.modules) - before if m.startswith("kcheck_")))
print("pluggy" in sys.modules)
"""


def test_modules_are_loaded_for_the_types_that_come(tmp_path: Path) -> None:
    for package in BUILT_IN:
        (tmp_path / f"{package}.txt").write_text(index_of(package), encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, timeout=300, check=True)
    modules, pluggy = done.stdout.splitlines()
    before, _, after = modules.partition("|")
    assert "kcheck_spec.storage.volumes" not in before.split() + after.split()
    assert "kcheck_spec.networking.services" in after.split()
    assert pluggy == "False"

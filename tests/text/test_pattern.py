"""Patterns that are compiled late: all there are can be."""

from __future__ import annotations

import importlib
import pkgutil
import re
from types import ModuleType

import pytest

import kcheck
import kcheck_practice
import kcheck_spec
from kcheck.text.pattern import _LazyPattern, pattern


def modules() -> list[ModuleType]:
    packages = (kcheck, kcheck_spec, kcheck_practice)
    names = [each.name for package in packages for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    return [importlib.import_module(name) for name in names if not name.endswith("__main__")]


def test_nothing_is_compiled_before_its_use() -> None:
    late = pattern(r"(a)+", re.IGNORECASE)
    assert vars(late) == {"_source": (r"(a)+", re.IGNORECASE)}
    found = late.fullmatch("aA")
    assert found is not None
    assert found[1] == "A"
    assert late.sub("b", "xay") == "xby"
    assert late.pattern == r"(a)+"


def test_a_mistake_shows_at_the_first_use() -> None:
    broken = pattern("(")
    with pytest.raises(re.error):
        broken.match("")


def test_all_patterns_can_be_compiled() -> None:
    late = [(module.__name__, value) for module in modules() for value in vars(module).values() if isinstance(value, _LazyPattern)]
    assert len(late) > 50
    for name, each in late:
        try:
            re.compile(*each._source)
        except re.error as error:
            pytest.fail(f"{name}: {error}: {each._source[0]}")

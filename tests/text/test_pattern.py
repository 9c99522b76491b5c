"""Patterns that are compiled late: all there are can be."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from re import _parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import pytest

import kcheck
import kcheck_practice
import kcheck_spec
from kcheck.text.pattern import _LazyPattern, pattern
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

SINGLE = ("LITERAL", "NOT_LITERAL", "IN", "ANY", "RANGE", "CATEGORY")
"""Operations that match one character: their possessive quantifiers are correct."""


def modules() -> list[ModuleType]:
    packages = (kcheck, kcheck_spec, kcheck_practice)
    names = [each.name for package in packages for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    return [importlib.import_module(name) for name in names if not name.endswith("__main__")]


def test_nothing_is_compiled_before_its_use() -> None:
    late = pattern(r"(a)+", re.IGNORECASE)
    assert vars(late) == {"_source": (r"(a)+", re.IGNORECASE), "_remembers": False}
    found = late.fullmatch("aA")
    assert found is not None
    assert found[1] == "A"
    assert late.sub("b", "xay") == "xby"
    assert late.pattern == r"(a)+"


def test_a_mistake_shows_at_the_first_use() -> None:
    broken = pattern("(")
    with pytest.raises(re.error):
        broken.match("")


def possessive_bodies(parsed: Any) -> Iterator[Any]:
    """Return the groups with a possessive quantifier in a parsed pattern."""
    for op, argument in parsed:
        if str(op) == "POSSESSIVE_REPEAT" and not (len(argument[2]) == 1 and str(argument[2][0][0]) in SINGLE):
            yield argument[2]
        yield from _nested(argument)


def _nested(argument: Any) -> Iterator[Any]:
    if isinstance(argument, _parser.SubPattern):
        yield from possessive_bodies(argument)
    elif isinstance(argument, (tuple, list)):
        for each in argument:
            yield from _nested(each)


def sources() -> Iterator[tuple[str, str, int]]:
    """Return the place, the text and the flags of all patterns of modules, and of those in functions that are constants."""
    for module in modules():
        for value in vars(module).values():
            if isinstance(value, _LazyPattern):
                yield module.__name__, *value._source
            elif isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                yield module.__name__, value.pattern, value.flags
        source = Path(str(module.__file__)).read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "re.compile(" in source else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile" and isinstance(node.args[0], ast.Constant):
                text = node.args[0].value
                yield module.__name__, text, re.VERBOSE if "\n" in text else 0


def test_possessive_groups_can_be_empty() -> None:
    """See kcheck/text/pattern.py: otherwise Python before 3.11.5 matches them incorrectly."""
    (wrong,) = possessive_bodies(_parser.parse(r"x(?:ab)*+[c]*+"))
    assert wrong.getwidth()[0] == 2
    found = [(name, text, body) for name, text, flags in sources() for body in possessive_bodies(_parser.parse(text, flags & ~re.UNICODE))]
    assert len(found) > 15
    assert not [(name, text) for name, text, body in found if body.getwidth()[0]]


@pytest.mark.parametrize(
    ("text", "value"),
    [("- shop", ["shop"]), ("- 1", [1]), ("- a: b", [{"a": "b"}]), ("-", [None]), ("- - x", [["x"]]), ("a b: c", {"a b": "c"})],
)
def test_lines_are_read_completely(text: str, value: object) -> None:
    """Python before 3.11.5 dropped the first character of list items."""
    (document,) = parse(Source("a.yaml", f"{text}\n"))
    assert document.root.plain() == value


def test_all_patterns_can_be_compiled() -> None:
    late = [(module.__name__, value) for module in modules() for value in vars(module).values() if isinstance(value, _LazyPattern)]
    assert len(late) > 50
    for name, each in late:
        try:
            re.compile(*each._source)
        except re.error as error:
            pytest.fail(f"{name}: {error}: {each._source[0]}")

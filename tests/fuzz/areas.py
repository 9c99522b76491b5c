"""The areas: how an input of each is made, and what must hold of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple

from kcheck.cel.eval.program import Environment, Program
from kcheck.cel.kubernetes.rule_evaluation import find_rules
from kcheck.cel.kubernetes.rule_validation import check_rules
from kcheck.cel.values.types import DYN
from kcheck.cel.values.values import EvaluationError
from kcheck.kube import cron, durations, image, quantity, selector
from kcheck.regex.automaton import Automaton, TooManySteps
from kcheck.regex.parser import BadPattern
from tests.fuzz import runs, sentences
from tests.fuzz.mutation import SCALARS, mutated, mutated_bytes, mutated_value, value
from tests.fuzz.readers import check_bytes, check_reading
from tests.fuzz.seeds import manifests
from tests.fuzz.yaml_mutation import mutant, texts


class Area(NamedTuple):
    """`make`: an input, written to a file as it is when it fails. `hold`: gives it to kcheck; raises where something does not hold.

    `share`: of a hundred inputs, how many are of this area.
    """

    make: Callable[[Random], str | bytes]
    hold: Callable[[Any], None]
    share: int


def text(random: Random) -> str:
    """A manifest after some accidents."""
    seeds = manifests()
    return mutated(random, random.choice(seeds), seeds)


def yaml_text(random: Random) -> str:
    """A text in which readers of YAML may see different documents."""
    return mutant(random, texts())


def data(random: Random) -> bytes:
    encoding = random.choice(("utf-8", "utf-8", "utf-8", "utf-16-le", "utf-16", "utf-32", "latin-1"))
    return mutated_bytes(random, random.choice(manifests()).encode(encoding, "replace"))


def manifest(random: Random) -> str:
    """A manifest after accidents of its text or of its values; then it is one that can be read."""
    if random.random() < 0.5:
        return text(random)
    trees = runs.trees()
    return json.dumps(mutated_value(random, runs.copied(random.choice(trees)), trees[: random.randint(1, len(trees))]))


def _selector(made: str) -> None:
    with suppress(selector.BadSelector):
        found = selector.parse(made)
        assert selector.parse(str(found)) == found
        selector.contradictory(found)
        selector.can_overlap(found, selector.parse("a=b,c"))
        selector.nearest(found, [("x", {"a": "b"}), ("y", {})])


def fields(random: Random) -> str:
    """Something like the fields of a label selector, whose labels are texts by then."""
    labels = {str(random.choice(SCALARS)): random.choice(("", "a", None)) for _ in range(random.randint(0, 2))}
    fields: Any = {"matchLabels": labels, "matchExpressions": [{"key": value(random, 0), "operator": "In", "values": value(random, 1)}]}
    fields["matchExpressions"] = mutated_value(random, fields["matchExpressions"])
    return json.dumps(fields)


def _fields(made: str) -> None:
    found = selector.of_fields(json.loads(made))
    assert found is not None
    str(found)
    found.matches({"a": "b"})
    selector.contradictory(found)


def _quantity(made: str) -> None:
    for parse in (quantity.parse, quantity.parse_exact):
        with suppress(quantity.BadQuantity):
            found = parse(made)
            # The server loses a suffix beyond E, and so it is written.
            if abs(found.approximate()) < 1e21:
                assert quantity.parse(str(found)) == found
            assert not found < found
            found.milli, found.rounded(), found + found, found - found, -found
    quantity.percent(made)


def _duration(made: str) -> None:
    for parse in (durations.parse, durations.parse_format):
        with suppress(durations.BadDuration):
            parse(made)


def _image(made: str) -> None:
    with suppress(image.BadImage):
        found = image.parse(made)
        assert str(image.parse(str(found))) == str(found)
        found.repository, found.is_pinned, found.is_latest, found.pull_policy  # noqa: B018


def patterns(random: Random) -> str:
    return json.dumps([sentences.pattern(random), sentences.probe(random)])


def _pattern(made: str) -> None:
    pattern, probe = json.loads(made)
    with suppress(BadPattern, TooManySteps):
        found = Automaton(pattern)
        assert found.search(probe) == found.search(probe) == Automaton(pattern).search(probe)


_ENVIRONMENTS = [({"self": DYN, "oldSelf": DYN}, minor) for minor in (25, 30, 36)]
_SELVES: tuple[Any, ...] = (
    {"s": "a", "n": 1, "l": [1, "x", None], "m": {"a": 1}, "o": {"x": 1.5}, "any": None}, "1Gi", [1, 2], 5, None, True, {}, [],
)  # fmt: skip


def _expression(made: str) -> None:
    for variables, minor in _ENVIRONMENTS:
        found = Environment(dict(variables), minor).compile(made)
        if not isinstance(found, Program):
            assert found
            assert all(issue.message and 0 <= issue.offset <= len(made) for issue in found)
            continue
        for each in _SELVES:
            with suppress(EvaluationError):
                found.evaluate({"self": each, "oldSelf": each})


_TYPED = {
    "type": "object",
    "properties": {
        "s": {"type": "string", "maxLength": 10}, "n": {"type": "integer"}, "l": {"type": "array", "items": {"type": "string"}},
        "m": {"type": "object", "additionalProperties": {"type": "integer"}}, "any": {"x-kubernetes-int-or-string": True},
        "o": {"type": "object", "properties": {"x": {"type": "number"}}},
    },
}  # fmt: skip


def _typed_expression(made: str) -> None:
    """Types, cost, and the rule asked of an object."""
    schema = {**_TYPED, "x-kubernetes-validations": [{"rule": made, "messageExpression": made}]}
    for fault in check_rules(schema):
        assert fault.message
    found = find_rules(schema, resource=False)
    assert found is not None
    for given in ({"s": "a", "n": 1, "l": ["x"], "m": {"a": 1}, "o": {"x": 1.5}, "any": "1"}, {}, {"l": [], "m": {}, "any": 5}):
        for violation in found.evaluate(given):
            assert violation.message
    list(found.uncompiled({}))


AREAS: Mapping[str, Area] = MappingProxyType(
    {
        "reader": Area(text, check_reading, 16),
        "yaml": Area(yaml_text, check_reading, 8),
        "bytes": Area(data, check_bytes, 6),
        "selector": Area(sentences.selector, _selector, 5),
        "selector fields": Area(fields, _fields, 3),
        "quantity": Area(sentences.quantity, _quantity, 5),
        "duration": Area(sentences.duration, _duration, 3),
        "schedule": Area(sentences.schedule, lambda made: str(cron.schedule(made)) and None, 3),
        "image": Area(sentences.image, _image, 4),
        "pattern": Area(patterns, _pattern, 5),
        "expression": Area(sentences.formula, _expression, 6),
        "typed expression": Area(sentences.formula, _typed_expression, 5),
        "config": Area(runs.config, runs.hold_config, 4),
        "manifest": Area(manifest, runs.hold_manifest, 10),
        "many": Area(runs.many, runs.hold_many, 1),
        "ignore": Area(runs.ignores, runs.hold_manifest, 3),
        "custom resource": Area(runs.custom, runs.hold_manifest, 4),
        "json schema": Area(runs.json_schema, runs.hold_json_schema, 2),
        "shard": Area(runs.shard, runs.hold_shard, 2),
        "graph": Area(manifest, runs.hold_graph, 2),
        "migration": Area(runs.migrated, runs.hold_migration, 3),
    }
)

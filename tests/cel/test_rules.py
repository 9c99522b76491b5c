"""Rules of schemas on objects, and what is wrong with rules."""

from __future__ import annotations

from typing import Any

import pytest

from kcheck.cel.kubernetes.environments import environment_of
from kcheck.cel.kubernetes.rule_evaluation import find_rules
from kcheck.cel.kubernetes.rule_validation import check_rules
from kcheck.cel.schema.declarations import shape_of

INTEGER = {"type": "integer"}
STRING = {"type": "string"}


def schema(*rules: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A schema whose spec has these rules."""
    properties = {"min": INTEGER, "max": INTEGER, "name": STRING, "a-b": STRING, "list": {"type": "array", "items": STRING}}
    spec = {"type": "object", "properties": {**properties, **more}, "x-kubernetes-validations": list(rules)}
    return {"type": "object", "properties": {"spec": spec}}


def violations(rule: dict[str, Any], spec: dict[str, Any], **more: Any) -> list[tuple[str, str, str]]:
    rules = find_rules(schema(rule, **more))
    assert rules is not None
    return [(each.field, each.reason, each.message) for each in rules.evaluate({"spec": spec})]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"rule": "self.min <= self.max"}, []),
        ({"rule": "self.min > self.max"}, [("spec", "Invalid", "failed rule: self.min > self.max")]),
        ({"rule": "false", "message": " said "}, [("spec", "Invalid", "said")]),
        ({"rule": "false", "fieldPath": ".min"}, [("spec.min", "Invalid", "failed rule: false")]),
        ({"rule": "false", "fieldPath": "['a-b']"}, [("spec.a-b", "Invalid", "failed rule: false")]),
        ({"rule": "false", "reason": "FieldValueForbidden"}, [("spec", "Forbidden", "failed rule: false")]),
        ({"rule": "false", "reason": "FieldValueRequired"}, [("spec", "Required", "failed rule: false")]),
        ({"rule": "false", "messageExpression": "'min ' + string(self.min)"}, [("spec", "Invalid", "min 1")]),
        ({"rule": "false", "messageExpression": "self.name", "message": "else"}, [("spec", "Invalid", "else")]),
        ({"rule": "false", "messageExpression": "'a\\nb'", "message": "else"}, [("spec", "Invalid", "else")]),
        ({"rule": "self.name == 'x'"}, [("spec", "Invalid", "no such key: name evaluating rule: self.name == 'x'")]),
        ({"rule": "self.min == oldSelf.min"}, []),
        ({"rule": "oldSelf.hasValue()", "optionalOldSelf": True}, [("spec", "Invalid", "failed rule: oldSelf.hasValue()")]),
        ({"rule": "!oldSelf.hasValue()", "optionalOldSelf": True}, []),
        ({"rule": "self.max == 'x'"}, []),
    ],
)
def test_violation(rule: dict[str, Any], expected: list[tuple[str, str, str]]) -> None:
    assert violations(rule, {"min": 1, "max": 2}) == expected


def test_rules_stand_anywhere() -> None:
    rule = {"x-kubernetes-validations": [{"rule": "self.k != ''"}]}
    inner = {"type": "object", "properties": {"k": STRING}, **rule}
    root = {
        "type": "object",
        "properties": {"list": {"type": "array", "items": inner}, "map": {"type": "object", "additionalProperties": inner}},
        "x-kubernetes-validations": [{"rule": "self.metadata.name != 'bad'"}],
    }
    rules = find_rules(root)
    assert rules is not None
    bad = {"metadata": {"name": "bad"}, "list": [{"k": "a"}, {"k": ""}], "map": {"x/y": {"k": ""}}}
    found = rules.evaluate(bad)
    assert [(each.field, each.path) for each in found] == [("<nil>", ()), ("list[1]", ("list", 1)), ("map[x/y]", ("map", "x/y"))]
    assert rules.evaluate({"metadata": {"generateName": "ok-"}}) == []


def test_values_are_read_by_their_schema() -> None:
    more = {
        "d": {"type": "string", "format": "duration"}, "t": {"type": "string", "format": "date-time"},
        "day": {"type": "string", "format": "date"},
        "b": {"type": "string", "format": "byte"}, "n": {"type": "number"}, "p": {"x-kubernetes-int-or-string": True},
        "set": {"type": "array", "items": STRING, "x-kubernetes-list-type": "set"}, "gone": {"type": "string", "nullable": True},
        "namespace": STRING,
    }  # fmt: skip
    spec = {
        "d": "3 days", "t": "2020-01-01T00:00:00Z", "day": "2020-01-02", "b": "YWJj", "n": 1, "p": "50%", "set": ["a", "b"], "gone": None,
        "namespace": "x",
    }  # fmt: skip
    for rule in (
        "self.d == duration('72h')",
        "self.day - self.t == duration('24h')",
        "self.b == b'abc'",
        "self.n == 1.0",
        "type(self.p) == string && self.p.endsWith('%')",
        "self.set == ['b', 'a'] && self.set + ['a', 'c'] == ['c', 'b', 'a']",
        "!has(self.gone)",
        "self.namespace == 'x' && self.__namespace__ == 'x'",
    ):
        assert violations({"rule": rule}, spec, **more) == [], rule


def test_the_cost_of_an_object_is_bounded() -> None:
    loops = "lists.range(500).all(a, lists.range(500).all(b, lists.range(500).all(c, true)))"
    found = violations({"rule": loops}, {"min": 1})
    assert [field for field, _, _ in found] == ["spec"]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"rule": "self.min <= self.max"}, []),
        ({"rule": " "}, [("rule", "Required")]),
        ({"rule": "self.min"}, [("rule", "Invalid")]),
        ({"rule": "self.min >"}, [("rule", "Invalid")]),
        ({"rule": "self.nope"}, [("rule", "Invalid")]),
        ({"rule": "self.min > 'a'"}, [("rule", "Invalid")]),
        ({"rule": "dyn(true)"}, [("rule", "Invalid")]),
        ({"rule": "self.name.matches('(')"}, [("rule", "Invalid")]),
        ({"rule": "self.list.all(x, self.list.all(y, x == y))"}, [("", "Forbidden"), ("rule", "Forbidden"), ("rule", "Forbidden")]),
        ({"rule": "true\n|| false"}, [("message", "Required")]),
        ({"rule": "true", "message": " "}, [("message", "Invalid")]),
        ({"rule": "true", "message": "a\nb"}, [("message", "Invalid")]),
        ({"rule": "true", "messageExpression": " "}, [("messageExpression", "Required")]),
        ({"rule": "true", "messageExpression": "1"}, [("messageExpression", "Invalid")]),
        ({"rule": "true", "reason": "Invalid"}, [("reason", "NotSupported")]),
        ({"rule": "true", "fieldPath": ".nope"}, [("fieldPath", "Invalid")]),
        ({"rule": "true", "fieldPath": "min"}, [("fieldPath", "Invalid")]),
        ({"rule": "true", "fieldPath": "['a-b']"}, []),
        ({"rule": "true", "optionalOldSelf": True}, [("optionalOldSelf", "Invalid")]),
        ({"rule": "self == oldSelf"}, []),
    ],
)
def test_broken_rule(rule: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    found = [(each.field.rpartition("x-kubernetes-validations[0].")[2], each.reason) for each in check_rules(schema(rule))]
    assert sorted(found) == expected


def test_the_place_of_a_fault() -> None:
    fault = check_rules(schema({"rule": "true &&\n  self.nope"}))[0]
    assert fault.field == "properties[spec].x-kubernetes-validations[0].message"
    fault = check_rules(schema({"rule": "true &&\n  self.nope", "message": "x"}))[0]
    assert fault.field == "properties[spec].x-kubernetes-validations[0].rule"
    assert fault.path == ("properties", "spec", "x-kubernetes-validations", 0, "rule")
    assert fault.offset == 14
    assert "2:7: undefined field 'nope'" in fault.message


def test_transitions_need_items_that_can_be_found_again() -> None:
    rule = {"x-kubernetes-validations": [{"rule": "self == oldSelf"}]}
    inner = {"type": "object", "properties": {"k": STRING}, "required": ["k"], **rule}
    plain = {"type": "object", "properties": {"list": {"type": "array", "items": inner}}}
    keyed = {"type": "array", "items": inner, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    assert [each.field for each in check_rules(plain)] == ["properties[list].items.x-kubernetes-validations[0].rule"]
    assert check_rules({"type": "object", "properties": {"list": keyed}}) == []


def test_the_same_rule_of_the_same_type_is_judged_by_the_limits_of_each_schema() -> None:
    rule = {"x-kubernetes-validations": [{"rule": "self.all(x, self.all(y, x == y))"}]}
    plain = {"type": "array", "items": STRING, **rule}
    few = {"type": "array", "items": {**STRING, "maxLength": 9}, "maxItems": 9, **rule}
    fields = [each.field for each in check_rules({"type": "object", "properties": {"few": few, "many": plain}})]
    assert fields[0] == "properties[many].x-kubernetes-validations[0].rule"
    assert not any("few" in field for field in fields)


def test_the_same_rule_of_different_fields_is_compiled_for_each() -> None:
    rule = {"x-kubernetes-validations": [{"rule": "self.size > 1"}]}
    whole, text = ({"type": "object", "properties": {"size": each}, **rule} for each in (INTEGER, STRING))
    for first, second in ((whole, text), (text, whole)):
        root = {"type": "object", "properties": {"a": {"type": "object", "properties": {"x": first}}, "b": second}}
        assert ["overload" in each.message for each in check_rules(root)] == [True]
        alone = check_rules({"type": "object", "properties": {"b": first}})
        assert ["overload" in each.message for each in alone] == [True] * (first is text)


def test_a_schema_with_several_uses_is_compiled_once() -> None:
    spec = {"type": "object", "properties": {"size": INTEGER}}
    shapes = [shape_of(each, name="selfType.spec") for each in (spec, spec, {**spec})]
    shapes.append(shape_of(spec, name="selfType.status"))
    first, second, other, renamed = (environment_of(each, False, 36) for each in shapes if each is not None)
    assert first is second
    assert first is not other
    assert first is not renamed


@pytest.mark.parametrize("broken", [[{"type": "object"}], "text", 1, True])
@pytest.mark.parametrize("where", ["metadata", "kind", "spec"])
@pytest.mark.parametrize("key", ["allOf", "required", "items", "additionalProperties"])
def test_rules_beside_an_invalid_schema(where: str, key: str, broken: object) -> None:
    size = {**INTEGER, "x-kubernetes-validations": [{"rule": "self > 1"}]}
    root = {"type": "object", key: broken, "properties": {"size": size, where: broken}}
    rules = find_rules(root)
    assert rules is not None
    assert [each.field for each in rules.evaluate({"size": 1, "metadata": {"name": "a"}, "spec": {}})] == ["size"]


@pytest.mark.parametrize("rules", [True, "a", {"rule": "true"}, 1])
def test_rules_that_are_not_a_list_are_left_to_other_checks(rules: object) -> None:
    inner = {"type": "object", "x-kubernetes-validations": rules}
    root = {"type": "object", "properties": {"spec": inner}, "allOf": [inner], "x-kubernetes-validations": rules}
    assert list(check_rules(root)) == []

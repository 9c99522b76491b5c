"""Custom resources are judged as the API server judges them: one small CRD a feature."""

from __future__ import annotations

from typing import Any

import pytest

from kcheck.kube.resource import Resource
from kcheck.schema.crd.structural import Schema
from kcheck.schema.path import field_path
from kcheck.schema.walk import Walk
from tests.schema.judging import crd, documents, problems, refusals, spec, store_of, thing

NOWHERE = "<nil>"


def fields(schema: str, value: str) -> list[str]:
    return [field for _, field, _ in refusals(schema, value)]


# --- unknown fields


KNOWN = """
    type: object
    properties:
      a: {type: object, properties: {b: {type: string}}}
      list: {type: array, items: {type: object, properties: {x: {type: integer}}}}
      map: {type: object, additionalProperties: {type: object, properties: {w: {type: boolean}}}}
      text: {type: string}
"""


@pytest.mark.parametrize(
    ("value", "unknown"),
    [
        ("{a: {b: x}, list: [{x: 1}], map: {k: {w: true}}}", []),
        ("{zz: 1}", ["spec.zz"]),
        ("{a: {b: x, c: 1}}", ["spec.a.c"]),
        ("{list: [{x: 1}, {z: 2}]}", ["spec.list[1].z"]),
        ("{map: {any key: {q: 1}}}", ["spec.map.any key.q"]),
    ],
)
def test_unknown_fields_are_reported(value: str, unknown: list[str]) -> None:
    assert refusals(KNOWN, value) == [("unknown-field", field, "UnknownField") for field in unknown]


def test_a_field_of_a_map_that_should_be_a_string_is_not_unknown() -> None:
    assert refusals(KNOWN, "{text: {a: 1}}") == [("wrong-type", "spec.text", "TypeInvalid")]


def test_unknown_fields_come_with_a_suggestion() -> None:
    ((_, problem),) = problems(store_of(crd(spec(KNOWN))), thing("{lists: []}"))
    assert (problem.message, problem.help) == ('unknown field "spec.lists"', 'did you mean "list"?')
    assert problem.at == "key"


@pytest.mark.parametrize(
    ("value", "unknown"),
    [
        ("{free: [1, null, {q: 1}]}", []),
        ("{known: {x: 1, z: 1}}", ["spec.known.z"]),
        ("{keep: {z: {w: 1}}}", []),
        ("{list: [{free: 1}]}", []),
        ("{closed: {x: 1}}", ["spec.closed.x"]),
    ],
)
def test_preserved_fields_are_free_but_not_what_a_property_describes(value: str, unknown: list[str]) -> None:
    schema = """
        type: object
        x-kubernetes-preserve-unknown-fields: true
        properties:
          known: {type: object, properties: {x: {type: integer}}}
          keep: {type: object, x-kubernetes-preserve-unknown-fields: true}
          list: {type: array, x-kubernetes-preserve-unknown-fields: true, items: {type: object}}
          closed: {type: object}
    """
    assert fields(schema, value) == unknown


def test_metadata_is_typed() -> None:
    store = store_of(crd(spec("type: object")))
    reported = problems(store, "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a, labels: {a: 1}, bogus: x}, spec: {}}")
    assert sorted(rule for rule, _ in reported) == ["unknown-field", "wrong-type"]


def test_the_root_needs_no_schema_for_its_identity() -> None:
    assert problems(store_of(crd("type: object")), "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}}") == []


# --- nulls and defaults


FILLED = """
    type: object
    properties:
      plain: {type: string}
      nullable: {type: string, nullable: true}
      filled: {type: string, default: aa, maxLength: 2}
      both: {type: string, nullable: true, default: aa}
      needed: {type: integer}
      items: {type: array, items: {type: string}}
      nulls: {type: array, items: {type: string, nullable: true}}
      map: {type: object, additionalProperties: {type: string}}
    required: [needed]
"""


@pytest.mark.parametrize(
    ("value", "refused"),
    [
        ("{needed: 1, plain: null, nullable: null, filled: null, both: null}", []),
        ("{needed: 1, map: {a: null}, nulls: [null]}", []),
        ("{needed: null}", [("missing-required-field", "spec.needed", "Required")]),
        ("{needed: 1, items: [a, null]}", [("wrong-type", "spec.items[1]", "TypeInvalid")]),
    ],
)
def test_a_null_in_a_map_is_dropped_and_in_a_list_refused(value: str, refused: list[tuple[str, str, str]]) -> None:
    assert refusals(FILLED, value) == refused


def test_a_default_fills_what_is_required() -> None:
    schema = """
        type: object
        required: [a]
        properties:
          a: {type: object, default: {}, required: [b], properties: {b: {type: string, default: x}}}
    """
    assert refusals(schema, "{}") == []


# --- types


@pytest.mark.parametrize(
    ("type", "good", "bad"),
    [
        ("{type: string}", ["x", "'1'"], ["1", "true", "[x]"]),
        ("{type: integer}", ["1", "1.0", "1e3", "-5"], ["1.5", "'1'", "true"]),
        ("{type: number}", ["1", "1.5"], ["'1'", "{}"]),
        ("{type: boolean}", ["true"], ["1", "'true'"]),
        ("{type: array, items: {type: string}}", ["[]"], ["x", "{}"]),
        ("{type: object}", ["{}"], ["x", "[]"]),
        ("{x-kubernetes-int-or-string: true}", ["1", "50%", "'1'"], ["1.5", "true", "{}"]),
        ("{x-kubernetes-preserve-unknown-fields: true}", ["1", "x", "[1, a, null]", "{x: null}"], []),
    ],
)
def test_types(type: str, good: list[str], bad: list[str]) -> None:
    schema = f"{{type: object, properties: {{a: {type}}}}}"
    for value in good:
        assert refusals(schema, f"{{a: {value}}}") == [], value
    for value in bad:
        reported = refusals(schema, f"{{a: {value}}}")
        assert ("wrong-type", "spec.a", "TypeInvalid") in reported, value
        assert {rule for rule, _, _ in reported} <= {"wrong-type", "crd-schema-violation"}, reported


def test_a_number_that_no_integer_holds_has_a_second_cause_without_a_field() -> None:
    schema = "{type: object, properties: {a: {type: integer}, b: {type: integer, format: int32}}}"
    assert fields(schema, "{a: 9223372036854775808}") == [NOWHERE, "spec.a"]
    assert fields(schema, "{a: 9223372036854775807}") == []
    assert refusals(schema, "{b: 2147483648}") == [("crd-schema-violation", NOWHERE, "Invalid")]
    assert fields("{type: object, properties: {a: {x-kubernetes-int-or-string: true}}}", "{a: 1.5}") == ["spec.a"]


def test_a_bound_that_the_server_cannot_hold_lets_no_number_pass() -> None:
    schema = "{type: object, properties: {a: {type: integer, maximum: 9223372036854775807}, b: {type: integer, maximum: 4294967295}}}"
    assert fields(schema, "{a: 1}") == [NOWHERE]
    assert fields(schema, "{b: 1}") == []


# --- single values


@pytest.mark.parametrize(
    ("schema", "good", "bad", "reason"),
    [
        ("{type: string, maxLength: 3}", ["ééé"], ["éééé"], "TooLong"),
        ("{type: string, minLength: 2}", ["日本"], ["日", "''"], "Invalid"),
        ("{type: string, pattern: '^\\p{L}+$'}", ["Größe"], ["Gr1", "''"], "Invalid"),
        ("{type: string, pattern: 'b'}", ["abc"], ["ac"], "Invalid"),
        ("{type: string, pattern: '^a$'}", ["a"], ['"a\\n"'], "Invalid"),
        ("{type: string, enum: [a, b]}", ["a"], ["c", "A", "''"], "NotSupported"),
        ("{type: integer, enum: [1, 2]}", ["1"], ["3"], "NotSupported"),
        ("{type: integer, minimum: 1, maximum: 3}", ["1", "3"], ["0", "4"], "Invalid"),
        ("{type: number, minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true}", ["0.5"], ["0", "1", "-1"], "Invalid"),
        ("{type: integer, multipleOf: 5}", ["0", "10"], ["7"], "Invalid"),
        ("{type: number, multipleOf: 0.25}", ["0.75"], ["0.3", "1"], "Invalid"),
        ("{type: array, items: {type: integer}, minItems: 1}", ["[1]"], ["[]"], "Invalid"),
        ("{type: array, items: {type: integer}, maxItems: 1}", ["[1]"], ["[1, 2]"], "TooMany"),
        ("{type: object, additionalProperties: {type: integer}, minProperties: 1}", ["{a: 1}"], ["{}"], "Invalid"),
        ("{type: object, additionalProperties: {type: integer}, maxProperties: 1}", ["{a: 1}"], ["{a: 1, b: 2}"], "TooMany"),
        ("{type: string, format: date-time}", ["2026-01-31T12:00:00Z"], ["2026-01-31"], "TypeInvalid"),
        ("{type: string, format: made-up}", ["anything"], [], ""),
    ],
)
def test_values(schema: str, good: list[str], bad: list[str], reason: str) -> None:
    whole = f"type: object\nproperties:\n  a: {schema}"
    for value in good:
        assert refusals(whole, f"{{a: {value}}}") == [], value
    for value in bad:
        ((_, field, said),) = refusals(whole, f"{{a: {value}}}")
        assert (field, said) == ("spec.a", reason), value


def test_of_a_text_only_the_first_fault_is_reported() -> None:
    assert len(fields("{type: object, properties: {a: {type: string, maxLength: 1, pattern: '^b$'}}}", "{a: cc}")) == 1


def test_formats_that_a_version_does_not_know_yet_are_not_checked() -> None:
    schema = "{type: object, properties: {a: {type: string, format: k8s-short-name}}}"
    assert len(refusals(schema, "{a: A_b}", version="1.36")) == 1
    assert refusals(schema, "{a: A_b}", version="1.33") == []


def test_a_pattern_that_explodes_elsewhere_is_answered_at_once() -> None:
    assert fields("{type: object, properties: {a: {type: string, pattern: '^(a+)+$'}}}", f"{{a: {'a' * 5000}b}}") == ["spec.a"]


def test_a_pattern_that_go_refuses_is_not_checked() -> None:
    assert refusals("{type: object, properties: {a: {type: string, pattern: '^(?=x)'}}}", "{a: b}") == []


# --- combinations


def test_any_of() -> None:
    schema = "{type: object, properties: {a: {type: integer}, b: {type: integer}}, anyOf: [{required: [a]}, {required: [b]}]}"
    assert refusals(schema, "{b: 1}") == []
    assert refusals(schema, "{}") == [("crd-schema-violation", NOWHERE, "Invalid"), ("missing-required-field", "spec.a", "Required")]


def test_one_of() -> None:
    schema = "{type: object, properties: {a: {type: integer}, b: {type: integer}}, oneOf: [{required: [a]}, {required: [b]}]}"
    assert refusals(schema, "{b: 1}") == []
    assert refusals(schema, "{a: 1, b: 1}") == [("crd-schema-violation", NOWHERE, "Invalid")]
    ((_, problem),) = problems(store_of(crd(spec(schema))), thing("{a: 1, b: 1}"))
    assert (problem.message, problem.help) == ("spec can have only one of a, b", "keep only one")


def test_of_alternatives_that_fail_the_one_with_most_passed_checks_is_reported() -> None:
    schema = """
        type: object
        properties: {mode: {type: string}, a: {type: integer}, b: {type: integer}}
        oneOf:
        - {properties: {mode: {enum: [A]}}, required: [a]}
        - {properties: {mode: {enum: [B]}, b: {minimum: 5}}, required: [b]}
    """
    assert refusals(schema, "{mode: A}") == [("crd-schema-violation", NOWHERE, "Invalid"), ("missing-required-field", "spec.a", "Required")]
    assert refusals(schema, "{mode: B, b: 1}") == [
        ("crd-schema-violation", NOWHERE, "Invalid"),
        ("crd-schema-violation", "spec.b", "Invalid"),
    ]


def test_all_of_and_not() -> None:
    schema = """
        type: object
        properties: {a: {type: integer}, b: {type: integer}}
        allOf: [{properties: {a: {maximum: 5}}}]
        not: {required: [b]}
    """
    assert refusals(schema, "{a: 5}") == []
    assert fields(schema, "{a: 6}") == [NOWHERE, "spec.a"]
    assert fields(schema, "{b: 6}") == [NOWHERE]


# --- lists whose items differ


def test_sets() -> None:
    schema = "{type: object, properties: {s: {type: array, x-kubernetes-list-type: set, items: {type: string}}}}"
    assert refusals(schema, "{s: [a, b]}") == []
    reported = refusals(schema, "{s: [a, b, a, b, a]}")
    assert reported == [("duplicate-list-item", "spec.s[2]", "Duplicate"), ("duplicate-list-item", "spec.s[3]", "Duplicate")]


@pytest.mark.parametrize(
    ("value", "same"), [("[1, 1.0]", True), ("[1, 1.5]", False), ("[0, false]", False), ("[{a: 1, b: 2}, {b: 2, a: 1}]", True)]
)
def test_what_is_the_same_in_a_set(value: str, same: bool) -> None:
    schema = """
        type: object
        properties:
          s: {type: array, x-kubernetes-list-type: set, items: {x-kubernetes-preserve-unknown-fields: true}}
    """
    assert bool(refusals(schema, f"{{s: {value}}}")) is same


def test_keys_of_a_list_map_are_compared_after_defaulting() -> None:
    schema = """
        type: object
        properties:
          ports:
            type: array
            x-kubernetes-list-type: map
            x-kubernetes-list-map-keys: [number, protocol]
            items:
              type: object
              required: [number]
              properties: {number: {type: integer}, protocol: {type: string, default: TCP}}
    """
    assert refusals(schema, "{ports: [{number: 1}, {number: 1, protocol: UDP}]}") == []
    assert refusals(schema, "{ports: [{number: 1}, {number: 1, protocol: TCP}]}") == [("duplicate-list-item", "spec.ports[1]", "Duplicate")]


def test_keys_of_maps_stand_in_brackets_where_the_server_writes_them_so() -> None:
    schema = "{type: object, additionalProperties: {type: array, x-kubernetes-list-type: set, items: {type: string}}}"
    assert fields(schema, "{k.x: [a, a]}") == ["spec[k.x][1]"]
    assert fields(schema, "{k.x: [1]}") == ["spec.k.x[0]"]


# --- objects within objects


EMBEDDED = """
    type: object
    properties:
      t: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
      u: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}}
"""


@pytest.mark.parametrize(
    ("value", "refused"),
    [
        ("{t: {apiVersion: v1, kind: Pod, metadata: {name: X_Y}, free: 1}}", []),
        ("{t: {}}", ["spec.t.apiVersion", "spec.t.kind"]),
        ("{t: {apiVersion: '', kind: ''}}", ["spec.t.apiVersion", "spec.t.kind"]),
        ("{t: {apiVersion: a/b/c, kind: Pod}}", ["spec.t.apiVersion"]),
        ("{t: {apiVersion: v1, kind: a b}}", ["spec.t.kind"]),
        ("{t: {apiVersion: v1, kind: Pod, metadata: {labels: {a b: c}}}}", ["spec.t.metadata.labels"]),
        ("{t: {apiVersion: v1, kind: Pod, metadata: {name: a/b}}}", ["spec.t.metadata.name"]),
        ("{u: {apiVersion: v1, kind: Pod, data: {}}}", ["spec.u.data"]),
    ],
)
def test_embedded_objects(value: str, refused: list[str]) -> None:
    assert fields(EMBEDDED, value) == refused


@pytest.mark.parametrize(
    ("value", "rules"),
    [
        ("{t: {apiVersion: 1, kind: Pod}}", ["wrong-type"]),
        ("{t: {apiVersion: v1, kind: Pod, metadata: []}}", ["wrong-type"]),
        ("{t: {apiVersion: v1, kind: Pod, metadata: {labels: {a: 1}}}}", ["wrong-type"]),
        ("{t: {apiVersion: v1, kind: Pod, metadata: {bogus: 1}}}", ["unknown-field"]),
    ],
)
def test_metadata_of_embedded_objects_is_typed(value: str, rules: list[str]) -> None:
    assert [rule for rule, _, _ in refusals(EMBEDDED, value)] == rules


# --- subresources


STATUS = """
    type: object
    required: [spec]
    properties:
      spec: {type: object, properties: {count: {type: integer}, l: {type: string}}}
      status: {type: object, required: [r], properties: {r: {type: integer}}}
"""


def test_with_the_status_subresource_a_status_is_dropped_but_not_its_unknown_fields() -> None:
    store = store_of(crd(STATUS, subresources="{status: {}}"))
    assert problems(store, thing("{}") + "status: {r: x}") == []
    assert problems(store, thing("{}") + "status: x") == []
    for status in ("{z: 1}", "{r: {a: 1}}"):
        assert [rule for rule, _ in problems(store, thing("{}") + f"status: {status}")] == ["unknown-field"]
    reported = problems(store_of(crd(STATUS)), thing("{}") + "status: {}")
    assert [(rule, problem.field) for rule, problem in reported] == [("missing-required-field", "status.r")]


@pytest.mark.parametrize(
    ("value", "refused"),
    [
        ("{count: 1, l: a=b}", []),
        ("{}", []),
        ("{count: -1}", [".spec.count"]),
        ("{count: 2147483648}", [".spec.count"]),
        ("{count: x}", [".spec.count", "spec.count"]),
        ("{l: 1}", [".spec.l", "spec.l"]),
    ],
)
def test_the_scale_subresource(value: str, refused: list[str]) -> None:
    scale = "{scale: {specReplicasPath: .spec.count, statusReplicasPath: .status.r, labelSelectorPath: .spec.l}}"
    reported = problems(store_of(crd(STATUS, subresources=scale)), thing(value))
    assert sorted(problem.field or "" for _, problem in reported) == refused


# --- the CRD's rules


RULES = """
    type: object
    properties: {a: {type: integer, maximum: 5}, b: {type: string}}
    required: [b]
    x-kubernetes-validations: [{rule: 'self.b != "bad"'}]
"""


class Recorder:
    """Rules that only note what they are handed."""

    def __init__(self) -> None:
        self.values: list[dict[str, Any]] = []

    def evaluate(
        self, schema: Schema, value: dict[str, Any], resource: Resource, walk: Walk, old: dict[str, Any] | None = None
    ) -> None:  # fmt: skip
        assert schema.field("spec") is not None
        self.values.append(value)


@pytest.mark.parametrize(
    ("value", "blocked", "evaluated"),
    [("{b: bad}", False, True), ("{a: 6, b: x}", False, True), ("{}", True, False), ("{a: x, b: bad}", True, False)],
)
def test_rules_run_unless_an_error_prevents_it(value: str, blocked: bool, evaluated: bool) -> None:
    store = store_of(crd(spec(RULES)))
    store.rules = recorder = Recorder()
    reported = problems(store, thing(value))
    assert bool(recorder.values) is evaluated
    assert [problem.field for rule, problem in reported if rule == "unevaluated-crd-rules"] == ([NOWHERE] if blocked else [])


def test_rules_are_not_checked_for_want_of_a_name() -> None:
    reported = problems(store_of(crd(spec(RULES))), "{apiVersion: example.com/v1, kind: Thing, metadata: {}, spec: {b: x}}")
    assert [rule for rule, _ in reported] == ["unevaluated-crd-rules"]


def test_rules_see_the_object_as_the_server_holds_it() -> None:
    schema = """
        type: object
        properties: {a: {type: integer, default: 3}, o: {type: string}}
        x-kubernetes-validations: [{rule: 'true'}]
    """
    store = store_of(crd(spec(schema)))
    store.rules = recorder = Recorder()
    problems(store, "{apiVersion: example.com/v1, kind: Thing, metadata: {generateName: a-, labels: {}}, spec: {o: null, zz: 1}}")
    (value,) = recorder.values
    assert value["spec"] == {"a": 3}
    assert value["metadata"]["name"].startswith("a-")
    assert "labels" not in value["metadata"]


# --- what else


def test_a_finding_on_a_missing_field_is_shown_at_its_map() -> None:
    ((_, problem),) = problems(store_of(crd(spec("{type: object, required: [a]}"))), thing("{}"))
    assert problem.field == "spec.a"
    assert not getattr(problem.node, "exists", True)


def test_an_item_of_a_list_of_objects_is_judged_by_itself() -> None:
    store = store_of(crd(spec(KNOWN)))
    item = "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, spec: {zz: 1}}"
    reported = problems(store, f"apiVersion: v1\nkind: List\nitems:\n- {item}\n")
    assert [problem.field for _, problem in reported] == ["spec.zz"]


def test_the_shape_tells_fields_from_keys() -> None:
    judge = store_of(crd(spec(KNOWN))).added("example.com/v1", "Thing")
    assert judge is not None
    assert judge.shape is not None
    (document,) = documents(thing("{map: {k.x: {w: true}}, list: [{x: 1}]}"))
    root = document.root
    assert field_path(root.at("spec", "map", "k.x", "w"), root, judge.shape) == "spec.map[k.x].w"
    assert field_path(root.at("spec", "list", 0, "x"), root, judge.shape) == "spec.list[0].x"
    assert field_path(root.at("metadata", "labels", "a"), root, judge.shape) == "metadata.labels[a]"
    assert set(judge.shape.fields["spec"].shape.fields) == {"a", "list", "map", "text"}


def test_a_crash_is_reported() -> None:
    class Broken(Recorder):
        def evaluate(
        self, schema: Schema, value: dict[str, Any], resource: Resource, walk: Walk, old: dict[str, Any] | None = None
    ) -> None:  # fmt: skip
            raise RuntimeError("no")

    store = store_of(crd(spec(RULES)))
    store.rules = Broken()
    with pytest.raises(RuntimeError):
        problems(store, thing("{b: x}"))

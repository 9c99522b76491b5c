"""Expressions of policies, webhooks and device selectors."""

from __future__ import annotations

import pytest

from kcheck.cel.eval.program import Program
from kcheck.cel.kubernetes.devices import check_selector
from kcheck.cel.kubernetes.policies import PolicyCompiler
from kcheck.cel.library.authorization import AUTHORIZER
from kcheck.cel.schema.native_values import read_untyped
from kcheck.cel.values.values import MessageValue, Undecided


def fits(compiler: PolicyCompiler, expression: str, result: str = "bool", authorizer: bool = True) -> bool:
    return isinstance(compiler.compile(expression, result, authorizer=authorizer), Program)


@pytest.mark.parametrize(
    ("expression", "good"),
    [
        ("object.spec.replicas > 1", True),
        ("object.spec.replicas", False),
        ("request.userInfo.groups.exists(g, g == 'x')", True),
        ("request.nope == 1", False),
        ("namespaceObject.metadata.labels['a'] == 'b'", True),
        ("namespaceObject.metadata.uid == 'b'", False),
        ("authorizer.group('apps').resource('deployments').check('get').allowed()", True),
        ("authorizer.requestResource.check('get').allowed()", True),
        ("params.max > 1", False),
        ("variables.a == 1", False),
        ("Object{} == Object{}", False),
    ],
)
def test_conditions_of_webhooks(expression: str, good: bool) -> None:
    assert fits(PolicyCompiler(), expression) is good


def test_variables_in_turn() -> None:
    compiler = PolicyCompiler(variables=True)
    assert compiler.declare("later", "variables.text == 'a'")
    assert not compiler.declare("text", "'a'")
    assert not compiler.declare("user", "request.userInfo")
    assert fits(compiler, "variables.text == 'a'")
    assert not fits(compiler, "variables.text == 1")
    assert fits(compiler, "variables.user.anything == 1")
    assert not fits(compiler, "variables.nope == 1")
    assert not isinstance(compiler.compile("variables.text == 'a'", "bool", variables=False), Program)


def test_the_last_variable_of_a_name_counts() -> None:
    compiler = PolicyCompiler(variables=True)
    compiler.declare("a", "'x'")
    assert fits(compiler, "variables.a == 'y'")
    compiler.declare("a", "1 > 0")
    assert not fits(compiler, "variables.a == 'y'")


def test_what_a_message_may_name() -> None:
    compiler = PolicyCompiler(params=True, variables=True)
    assert fits(compiler, "'x' + string(params.y)", "string", authorizer=False)
    assert not fits(compiler, "authorizer.path('/').check('get').reason()", "string", authorizer=False)
    assert not fits(compiler, "null", "string")
    assert fits(compiler, "null", "string or null")


@pytest.mark.parametrize(
    ("expression", "result", "good"),
    [
        ("Object{spec: Object.spec{replicas: 1}}", "object", True),
        ("Object.spec{replicas: 1}", "object", False),
        ("[JSONPatch{op: 'add', path: '/a', value: 1}]", "patches", True),
        ("[JSONPatch{op: 'add', path: 1}]", "patches", False),
        ("[JSONPatch{op: 'add', nope: 1}]", "patches", False),
        ("JSONPatch{op: 'add'}", "patches", False),
        ("[JSONPatch{op: 'add', path: '/' + jsonpatch.escapeKey('a/b')}]", "patches", True),
        ("type(object) == Object", "bool", False),
    ],
)
def test_mutations(expression: str, result: str, good: bool) -> None:
    assert fits(PolicyCompiler(variables=True, patches=True), expression, result) is good


def test_a_mutation_is_made() -> None:
    program = PolicyCompiler(patches=True).compile("Object{spec: Object.spec{replicas: object.spec.replicas + 1}}", "object")
    assert isinstance(program, Program)
    made = program.evaluate({"object": read_untyped({"spec": {"replicas": 2}})})
    assert isinstance(made, MessageValue)
    assert made["spec"]["replicas"] == 3


def test_an_authorizer_is_not_asked() -> None:
    program = PolicyCompiler().compile("authorizer.group('').resource('pods').check('get').allowed() || object.ok", "bool")
    assert isinstance(program, Program)
    assert program.evaluate({"authorizer": AUTHORIZER, "object": {"ok": True}}) is True
    with pytest.raises(Undecided):
        program.evaluate({"authorizer": AUTHORIZER, "object": {"ok": False}})


@pytest.mark.parametrize(
    ("expression", "good"),
    [
        ("device.driver == 'x'", True),
        ("device.attributes['x'].model == 'a'", True),
        ("device.attributes['x'].enabled", True),
        ("device.capacity['x'].memory.compareTo(quantity('1Gi')) >= 0", True),
        ("cel.bind(x, device.attributes['x'], x.a && x.b)", True),
        ("device.driver", False),
        ("device.nope", False),
        ("device.driver = 1", False),
        ("", False),
        ("lists.range(1000000).all(x, x > 0)", False),
    ],
)
def test_selectors(expression: str, good: bool) -> None:
    assert (not check_selector(expression)[1]) is good

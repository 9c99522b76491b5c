"""Expressions in rules: errors and their positions in the file."""

from __future__ import annotations

import pytest

from kcheck.cel.kubernetes.expressions import Policy, place
from kcheck.kube.resource import Resource
from kcheck.text.source import Source
from kcheck.yaml.parse import parse


@pytest.mark.parametrize(
    ("yaml", "word"),
    [
        ("rule: self.a <= self.max\n", ".max"),
        ("rule: 'self.a <= self.max'\n", ".max"),
        ('rule: "self.a <= self.max"\n', ".max"),
        ("rule: |\n  self.a\n  <= self.max\n", ".max"),
        ("rule: 'self.a == ''x'' && self.max'\n", None),
        ("rule: >\n  self.a\n  <= self.max\n", None),
    ],
)
def test_an_error_is_shown_at_its_location(yaml: str, word: str | None) -> None:
    document = parse(Source("x.yaml", f"kind: A\napiVersion: v1\n{yaml}"))[0]
    node = document.root["rule"]
    span = place(node, node.text.index(".max"), Resource(document.root, document))
    assert (document.source.text[span.start : span.end] if span is not None else None) == word


def test_variables_are_known_to_what_follows() -> None:
    policy = Policy(36, variables=True)
    assert policy.declare("most", "object.spec.replicas + 1") == []
    assert policy.compile("variables.most > 3", "bool") == []
    assert [fault.message for fault in policy.compile("variables.least > 3", "bool")] == ["undefined field 'least'"]
    assert [fault.message for fault in policy.compile("params.x == 1", "bool")] == ["undeclared reference to 'params'"]
    assert policy.compile("authorizer.path('/').check('get').allowed() ? 'a' : 'b'", "string", authorizer=False)


def test_what_cannot_run_is_the_servers_own_fault() -> None:
    (fault,) = Policy(36).compile("object.name.matches('(')", "bool")
    assert not fault.message.startswith("program")

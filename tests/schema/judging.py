"""What tests of custom resources share: a CRD around a schema, and the judge's answers to an object."""

from __future__ import annotations

from textwrap import dedent, indent

from kcheck.finding.problem import Problem
from kcheck.kube.resource import Resource, resources
from kcheck.rule.plan import compile_plan
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import RuleSet
from kcheck.schema.builtin.definitions import load
from kcheck.schema.crd.definitions import add_definitions
from kcheck.schema.store import Store
from kcheck.schema.walk import Walk
from kcheck.text.source import Source
from kcheck.yaml.document import Document
from kcheck.yaml.parse import parse

PLAN = compile_plan(Registry(), RuleSet())


def documents(text: str) -> list[Document]:
    found = parse(Source("test.yaml", dedent(text)))
    assert all(each.fault is None for each in found), [each.fault for each in found]
    return found


def crd(schema: str, *, subresources: str = "{}") -> str:
    """A CRD of kind Thing in example.com/v1 whose openAPIV3Schema is this YAML."""
    return (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\nspec:\n"
        "  group: example.com\n  names: {kind: Thing, plural: things}\n  scope: Namespaced\n"
        "  versions:\n  - name: v1\n    served: true\n"
        f"    storage: true\n    subresources: {subresources}\n"
        f"    schema:\n      openAPIV3Schema:\n{indent(dedent(schema).strip(), ' ' * 8)}\n"
    )


def spec(schema: str) -> str:
    """The schema of an object whose spec has this one."""
    return f"type: object\nproperties:\n  spec:\n{indent(dedent(schema).strip(), '    ')}\n"


def store_of(text: str, version: str = "1.36") -> Store:
    store = Store(load(version))
    add_definitions(store, documents(text))
    return store


def problems(store: Store, text: str) -> list[tuple[str, Problem]]:
    """What the store's judge tells of the first object in a text, by rule. Raises what the judge crashed on."""
    resource = next(each for document in documents(text) for each in resources(document))
    return judged(store, resource)


def judged(store: Store, resource: Resource) -> list[tuple[str, Problem]]:
    reported: list[tuple[str, Problem]] = []
    judge = store.added(resource.api_version, resource.kind)
    assert judge is not None, f"no judge for {resource.api_version} {resource.kind}"

    def crash(rule: str, error: Exception) -> None:
        raise error

    judge.judge(resource, Walk(resource, PLAN, lambda rule, problem: reported.append((rule, problem)), crash))
    return reported


def thing(spec_yaml: str = "{}") -> str:
    return f"apiVersion: example.com/v1\nkind: Thing\nmetadata: {{name: a}}\nspec:\n{indent(dedent(spec_yaml).strip(), '  ')}\n"


def refusals(schema: str, value: str, *, subresources: str = "{}", version: str = "1.36") -> list[tuple[str, str, str]]:
    """Rule, field and reason of what is refused of an object with this spec, where the spec has this schema."""
    reported = problems(store_of(crd(spec(schema), subresources=subresources), version), thing(value))
    return sorted((rule, problem.field or "", problem.reason) for rule, problem in reported)

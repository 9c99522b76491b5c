"""What is told of definitions does not depend on what of them stood before."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcheck.finding.finding import Finding
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.run.outcome import Checker, Task
from kcheck.run.session import Session
from kcheck.schema.definitions import load
from kcheck.schema.store import Store
from kcheck.text.source import Source
from kcheck.tree import repeats

CORPUS = Path("/work/shared/corpus/manifests")
HEAD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: {plural}.example.com
spec:
  group: example.com
  names:
    kind: Thing
    plural: {plural}
  scope: Namespaced
  versions:
"""
VERSION = "  - name: {name}\n    served: true\n    storage: {stored}\n    schema:\n      openAPIV3Schema:\n{schema}"
# Values of fields, many of them with a fault or with something that matters elsewhere.
FIELDS = [
    "type: string\n",
    "type: integer\ndefault: 1\n",
    "type: integer\ndefault: no\n",
    "description: no type\n",
    "type: strin\n",
    "type: string\nformat: emial\n",
    "type: string\npatern: a\n",
    "type: string\npattern: '('\n",
    "type: string\n$ref: '#/x'\n",
    "type: string\n$schema: x\n",
    "type: object\nx-kubernetes-embedded-resource: true\nx-kubernetes-preserve-unknown-fields: true\n",
    "type: object\nproperties:\n  inner:\n    type: string\n    maxLength: 5\nrequired:\n- inner\n",
    "type: object\nproperties:\n  metadata:\n    type: object\n    default: {}\n",
    "type: object\nproperties:\n  inner:\n    type: object\nx-kubernetes-validations:\n- rule: has(self.inner)\n",
    "type: object\nproperties:\n  inner:\n    type: object\nx-kubernetes-validations:\n- rule: has(self.outer)\n",
    "type: string\nx-kubernetes-validations:\n- rule: self == oldSelf\n",
    "type: array\nitems:\n  type: string\nx-kubernetes-list-type: set\n",
    "type: array\nx-kubernetes-list-type: map\n",
    "type: object\nadditionalProperties:\n  type: string\n  nullable: true\n",
    "type: object\nproperties: x\n",
    "x-kubernetes-int-or-string: true\nanyOf:\n- type: integer\n- type: string\n",
    "type: object\nx-kubernetes-map-type: granulr\n",
    "5\n",
]
NAMES = ["spec", "status", "metadata", "a", "b"]


@pytest.fixture(scope="module")
def session() -> Session:
    registry = Registry.load()
    return Session(registry, choose(registry, ["all"]), [Store(load("1.30")), Store(load("1.36"))])


def found(session: Session, texts: list[str], least: int) -> list[Finding]:
    """What is told of files, one after the other. `least`: characters of a passage that is not read again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeats, "SMALLEST", least)
        patch.setattr(repeats, "HEAD", 1)
        checker = Checker(session)
        tasks = [Task(number, Source(f"{number}.yaml", text), True) for number, text in enumerate(texts)]
        return [finding for task in tasks for finding in checker.one(task, True).findings]


def alike(session: Session, *texts: str) -> list[Finding]:
    """What is told of files, whether or not passages are known."""
    late = found(session, list(texts), 1)
    assert late == found(session, list(texts), 10**9)
    return late


def crd(*versions: str, plural: str = "things") -> str:
    """A definition of versions with these schemas."""
    each = [
        VERSION.format(name=f"v{number}", stored=str(number == 1).lower(), schema=indent(schema, " " * 8))
        for number, schema in enumerate(versions, 1)
    ]
    return HEAD.format(plural=plural) + "".join(each)


def fields(*values: tuple[str, str]) -> str:
    """A schema of an object with these fields."""
    return "type: object\nproperties:\n" + "".join(f"  {name}:\n{indent(value, '    ')}" for name, value in values)


@pytest.mark.parametrize("field", FIELDS)
def test_every_copy_is_told_of(session: Session, field: str) -> None:
    one = alike(session, crd(fields(("spec", field))))
    other = crd(fields(("spec", field)), plural="others")
    both = alike(session, crd(fields(("spec", field))), other)
    assert [(f.rule, f.message.replace("others", "things")) for f in both] == [(f.rule, f.message) for f in one] * 2


def test_a_place_of_another_kind_is_looked_at(session: Session) -> None:
    """What is well as a field is not as a condition, and a default not in metadata."""
    field = fields(("x", "type: string\n"), ("y", "type: integer\ndefault: 1\n"))
    good = crd(fields(("spec", field)))
    assert not _schema_faults(alike(session, good))
    condition = crd(fields(("spec", "type: object\nnot:\n  properties:\n    spec:\n" + indent(field, " " * 6))))
    assert _schema_faults(alike(session, good, condition))
    assert _schema_faults(alike(session, good, crd(fields(("metadata", field)))))


def _schema_faults(findings: list[Finding]) -> list[str]:
    return [finding.message for finding in findings if finding.rule == "crd-schema"]


SCHEMAS = st.recursive(
    st.sampled_from(FIELDS),
    lambda inner: st.lists(st.tuples(st.sampled_from(NAMES), inner), min_size=1, max_size=3).map(lambda all_: fields(*all_))
    | st.builds(lambda each: "type: array\nitems:\n" + indent(each, "  "), inner)
    | st.builds(lambda each: "type: object\nadditionalProperties:\n" + indent(each, "  "), inner)
    | st.builds(lambda each: "type: object\nanyOf:\n- " + indent(each, "  ").strip() + "\n", inner),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(st.tuples(st.sampled_from(NAMES), SCHEMAS), min_size=1, max_size=3), min_size=1, max_size=3), st.data())
def test_random_definitions(session: Session, schemas: list[list[tuple[str, str]]], data: st.DataObject) -> None:
    several = st.lists(st.sampled_from([fields(*each) for each in schemas]), min_size=1, max_size=3)
    alike(session, *[crd(*data.draw(several)) for _ in range(3)])


def test_rule_sets_do_not_share(session: Session) -> None:
    """A field that one rule set has no word on is told of by the next."""
    quiet = choose(session.registry, ["duplicate-key"])
    text = crd(fields(("spec", "type: string\nformat: emial\n")))
    by_file = Session(
        session.registry, session.rules, session.stores, by_file=lambda file: quiet if file == "0.yaml" else session.rules
    )
    assert {f.place.file for f in alike(by_file, text, text) if f.rule == "unknown-format"} == {"1.yaml"}


@pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the manifests of the corpus")
def test_corpus(session: Session) -> None:
    files = [path for path in sorted(CORPUS.rglob("*crd*.yaml")) if path.stat().st_size < 200_000][:60]
    alike(session, *[path.read_text() for path in files])

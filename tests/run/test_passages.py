"""Findings about definitions do not depend on the definitions before them."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.check.file import FileChecker, Task
from kcheck.check.session import Session
from kcheck.finding.finding import Finding
from kcheck.rule.registry import Registry
from kcheck.rule.ruleset import choose
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store
from kcheck.text.source import Source
from kcheck.yaml.fast import shared_blocks
from tests.conftest import examples

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "manifests"
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
    """What is reported of files, one after the other. `least`: characters of a passage that is not read again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_blocks, "MIN_BLOCK_CHARS", least)
        patch.setattr(shared_blocks, "PREFIX_CHARS", 1)
        checker = FileChecker(session)
        tasks = [Task(number, Source(f"{number}.yaml", text), True) for number, text in enumerate(texts)]
        return [finding for task in tasks for finding in checker.check_file(task, True).findings]


def alike(session: Session, *texts: str) -> list[Finding]:
    """What is reported of files, whether or not passages are known."""
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


def fields(*values: tuple[str, str], margin: str = "  ") -> str:
    """A schema of an object with these fields."""
    return "type: object\nproperties:\n" + "".join(f"  {name}:\n{indent(value, margin + '  ')}" for name, value in values)


@pytest.mark.parametrize("field", FIELDS)
def test_every_copy_is_reported(session: Session, field: str) -> None:
    one = alike(session, crd(fields(("spec", field))))
    other = crd(fields(("spec", field)), plural="others")
    both = alike(session, crd(fields(("spec", field))), other)
    assert [(f.rule, f.concise.replace("others", "things")) for f in both] == [(f.rule, f.concise) for f in one] * 2


def test_a_place_of_another_kind_is_checked(session: Session) -> None:
    """Valid as a field is not valid as a condition, and a default is invalid in metadata or where no earlier check covers it."""
    deep = "type: object\nproperties:\n  x:\n    type: string\n"
    default, wrong = "type: integer\ndefault: 1\n", "type: integer\ndefault: no\n"
    good = crd(fields(("spec", deep)), fields(("spec", default)))
    assert not _schema_faults(alike(session, good))
    for field, expected in ((deep, 2), (default, 2)):
        condition = "not:\n  properties:\n   spec:\n" + indent(field, "    ")
        assert len(_schema_faults(alike(session, good, crd(fields(("spec", deep)) + condition)))) >= expected
    assert _schema_faults(alike(session, good, crd(fields(("metadata", default)))))
    loose = "type: object\nproperties:\n a:\n  type: object\n  additionalProperties:\n   type: object\n   properties:\n    b:\n"
    spine = fields(("a", "type: object\nproperties:\n  b:\n" + indent(wrong, "    ")))
    unjudged = crd(loose + indent(wrong, " " * 8))
    assert not [f for f in alike(session, unjudged) if f.rule == "invalid-crd-default"]
    assert [f for f in alike(session, unjudged, crd(spine)) if f.rule == "invalid-crd-default"]


def test_what_cannot_be_decoded_keeps_defaults_from_being_judged(session: Session) -> None:
    broken = "type: object\nproperties:\n  x: 5\n"
    for order in ([("a", "type: integer\ndefault: no\n"), ("b", broken)], [("b", broken), ("a", "type: integer\ndefault: no\n")]):
        findings = alike(session, crd(fields(*order)), crd(fields(*order)))
        assert not [f for f in findings if f.rule == "invalid-crd-default"]


def _schema_faults(findings: list[Finding]) -> list[str]:
    return [finding.concise for finding in findings if finding.rule == "invalid-crd-schema"]


MARGINS = st.sampled_from(["  ", "    ", " "])
SCHEMAS = st.recursive(
    st.sampled_from(FIELDS),
    lambda inner: st.one_of(
        st.builds(
            lambda all_, margin: fields(*all_, margin=margin),
            st.lists(st.tuples(st.sampled_from(NAMES), inner), min_size=1, max_size=3),
            MARGINS,
        ),
        st.builds(lambda each, margin: "type: array\nitems:\n" + indent(each, margin), inner, MARGINS),
        st.builds(lambda each, margin: "type: object\nadditionalProperties:\n" + indent(each, margin), inner, MARGINS),
        st.builds(lambda each, margin: "type: object\nnot:\n" + indent(each, margin), inner, MARGINS),
        st.builds(lambda each: "type: object\nanyOf:\n- " + indent(each, "  ").strip() + "\n", inner),
    ),
    max_leaves=6,
)


@pytest.mark.slow
@examples(150)
@given(st.lists(st.lists(st.tuples(st.sampled_from(NAMES), SCHEMAS), min_size=1, max_size=3), min_size=1, max_size=3), st.data())
def test_random_definitions(session: Session, schemas: list[list[tuple[str, str]]], data: st.DataObject) -> None:
    several = st.lists(st.sampled_from([fields(*each) for each in schemas]), min_size=1, max_size=3)
    alike(session, *[crd(*data.draw(several)) for _ in range(3)])


def test_rule_sets_do_not_share(session: Session) -> None:
    """A field that one rule set has no word on is reported of by the next."""
    quiet = choose(session.registry, ["duplicate-key"])
    text = crd(fields(("spec", "type: string\nformat: emial\n")))
    by_file = Session(session.registry, session.rules, session.stores, by_file=lambda file: quiet if file == "0.yaml" else session.rules)
    assert {f.place.file for f in alike(by_file, text, text) if f.rule == "unknown-format"} == {"1.yaml"}


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the manifests of the corpus")
def test_corpus(session: Session) -> None:
    files = [path for path in sorted(CORPUS.rglob("*crd*.yaml")) if path.stat().st_size < 200_000][:60]
    alike(session, *[path.read_text() for path in files])

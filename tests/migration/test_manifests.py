"""Annotations of other tools made ours, as edits of the text."""

from __future__ import annotations

from textwrap import dedent

import pytest

from kcheck.migration.equivalents import Counterparts
from kcheck.migration.manifest import Manifest
from kcheck.migration.polaris import Exemption
from kcheck.text.source import Source
from kcheck.text.span import Span
from kcheck.yaml.parse import parse

# What the rules find in every place of these tests.
FOUND = frozenset({"latest-tag", "missing-run-as-non-root", "node-port-service", "missing-cpu-limit", "missing-liveness-probe"})


def migrated(
    counterparts: Counterparts, text: str, *exemptions: Exemption, keep: bool = False, found: frozenset[str] = FOUND
) -> tuple[str, list[str]]:
    """The new text, and the notes."""
    source = Source("a.yaml", dedent(text))
    manifest = Manifest(source, parse(source), counterparts, lambda file, span: found, keep)
    new = manifest.rewritten(exemptions)
    before, after = ([without_annotations(d.root.plain()) for d in parse(s)] for s in (source, Source("a.yaml", new)))
    assert before == after
    return new, [str(note) for note in manifest.notes]


def without_annotations(value: object) -> object:
    if isinstance(value, dict):
        return {k: without_annotations(v) for k, v in value.items() if k != "annotations"}
    return [without_annotations(v) for v in value] if isinstance(value, list) else value


def annotated(*lines: str) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  annotations:\n{body}spec: {{}}\n"


POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec: {}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["ignore-check.kube-linter.io/latest-tag: pinned elsewhere"], ['kcheck.dev/ignore: "latest-tag; pinned elsewhere"']),
        (["a: b", "ignore-check.kube-linter.io/latest-tag: ''", "c: d"],
         ["a: b", 'kcheck.dev/ignore: "latest-tag; as in kube-linter"', "c: d"]),
        (
            ["ignore-check.kube-linter.io/latest-tag: one", "# about d", "d: e", "ignore-check.kube-linter.io/run-as-non-root: two"],
            ['kcheck.dev/ignore: "latest-tag, missing-run-as-non-root; one; two"', "# about d", "d: e"],
        ),
        (["kube-linter.io/ignore-all: |", "  a sample", "  only", "a: b"], ['kcheck.dev/ignore: "practice; a sample only"', "a: b"]),
        (["kube-score/ignore: container-image-tag, service-type"],
         ['kcheck.dev/ignore: "latest-tag, node-port-service; as in kube-score"']),
        (['polaris.fairwinds.com/exempt: "true"'], ['kcheck.dev/ignore: "practice; as in polaris"']),
        (['polaris.fairwinds.com/cpuLimitsMissing-exempt: "true"'], ['kcheck.dev/ignore: "missing-cpu-limit; as in polaris"']),
        (['checkov.io/skip1: CKV_K8S_14=say "no"', "checkov.io/skip2: CKV_K8S_8"],
         ['kcheck.dev/ignore: "latest-tag, missing-liveness-probe; say \\"no\\"; as in checkov"']),
        (["kcheck.dev/ignore: node-port-service", "kube-score/ignore: container-image-tag"],
         ['kcheck.dev/ignore: "node-port-service, latest-tag; as in kube-score"']),
        (["kube-score/ignore: container-image-tag  # soon", "kcheck.dev/ignore: latest-tag; because"],
         ["# soon", 'kcheck.dev/ignore: "latest-tag; because; as in kube-score"']),
    ],
)  # fmt: skip
def test_block_style(counterparts: Counterparts, before: list[str], after: list[str]) -> None:
    new, notes = migrated(counterparts, annotated(*before))
    assert new == annotated(*after)
    assert notes == []
    assert migrated(counterparts, new) == (new, [])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"kube-score/ignore": "service-type"}', '{"kcheck.dev/ignore": "node-port-service; as in kube-score"}'),
        ('{"a": "b", "kube-score/ignore": "service-type", "c": "d"}',
         '{"a": "b", "kcheck.dev/ignore": "node-port-service; as in kube-score", "c": "d"}'),
        ('{"checkov.io/skip1": "CKV_K8S_14", "checkov.io/skip2": "CKV_K8S_8", "c": "d"}',
         '{"kcheck.dev/ignore": "latest-tag, missing-liveness-probe; as in checkov", "c": "d"}'),
    ],
)  # fmt: skip
def test_flow_style_and_json(counterparts: Counterparts, before: str, after: str) -> None:
    assert migrated(counterparts, JSON % before)[0] == JSON % after


JSON = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"annotations": %s, "name": "web"}, "spec": {}}\n'
SKIPS = '"checkov.io/skip1": "CKV_K8S_14"', '"checkov.io/skip2": "CKV_K8S_8"'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f'{{{SKIPS[0]}, {SKIPS[1]}, "c": "d"}}', '{"c": "d"}'),
        (f'{{{SKIPS[0]}, "c": "d", {SKIPS[1]}}}', '{"c": "d"}'),
        (f'{{"c": "d", {SKIPS[0]}, {SKIPS[1]}}}', '{"c": "d"}'),
    ],
)
def test_entries_taken_out_of_flow_style(counterparts: Counterparts, before: str, after: str) -> None:
    assert migrated(counterparts, JSON % before, found=frozenset())[0] == JSON % after


def test_a_map_that_would_be_empty_goes(counterparts: Counterparts) -> None:
    new, _ = migrated(counterparts, JSON % f"{{{SKIPS[0]}}}", found=frozenset())
    assert new == JSON.replace('"annotations": %s, ', "")


def test_nothing_found_is_nothing_to_ignore(counterparts: Counterparts) -> None:
    new, notes = migrated(counterparts, annotated("ignore-check.kube-linter.io/latest-tag: x"), found=frozenset())
    assert new == POD
    assert notes == ["a.yaml:6: kube-linter latest-tag: kcheck has no such finding here, so there is nothing to ignore"]


def test_what_takes_several_objects_is_named_unseen(counterparts: Counterparts) -> None:
    new, _ = migrated(counterparts, annotated("ignore-check.kube-linter.io/dangling-service: elsewhere"), found=frozenset())
    assert "service-without-pods; elsewhere" in new


def test_what_has_no_counterpart_stays_and_is_reported(counterparts: Counterparts) -> None:
    text = annotated(
        "ignore-check.kube-linter.io/our-own: x", "polaris.fairwinds.com/exempt: sometimes", "kube-score/enable: container-seccomp-profile"
    )
    new, notes = migrated(counterparts, text)
    assert new == text
    assert [note.split(":")[1] for note in notes] == ["6", "7", "8"]
    assert "missing-seccomp: on" in notes[2]


def test_annotations_may_stay(counterparts: Counterparts) -> None:
    text = annotated("a: b", "ignore-check.kube-linter.io/latest-tag: x")
    new, _ = migrated(counterparts, text, keep=True)
    assert new == annotated('kcheck.dev/ignore: "latest-tag; x"', "a: b", "ignore-check.kube-linter.io/latest-tag: x")


def test_windows_lines(counterparts: Counterparts) -> None:
    text = annotated("a: b", "ignore-check.kube-linter.io/latest-tag: x", "checkov.io/skip1: CKV_K8S_8", "c: d").replace("\n", "\r\n")
    new, _ = migrated(counterparts, text)
    assert new == annotated("a: b", 'kcheck.dev/ignore: "latest-tag, missing-liveness-probe; x; as in checkov"', "c: d").replace(
        "\n", "\r\n"
    )


def test_no_line_break_at_the_end(counterparts: Counterparts) -> None:
    new, _ = migrated(
        counterparts,
        "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n    checkov.io/skip1: CKV_K8S_8\n    checkov.io/skip2: CKV_K8S_14",
    )
    assert new.endswith('    kcheck.dev/ignore: "missing-liveness-probe, latest-tag; as in checkov"\n')


def test_templates_have_annotations_too(counterparts: Counterparts) -> None:
    text = """\
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web}
        spec:
          template:
            metadata:
              annotations:
                kube-score/ignore: container-image-tag
        """
    assert '    kcheck.dev/ignore: "latest-tag; as in kube-score"\n' in migrated(counterparts, text)[0]


def test_an_alias_is_changed_once(counterparts: Counterparts) -> None:
    text = """\
        apiVersion: v1
        kind: List
        items:
        - {apiVersion: v1, kind: Pod, metadata: {name: a, annotations: &a {kube-score/ignore: container-image-tag}}}
        - {apiVersion: v1, kind: Pod, metadata: {name: b, annotations: *a}}
        """
    new, _ = migrated(counterparts, text)
    assert new.count("kcheck.dev/ignore") == 1


@pytest.mark.parametrize(
    "annotations",
    [
        "{kube-score/ignore: &x container-image-tag, a: *x}",
        "&x {kube-score/ignore: container-image-tag}\n  labels: *x",
        "{kube-score/ignore: &x container-image-tag}\n  labels: {a: *x}",
    ],
)
def test_anchors_are_not_cut(counterparts: Counterparts, annotations: str) -> None:
    text = f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  annotations: {annotations}\n"
    for found in (FOUND, frozenset[str]()):
        new, notes = migrated(counterparts, text, found=found)
        assert new == text
        assert "by hand" in notes[-1]


def test_a_merged_entry_is_for_people(counterparts: Counterparts) -> None:
    text = """\
        apiVersion: v1
        kind: Pod
        x: &x {kube-score/ignore: container-image-tag}
        metadata:
          annotations:
            <<: *x
        """
    new, notes = migrated(counterparts, text)
    assert new == dedent(text)
    assert ["by hand" in note for note in notes] == [True]


def test_broken_documents_stay(counterparts: Counterparts) -> None:
    text = annotated("kube-score/ignore: service-type") + "---\na: [\n"
    new, notes = migrated(counterparts, text)
    assert "node-port-service" in new
    assert new.endswith("---\na: [\n")
    assert len(notes) == 1


DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: dns-controller
  namespace: kube-system
spec:
  template:
    spec:
      containers:
      - image: a
        name: dns
      -   name: sidecar
          image: b
"""


def test_exemptions_are_written_at_the_objects(counterparts: Counterparts) -> None:
    exemption = Exemption("polaris.yaml", 1, "kube-system", ("dns-",), (), ("tagNotSpecified", "priorityClassNotSet"))
    new, notes = migrated(counterparts, DEPLOYMENT, exemption)
    assert new == DEPLOYMENT.replace("  name: dns-", '  annotations:\n    kcheck.dev/ignore: "latest-tag; exempt in polaris"\n  name: dns-')
    assert notes == []


@pytest.mark.parametrize(("namespace", "names"), [("default", ()), ("", ("web",)), ("kube-system", ("controller",))])
def test_exemptions_of_others(counterparts: Counterparts, namespace: str, names: tuple[str, ...]) -> None:
    assert migrated(counterparts, DEPLOYMENT, Exemption("p.yaml", 1, namespace, names))[0] == DEPLOYMENT


def test_exempt_containers_get_a_comment(counterparts: Counterparts) -> None:
    new, _ = migrated(counterparts, DEPLOYMENT, Exemption("p.yaml", 1, containers=("side",), checks=("tagNotSpecified",)))
    comment = "      # kcheck: ignore[latest-tag] exempt in polaris\n"
    assert new == DEPLOYMENT.replace("      -   name: sidecar", f"{comment}      -   name: sidecar")


def test_a_container_in_one_line_is_for_people(counterparts: Counterparts) -> None:
    text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: b}]}\n"
    new, notes = migrated(counterparts, text, Exemption("p.yaml", 1, containers=("a",)))
    assert new == text
    assert "# kcheck: ignore[practice] exempt in polaris" in notes[0]


def test_spans_reach_as_far_as_annotations(counterparts: Counterparts) -> None:
    """The finder is asked about what the annotation will cover: of a template, from its key on."""
    asked: list[Span] = []

    def found(file: str, span: Span) -> frozenset[str]:
        asked.append(span)
        return FOUND

    text = (
        "apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    metadata:\n      annotations: {kube-score/ignore: service-type}\n"
    )
    source = Source("a.yaml", text)
    Manifest(source, parse(source), counterparts, found).rewritten()
    assert [text[s.start : s.start + 8] for s in asked] == ["template"]

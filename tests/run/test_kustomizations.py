"""What kustomization.yaml says of the files around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcheck.check import kustomizations, time_limit
from kcheck.check.kustomizations import Kustomization
from kcheck.discovery.discover import discover
from kcheck.finding.report import Report
from kcheck.run.run import run_pipeline
from kcheck.text.source import Source
from kcheck.yaml.document import Document
from kcheck.yaml.parse import parse
from tests.relations.world import holder, lines, service, session, workload

PATCH = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicaz: 3
  template:
    spec:
      $setElementOrder/containers: [{name: web}]
      containers:
        - name: web
          resources: {limits: {memory: 1Gx}}
        - name: old
          $patch: delete
"""
OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
FOUND = ["unknown-field", "invalid-quantity"]


def report(folder: Path, files: dict[str, str], *rules: str, complete: bool = False) -> Report:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return run_pipeline(discover([str(folder)]), session(*rules, complete=complete))


def rules(found: Report, file: str) -> list[str]:
    return [finding.rule for finding in found.findings if finding.file.endswith(file)]


def test_a_patch_is_judged_by_what_is_in_it(tmp_path: Path) -> None:
    for listed in ("patches: [{path: patch.yaml}]", "patchesStrategicMerge: [patch.yaml]", "patchesJson6902: [{path: ./patch.yaml}]"):
        found = report(tmp_path, {"kustomization.yaml": listed, "patch.yaml": PATCH}, "spec", "practice")
        assert rules(found, "patch.yaml") == FOUND, listed
    whole = PATCH.replace("spec:\n", "spec:\n  selector: {matchLabels: {app: web}}\n", 1)
    alone = report(tmp_path / "alone", {"kustomization.yaml": "namePrefix: a-", "web.yaml": whole}, "spec", "practice")
    assert len(rules(alone, "web.yaml")) > len(FOUND)


def test_a_patch_that_nothing_lists(tmp_path: Path) -> None:
    commented = "# patches:\n#- path: web.yaml\nresources: []\n"
    assert rules(report(tmp_path / "a", {"kustomization.yaml": commented, "web.yaml": PATCH}, "spec", "practice"), "web.yaml") == FOUND
    # By its shape: a workload without a selector and without an image.
    assert rules(report(tmp_path / "b", {"web.yaml": PATCH}, "spec", "practice"), "web.yaml") == FOUND
    for path in ("kustomize/web-patch.yaml", "kustomize/patches/web.yaml"):
        files = {"kustomize/kustomization.yaml": "namePrefix: a-", path: PATCH}
        assert rules(report(tmp_path / path, files, "spec", "practice"), path) == FOUND, path
    # The kustomization may be elsewhere, or a program may apply the patch.
    assert rules(report(tmp_path / "c", {"web-patch.yaml": PATCH}, "spec", "practice"), "web-patch.yaml") == FOUND


def test_what_is_a_resource_somewhere_is_whole(tmp_path: Path) -> None:
    files = {"a/kustomization.yaml": "patches: [{path: ../patch.yaml}]", "b/kustomization.yaml": "resources: [../patch.yaml]"}
    assert len(rules(report(tmp_path, {**files, "patch.yaml": PATCH}, "spec"), "patch.yaml")) > len(FOUND)


def test_a_patch_need_not_say_what_its_name_consists_of(tmp_path: Path) -> None:
    patch = """\
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.metrics.example.com, annotations: {cert-manager.io/inject-ca-from: a/b}}
"""
    files = {"kustomization.yaml": "patches: [{path: a.yaml}]", "a.yaml": patch}
    assert rules(report(tmp_path, files, "spec"), "a.yaml") == []
    files["a.yaml"] = patch + "spec: {version: v1, group: metrics.example.com}\n"
    assert rules(report(tmp_path / "b", files, "spec"), "a.yaml") == ["invalid-api-service"]


def test_settings_of_kustomize_are_skipped(tmp_path: Path) -> None:
    setting = "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: labels}\n"
    found = report(tmp_path, {"kustomization.yaml": "transformers: [labels.yaml]", "labels.yaml": setting})
    assert not found.findings
    assert "kustomize" in next(passed.why for passed in found.passed if passed.file.endswith("labels.yaml"))


def test_files_that_are_not_there_are_reported(tmp_path: Path) -> None:
    text = """\
resources:
  - deploymnt.yaml
  - ../base
  - empty
  - https://example.com/crds.yaml
  - github.com/example/app//config?ref=v1
  - deployment.yaml
patches:
  - path: patches/none.yaml
  - patch: "- {op: remove, path: /spec}"
patchesStrategicMerge:
  - |
    kind: Deployment
configMapGenerator:
  - {name: web, files: [key=web.conf], envs: [.env]}
"""
    (tmp_path / "app" / "empty").mkdir(parents=True)
    found = report(tmp_path, {"app/kustomization.yaml": text, "app/deployment.yaml": workload()}, "missing-kustomization-file")
    reported = [(marked, finding.concise) for marked, finding in zip(lines(tmp_path, found.findings), found.findings, strict=True)]
    assert reported == [
        ("app/kustomization.yaml:2 deploymnt.yaml", '"deploymnt.yaml" does not exist; did you mean "deployment.yaml"?'),
        ("app/kustomization.yaml:3 ../base", '"../base" does not exist; add the file or directory or correct the path'),
        ("app/kustomization.yaml:4 empty", 'directory "empty" has no kustomization.yaml; add one or list the files of the directory'),
        ("app/kustomization.yaml:9 patches/none.yaml", '"patches/none.yaml" does not exist; add the file or correct the path'),
        ("app/kustomization.yaml:15 key=web.conf", '"web.conf" does not exist; add the file or correct the path'),
    ]


def test_missing_files_of_one_folder_are_one_finding(tmp_path: Path) -> None:
    text = """\
resources:
  - crds/orders.yaml
  - crds/customers.yaml
  - crds/invoices.yaml
  - base.yaml
"""
    found = report(tmp_path, {"kustomization.yaml": text}, "missing-kustomization-file")
    assert [finding.concise for finding in found.findings] == [
        '"crds/orders.yaml" does not exist, and 2 other entries do not exist; add the files or correct the paths',
        '"base.yaml" does not exist; add the file or directory or correct the path',
    ]


@pytest.mark.parametrize(
    ("ignored", "expected"),
    [
        ("/app/crds.yaml\n", 0),
        ("crds.yaml\n", 0),
        ("app/*.yaml\n!kustomization.yaml\n", 0),
        ("app/\n", 0),
        ("crds.yml\n", 1),
        ("*.yaml\n!crds.yaml\n", 1),
    ],
)
def test_a_build_creates_files_that_git_ignores(tmp_path: Path, ignored: str, expected: int) -> None:
    files = {".gitignore": ignored, "app/kustomization.yaml": "resources: [crds.yaml]\n"}
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    found = run_pipeline(discover([str(tmp_path)], gitignore=False), session("missing-kustomization-file"))
    assert len(found.findings) == expected


def test_an_absence_can_be_ignored(tmp_path: Path) -> None:
    text = "resources:\n  - made-by-ci.yaml # kcheck: ignore[missing-kustomization-file] written by the pipeline\n"
    assert not report(tmp_path, {"kustomization.yaml": text}, "missing-kustomization-file").findings


def test_generators_make_what_others_name(tmp_path: Path) -> None:
    kustomization = """\
configMapGenerator:
  - {name: web-config, literals: [LEVEL=info], files: [web.conf, a=web.conf]}
secretGenerator:
  - {name: db, envs: [db.env]}
"""
    pod = ", volumes: [{name: v, configMap: {name: web-config, items: [{key: web.conf, path: a}, {key: LEVL, path: b}]}}]"
    user = workload(pod=pod, container=", envFrom: [{secretRef: {name: db}}]")
    files = {"kustomization.yaml": kustomization, "web.conf": "", "web.yaml": user}
    found = report(tmp_path, files, "missing-key", "missing-config-map", "missing-secret", complete=True)
    assert [finding.concise for finding in found.findings] == ['ConfigMap "web-config" has no key "LEVL"; did you mean "LEVEL"?']


def test_a_namespace_for_all_brings_objects_together(tmp_path: Path) -> None:
    user = workload(metadata=", namespace: a", container=", envFrom: [{configMapRef: {name: web}}]")
    files = {"base/web.yaml": user + holder("ConfigMap", "web", metadata=", namespace: b") + service()}
    assert report(tmp_path, files, "missing-config-map").findings
    kustomizations = {"base/kustomization.yaml": "resources: [web.yaml]", "prod/kustomization.yaml": "namespace: c\nresources: [../base]"}
    assert not report(tmp_path, {**files, **kustomizations}, "missing-config-map").findings


def test_odd_values_are_not_paths(tmp_path: Path) -> None:
    odd = "resources: 3\npatches: {a: b}\nconfigMapGenerator: [1, {name: [x]}]\n"
    for text in ("", "# nothing yet\n", odd, 'resources: ["\\0"]\n'):
        assert not report(tmp_path, {"kustomization.yaml": text}).findings, text


@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        ("resources: [", "invalid-yaml", 1),
        ("namePrefix: a-\nx: [\n", "invalid-yaml", 2),
        ("namePrefix: a-\n---\nx: [\n", "invalid-yaml", 3),
        ("# list\n- a\n", "not-kubernetes-object", 2),
        ("\0", "unreadable-file", 1),
    ],
)
def test_a_kustomization_that_cannot_be_read_is_a_finding(text: str, rule: str, line: int, tmp_path: Path) -> None:
    found = report(tmp_path, {"kustomization.yaml": text, "app.yaml": OBJECT})
    assert [(f.rule, f.range.line, Path(f.file).name) for f in found.findings] == [(rule, line, "kustomization.yaml")]
    assert (found.files, found.passed) == (2, [])


def test_its_patches_stay_known(tmp_path: Path) -> None:
    broken = "x: [\npatches:\n- path: patch.yaml\n  target: {kind: Deployment}\ntransformers: [labels.yaml]\n"
    setting = "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: labels}\n"
    found = report(tmp_path, {"kustomization.yaml": broken, "patch.yaml": PATCH, "labels.yaml": setting}, "spec", "practice")
    assert rules(found, "kustomization.yaml") == ["invalid-yaml"]
    assert rules(found, "patch.yaml") == FOUND
    assert rules(found, "labels.yaml") == []


def test_a_crash_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(source: Source) -> list[Document]:
        if "namePrefix" in source.text:
            raise ValueError("no luck")
        return parse(source)

    monkeypatch.setattr(kustomizations, "parse", crash)
    found = report(tmp_path, {"kustomization.yaml": "patches: [{path: patch.yaml}]\nnamePrefix: a-\n", "patch.yaml": PATCH}, "spec")
    assert [f.message for f in found.findings if f.rule == "internal-error"] == ["kcheck failed on this file: ValueError: no luck"]
    assert rules(found, "patch.yaml") == FOUND


def test_one_that_takes_too_long_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limit, "BASE", 0.2)

    def endless(self: Kustomization) -> None:
        while True:
            pass

    monkeypatch.setattr(Kustomization, "missing_file_problems", endless)
    found = report(
        tmp_path, {"kustomization.yaml": "patches: [{path: patch.yaml}]\n", "patch.yaml": PATCH}, "spec", "missing-kustomization-file"
    )
    (reported,) = (f for f in found.findings if f.rule == "internal-error")
    assert "processor time" in reported.message
    assert reported.file.endswith("kustomization.yaml")
    assert rules(found, "patch.yaml") == FOUND


def test_a_template_of_a_chart_is_not_a_kustomization(tmp_path: Path) -> None:
    found = report(tmp_path, {"Chart.yaml": "name: a\n", "templates/kustomization.yaml": "{{ if }}\nx: [\n"})
    assert not found.findings
    assert "Helm template" in next(each.why for each in found.passed if each.file.endswith("kustomization.yaml"))

"""One run over the manifests of several clusters: overrides set the version, completeness and provided objects of some files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Program
from tests.cli.conftest import program as program

HPA = """\
apiVersion: autoscaling/v2beta2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 3
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  containers:
  - {name: web, image: "example.com/web:1", envFrom: [{secretRef: {name: keys}}]}
"""
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: keys, namespace: shop}\n"
RULES = "removed-api,deprecated-api,missing-secret,missing-scale-target"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def findings(program: Program, *arguments: str) -> list[tuple[str, str]]:
    outcome = program("check", "--format", "json", "--select", RULES, *arguments)
    report: dict[str, Any] = json.loads(outcome.out)
    return sorted((each["file"], each["rule"]) for each in report["findings"])


@pytest.fixture
def monorepo(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "old/hpa.yaml": HPA,
            "old/pod.yaml": POD,
            "new/hpa.yaml": HPA,
            "new/pod.yaml": POD,
            "cluster.yaml": SECRET,
            ".kcheck.yaml": """\
kubernetes: "1.33"
exclude: [cluster.yaml]
overrides:
  - {files: [old/], kubernetes: "1.25", complete: true}
  - {files: [new/], complete: true, provided: [cluster.yaml]}
""",
        },
    )


EXPECTED = [
    ("new/hpa.yaml", "missing-scale-target"),
    ("new/hpa.yaml", "removed-api"),
    ("old/hpa.yaml", "deprecated-api"),
    ("old/hpa.yaml", "missing-scale-target"),
    ("old/pod.yaml", "missing-secret"),
]


@pytest.mark.usefixtures("monorepo")
def test_each_file_is_checked_for_its_cluster(program: Program) -> None:
    assert findings(program) == EXPECTED
    assert json.loads(program("check", "--format", "json").out)["kubernetes"] == "1.25, 1.33"
    # The units of two clusters are not compared with each other.
    assert json.loads(program("files", "--format", "json", "old/pod.yaml", "new/pod.yaml").out)["files"][1]["unit"] == {
        "kind": "input", "path": "new",
    }  # fmt: skip


@pytest.mark.usefixtures("monorepo")
def test_options_apply_to_all_clusters(program: Program) -> None:
    assert findings(program, "--kubernetes", "1.25", "--no-complete") == [
        ("new/hpa.yaml", "deprecated-api"),
        ("old/hpa.yaml", "deprecated-api"),
    ]
    assert ("old/pod.yaml", "missing-secret") not in findings(program, "--provided", "cluster.yaml")


@pytest.mark.usefixtures("monorepo")
def test_shards_give_the_same_report(program: Program, tmp_path: Path) -> None:
    for number in (1, 2):
        assert program("check", "--select", RULES, "--shard", f"{number}/2", "--output", f"../{tmp_path.name}-{number}").code == 0
    merged = json.loads(program("merge", "--format", "json", f"../{tmp_path.name}-1", f"../{tmp_path.name}-2").out)
    assert sorted((each["file"], each["rule"]) for each in merged["findings"]) == EXPECTED


@pytest.mark.usefixtures("monorepo")
def test_a_cached_result_is_not_used_for_another_version(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KCHECK_NO_CACHE", raising=False)
    monkeypatch.setenv("KCHECK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("kcheck.run.run.CACHE_MIN_CHARS", 0)
    assert findings(program) == findings(program) == EXPECTED
    config = tmp_path / ".kcheck.yaml"
    config.write_text(config.read_text().replace("1.25", "1.30").replace("provided: [cluster.yaml]", "provided: []"))
    assert findings(program) == sorted(
        [
            *((file, rule.replace("deprecated", "removed")) for file, rule in EXPECTED),
            ("new/pod.yaml", "missing-secret"),
        ]
    )


def test_overlays_for_two_clusters_share_a_base(program: Program, tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "base/hpa.yaml": HPA,
            "base/kustomization.yaml": "resources: [hpa.yaml]\n",
            "old/kustomization.yaml": "resources: [../base]\n",
            "new/kustomization.yaml": "resources: [../base]\n",
            ".kcheck.yaml": 'kubernetes: "1.33"\noverrides: [{files: [old/], kubernetes: "1.25"}]\n',
        },
    )
    outcome = program("check", "--format", "concise", "--select", RULES)
    assert (
        'deprecated-api]: autoscaling/v2beta2 HorizontalPodAutoscaler is removed in Kubernetes 1.26 (in kustomization "old")' in outcome.out
    )
    assert "removed-api]" in outcome.out


def test_a_kind_of_the_input_is_known_in_all_versions(program: Program, tmp_path: Path) -> None:
    crd = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
"""
    widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: big}\n"
    write(
        tmp_path,
        {"crd.yaml": crd, "a/w.yaml": widget, "b/w.yaml": widget, ".kcheck.yaml": "overrides: [{files: [a/], kubernetes: 1.30}]\n"},
    )
    outcome = program("check", "--format", "concise", "--select", "spec")
    assert outcome.out.count("crd-value") + outcome.out.count("wrong-type") == 2

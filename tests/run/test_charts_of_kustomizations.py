"""`helmCharts` of kustomizations: their objects are judged as the kustomization deploys them, with places in templates and patches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Program, program
from tests.helm.programs import PROGRAMS, needs_helm
from tests.run.test_charts import CHART, findings, write

__all__ = ["program"]

pytestmark = needs_helm

HELM = PROGRAMS[0] if PROGRAMS else ""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: example.com/web:latest
          envFrom: [{configMapRef: {name: settings}}]
          ports:
            - {name: http, containerPort: {{ .Values.port }}}
"""
KUSTOMIZATION = """\
helmGlobals: {chartHome: ../charts}
namespace: prod
namePrefix: p-
helmCharts:
- name: web
  releaseName: shop
  valuesInline: {port: 88888}
"""


@pytest.fixture(autouse=True)
def _chart(program: Program) -> None:
    write({".git/HEAD": "", "charts/web/Chart.yaml": CHART, "charts/web/values.yaml": "port: 8080\n"})
    write({"charts/web/templates/deployment.yaml": DEPLOYMENT, "base/kustomization.yaml": KUSTOMIZATION})


def rows(program: Program, select: str, *arguments: str) -> list[tuple[str, str, int, str]]:
    """The findings as rule, file, line and namespaced name of the object."""
    found: list[dict[str, Any]] = findings(program, ".", "--select", select, *arguments, helm=HELM)
    return [
        (each["rule"], each["file"], each["range"]["start"]["line"], f"{each['object']['namespace']}/{each['object']['name']}")
        for each in found
    ]


TEMPLATE = "charts/web/templates/deployment.yaml"


def test_findings_are_at_the_template_or_at_the_patch_that_decides(program: Program) -> None:
    assert rows(program, "invalid-port-number") == [("invalid-port-number", TEMPLATE, 15, "/shop")]
    patch = (
        "patches:\n- path: port.yaml\n- target: {kind: Deployment}\n  patch: |\n"
        "    - {op: replace, path: /spec/template/spec/containers/0/ports/0/containerPort, value: 77777}\n"
    )
    write({"base/kustomization.yaml": KUSTOMIZATION + patch})
    write({"base/port.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\nspec:\n  replicas: many\n"})
    assert rows(program, "invalid-port-number,wrong-type") == [
        ("invalid-port-number", "base/kustomization.yaml", 12, "prod/p-shop"),
        ("wrong-type", "base/port.yaml", 5, "/shop"),
    ]


def test_images_of_a_kustomization_replace_those_of_the_chart(program: Program) -> None:
    # The chart with its own values has the image latest in any case.
    assert len(findings(program, ".", "--select", "latest-tag", helm=HELM)) == 1
    tag = "images: [{name: example.com/web, newTag: '1.2'}]\n"
    write({"base/kustomization.yaml": KUSTOMIZATION + tag})
    (found,) = findings(program, ".", "--select", "latest-tag", helm=HELM)
    assert found["message"].endswith("can change at any time (with values.yaml)")


def test_relations_are_those_of_the_built_objects(program: Program) -> None:
    # Prefixes and hashes are followed, and the selector of a Service finds the Pods of the chart.
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80, targetPort: htpp}]}\n"
    generator = "resources: [service.yaml]\nconfigMapGenerator: [{name: settings, literals: [a=b]}]\n"
    write({"base/service.yaml": service, "base/kustomization.yaml": KUSTOMIZATION.replace("88888", "8080") + generator})
    write({"charts/web/ci/a-values.yaml": "port: 8080\n"})
    found = findings(program, "base", "charts", "--select", "unknown-target-port-name,missing-config-map", "--complete", helm=HELM)
    wanted = [(each["rule"], each["file"], each["message"]) for each in found if "release-name" not in json.dumps(each)]
    assert wanted == [("unknown-target-port-name", "base/service.yaml", 'Deployment "p-shop" has no container port named "htpp"')]


def test_an_overlay_changes_the_objects_of_the_charts_of_its_base(program: Program) -> None:
    patch = "resources: [../base]\npatches:\n- target: {kind: Deployment}\n  patch: '[{op: add, path: /spec/replicas, value: many}]'\n"
    write({"overlay/kustomization.yaml": patch, "base/kustomization.yaml": KUSTOMIZATION.replace("88888", "8080")})
    assert rows(program, "wrong-type") == [("wrong-type", "overlay/kustomization.yaml", 4, "prod/p-shop")]


def test_hooks_and_tests_are_skipped_on_demand(program: Program) -> None:
    hook = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hook, annotations: {helm.sh/hook: %s}}\ndata: {a: {{ .Values.port }}}\n"
    write({"charts/web/templates/hook.yaml": hook % "pre-install", "charts/web/templates/test.yaml": hook % "test"})
    entry = KUSTOMIZATION.replace("88888", "8080")
    write({"base/kustomization.yaml": entry})
    names = [each[1] for each in rows(program, "wrong-type")]
    assert names == ["charts/web/templates/hook.yaml", "charts/web/templates/test.yaml"]
    write({"base/kustomization.yaml": f"{entry}  skipTests: true\n"})
    shown = findings(program, ".", "--select", "wrong-type", helm=HELM)
    assert [each["message"].partition(" (with")[2] for each in shown] == ["", " values.yaml)"]
    write({"base/kustomization.yaml": f"{entry}  skipHooks: true\n"})
    shown = findings(program, ".", "--select", "wrong-type", helm=HELM)
    assert [each["message"].partition(" (with")[2] for each in shown] == [" values.yaml)", " values.yaml)"]


def test_a_changed_template_is_seen_with_a_cache(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KCHECK_NO_CACHE", raising=False)
    monkeypatch.setenv("KCHECK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("kcheck.run.run.CACHE_MIN_CHARS", 0)
    assert rows(program, "invalid-port-number,latest-tag")[0][:3] == ("latest-tag", TEMPLATE, 12)
    write({TEMPLATE: DEPLOYMENT.replace("web:latest", "web:1.2")})
    assert rows(program, "invalid-port-number,latest-tag") == [("invalid-port-number", TEMPLATE, 15, "/shop")]

"""Functions of short rules that read related objects: podsOf, servicesOf, references, referencedBy, ownerOf, namespaceOf."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import kcheck
from kcheck.cli.main import kcheck as cli

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: web, image: "nginx:1", envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: password}}]}
"""
OTHERS = """\
apiVersion: v1
kind: Service
metadata: {name: front, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {a: b}
---
apiVersion: v1
kind: Secret
metadata: {name: password, namespace: shop}
stringData: {password: hunter22hunter22}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: unused, namespace: shop}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {env: test}}
---
apiVersion: v1
kind: Pod
metadata: {name: lone, namespace: shop, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: settings, uid: "1"}]}
spec: {containers: [{name: a, image: "nginx:1"}]}
"""


def messages(folder: Path, on: str, expression: str) -> dict[str, str]:
    """The values of an expression for the objects of a kind, by their names."""
    (folder / "k8s").mkdir(exist_ok=True)
    (folder / "k8s" / "web.yaml").write_text(WEB)
    (folder / "k8s" / "others.yaml").write_text(OTHERS)
    rule = {"id": "r", "on": on, "check": "false", "message": f"{{object.metadata.name}}={{{expression}}}"}
    (folder / "team.kcheck.yaml").write_text(json.dumps({"policies": [rule]}))
    report = kcheck.check(folder / "k8s", config={}, policies=folder / "team.kcheck.yaml", select="policy/r")
    found = [each.message.partition("=") for each in report.findings if each.rule == "policy/r"]
    return {name: value for name, _, value in found}


NAMES = ".map(o, o.kind + '/' + o.metadata.name)"


@pytest.mark.parametrize(
    ("on", "expression", "expected"),
    [
        ("Service", "podsOf(object).map(p, p.metadata.labels.app)", {"front": '["web"]'}),
        ("Service", "podsOf(object).map(p, p.spec.containers[0].name)", {"front": '["web"]'}),
        # The Pods of templates have defaults, and the workload as their owner.
        ("Service", "podsOf(object).map(p, p.spec.restartPolicy + ' ' + ownerOf(p).kind)", {"front": '["Always Deployment"]'}),
        ("Deployment", "podsOf(object).map(p, p.metadata.generateName)", {"web": '["web-"]'}),
        ("Pod", "podsOf(object).map(p, p.metadata.name)", {"lone": '["lone"]'}),
        ("ConfigMap", "size(podsOf(object))", {"settings": "0", "unused": "0"}),
        ("Deployment", "servicesOf(object).map(s, s.metadata.name + s.spec.type)", {"web": '["frontClusterIP"]'}),
        ("Service", f"servicesOf(podsOf(object)[0]){NAMES}", {"front": '["Service/front"]'}),
        ("Deployment", f"references(object){NAMES}", {"web": '["ConfigMap/settings", "Secret/password"]'}),
        ("Service", f"references(podsOf(object)[0]){NAMES}", {"front": '["ConfigMap/settings", "Secret/password"]'}),
        ("ConfigMap", f"referencedBy(object){NAMES}", {"settings": '["Deployment/web"]', "unused": "[]"}),
        ("Pod", "ownerOf(object).metadata.name", {"lone": "settings"}),
        ("Deployment", "ownerOf(object) == null", {"web": "true"}),
        ("Deployment", "namespaceOf(object).metadata.labels.env", {"web": "test"}),
        ("Namespace", "namespaceOf(object).metadata.name", {"shop": "shop"}),
    ],
)
def test_functions(on: str, expression: str, expected: dict[str, str], tmp_path: Path) -> None:
    assert messages(tmp_path, on, expression) == expected


def test_secrets_are_masked(tmp_path: Path) -> None:
    [text] = messages(tmp_path, "Deployment", "references(object).filter(r, r.kind == 'Secret')").values()
    assert "password" in text
    assert "hunter22" not in text


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("podsOf(object).all(p, p.spec.hostNetwrok)", '5:40: Pod has no field "spec.hostNetwrok"; did you mean "spec.hostNetwork"?'),
        ("podOf(object).size() > 0", '5:12: unknown function "podOf"; did you mean "podsOf"?'),
        ("podsOf().size() > 0", "CEL has no podsOf(); its argument is an object"),
        ("podsOf(object).all(p, p.metadata.name == 1)", '"==" cannot compare string with int'),
        ("namespaceOf(object).metadata.label == {}", 'unknown field "label"; did you mean "labels"?'),
    ],
)
def test_errors(check: str, message: str, tmp_path: Path) -> None:
    text = f"policies:\n  - id: a\n    on: Deployment\n    title: a\n    check: {check}\n"
    (tmp_path / "team.kcheck.yaml").write_text(text)
    with pytest.raises(kcheck.Error) as error:
        kcheck.check(tmp_path, config={}, policies=tmp_path / "team.kcheck.yaml")
    assert message in str(error.value)


def test_position_is_not_that_of_the_identity(tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(WEB)
    (tmp_path / "team.kcheck.yaml").write_text(
        json.dumps({"policies": [{"id": "r", "on": "Deployment", "check": "size(servicesOf(object)) > 0"}]})
    )
    report = kcheck.check(tmp_path / "web.yaml", config={}, policies=tmp_path / "team.kcheck.yaml", select="policy/r")
    assert [each.place.field for each in report.findings] == ["metadata.name"]


def objects(number: int, team: str = "a") -> dict[str, str]:
    """Files with a Deployment and the ConfigMap that it uses, large enough for the cache."""
    deployment = {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": f"web{number}", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
            "containers": [{"name": "web", "image": "nginx:1", "envFrom": [{"configMapRef": {"name": f"c{number}"}}]}]}}},
    }  # fmt: skip
    settings = {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{number}", "namespace": "shop", "labels": {"team": team}},
        "data": {"text": "x" * 4000},
    }  # fmt: skip
    return {f"web{number}.yaml": json.dumps(deployment, indent=1), f"c{number}.yaml": json.dumps(settings, indent=1)}


RULE: dict[str, Any] = {
    "id": "r", "on": "Deployment", "check": "references(object).all(r, r.metadata.labels.team == 'a')", "title": "team a",
}  # fmt: skip


def check_all(*arguments: str) -> list[str]:
    """The lines of a run, with the cache unless the arguments say otherwise."""
    found = CliRunner().invoke(cli, ["check", "k8s", "--policies", "team.kcheck.yaml", "--select", "policy/r", "--isolated", *arguments])
    assert found.exit_code in (0, 1), found.output
    return [line for line in found.output.splitlines() if "policy/r" in line]


def test_cached_runs_and_shards_have_the_findings_of_a_full_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KCHECK_NO_CACHE", "0")
    monkeypatch.setenv("KCHECK_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "team.kcheck.yaml").write_text(json.dumps({"policies": [RULE]}))
    (tmp_path / "k8s").mkdir()
    for number in range(30):
        for name, text in objects(number, "ab"[number % 2]).items():
            (tmp_path / "k8s" / name).write_text(text)
    concise = ("--format", "concise")
    full = check_all("--no-cache", *concise)
    assert len(full) == 15
    assert check_all(*concise) == full
    assert list((tmp_path / "cache").iterdir())
    assert check_all(*concise) == full
    # Only the ConfigMap changes; the finding is in the file of the Deployment.
    (tmp_path / "k8s" / "c1.yaml").write_text(objects(1, "a")["c1.yaml"])
    changed = check_all("--no-cache", *concise)
    assert [line for line in full if "web1.yaml" not in line] == changed
    assert check_all(*concise) == changed
    for part in ("1", "2"):
        check_all("--no-cache", "--shard", f"{part}/2", "--output", f"shard{part}")
    merged = CliRunner().invoke(cli, ["merge", "--format", "concise", "shard1", "shard2"]).output
    assert [line for line in merged.splitlines() if "policy/r" in line] == changed


EXAMPLES = """\
policies:
  - id: selected
    title: Services select Pods with a readinessProbe
    on: Service
    check: podsOf(object).all(p, p.spec.containers.all(c, has(c.readinessProbe)))
    examples:
      fail:
        - object: {spec: {selector: {app: web}}}
          at: metadata.name
          with:
            - {apiVersion: v1, kind: Pod, metadata: {name: web, labels: {app: web}}, spec: {containers: [{name: web}]}}
      pass:
        - object: {spec: {selector: {app: other}}}
          with:
            - {apiVersion: v1, kind: Pod, metadata: {name: web, labels: {app: web}}, spec: {containers: [{name: web}]}}
"""
TESTS = """\
policies: [team.kcheck.yaml]
objects: [web.yaml]
tests:
  - object: {apiVersion: v1, kind: Service, metadata: {name: x, namespace: shop}, spec: {selector: {app: web}}}
    expect: {selected: fail}
  - object: {apiVersion: v1, kind: Service, metadata: {name: x, namespace: shop}, spec: {selector: {app: other}}}
    expect: {selected: pass}
"""


def test_examples_and_tests_have_relations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"team.kcheck.yaml": EXAMPLES, "web.yaml": WEB, "web.kcheck-test.yaml": TESTS}.items():
        (tmp_path / name).write_text(text)
    assert CliRunner().invoke(cli, ["policy", "test", "."]).output == "4 cases of 1 policy, 0 failures.\n"
